/*
 * socket: kernel stream sockets, as the stacks over readiness and over completions share them.
 *
 * Makes listeners and outgoing connections over IPv4, IPv6 and Unix sockets, non-blocking and
 * close-on-exec, with the options that every kernel stack here has; says what an errno means to
 * the contract, and refuses an occupied address by naming its holder. A descriptor returned is
 * owned by the caller. `calls` is the caller's count of system calls; each one made is added.
 *
 * Plane: probe, device_check, check, listen, unlisten and connect are setup; the rest is turn.
 */
#ifndef WEIR_STACKS_SOCKET_H
#define WEIR_STACKS_SOCKET_H

#include "dataplane/transport/transport.h"
#include "stacks/socket/algorithm.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
	/* Listeners of one instance. */
	SOCKET_LISTENERS = 8,

	/* Connections that one listener may accept in one turn. */
	SOCKET_ACCEPT_BATCH = 64,

	/* What socket_probe looks for. */
	SOCKET_FEATURES = 4,
};

/* How long accepting rests when the host has no descriptor or memory left, nanoseconds. */
#define SOCKET_ACCEPT_PAUSE_NS (100ull * 1000 * 1000)

/* What an accept that failed asks for. */
enum socket_accept {
	SOCKET_ACCEPT_DRAINED, /* nobody waits */
	SOCKET_ACCEPT_NEXT,    /* that connection is gone; there may be others */
	SOCKET_ACCEPT_PAUSE,   /* the host lacks something: try again later */
};

/* How connections are spread over the listeners of several workers. */
enum socket_steer {
	SOCKET_STEER_HASH, /* as the kernel hashes addresses and ports: evenly in the long run */
	SOCKET_STEER_PORT, /* by the client's port: a client's connections keep their worker */
	SOCKET_STEER_CPU,  /* to the worker on the CPU that took the packet in (SO_INCOMING_CPU) */
	SOCKET_STEER_TURN, /* each to the next worker: evenly at once */
};

/* The rows that begin the option table of every stack over kernel sockets, in this order. */
enum socket_option {
	SOCKET_SEND_BUFFER,
	SOCKET_RECV_BUFFER,
	SOCKET_NODELAY,
	SOCKET_QUICKACK,
	SOCKET_BUSY_POLL,
	SOCKET_CONGESTION,
	SOCKET_STEER,
	SOCKET_OPTION_COUNT,
};

extern const char *const socket_steer_names[];

#define SOCKET_OPTIONS                                                                    \
	[SOCKET_SEND_BUFFER] = {.name = "send-buffer",                                    \
				.kind = TP_OPTION_BYTES,                                  \
				.max = 1 << 30,                                           \
				.about = "SO_SNDBUF; 0: the kernel sizes it"},            \
	[SOCKET_RECV_BUFFER] = {.name = "recv-buffer",                                    \
				.kind = TP_OPTION_BYTES,                                  \
				.max = 1 << 30,                                           \
				.about = "SO_RCVBUF; 0: the kernel sizes it"},            \
	[SOCKET_NODELAY] = {.name = "nodelay",                                            \
			    .kind = TP_OPTION_SWITCH,                                     \
			    .initial = 1,                                                 \
			    .about = "TCP_NODELAY: Nagle off"},                           \
	[SOCKET_QUICKACK] = {.name = "quickack",                                          \
			     .kind = TP_OPTION_SWITCH,                                    \
			     .about = "TCP_QUICKACK once a connection is there"},         \
	[SOCKET_BUSY_POLL] = {.name = "busy-poll",                                        \
			      .kind = TP_OPTION_DURATION,                                 \
			      .max = 1000ull * 1000 * 1000,                               \
			      .about = "SO_BUSY_POLL: the kernel polls the NIC so long"}, \
	[SOCKET_CONGESTION] = {.name = "congestion",                                      \
			       .kind = TP_OPTION_CHOICE,                                  \
			       .choices = algorithm_names,                                \
			       .about = "TCP_CONGESTION; host: as the host is set"},      \
	[SOCKET_STEER] = {.name = "steer",                                                \
			  .kind = TP_OPTION_CHOICE,                                       \
			  .initial = SOCKET_STEER_TURN,                                   \
			  .choices = socket_steer_names,                                  \
			  .about =                                                        \
				  "how several workers share connections (not with Unix sockets)"}

/* What the options say, and where among the workers an instance stands. */
struct socket_settings {
	uint32_t send_buffer_bytes; /* 0: left to the kernel */
	uint32_t recv_buffer_bytes;
	bool nodelay;
	bool quickack;
	uint32_t busy_poll_us;
	unsigned congestion; /* in algorithm_names */
	enum socket_steer steer;
	uint16_t worker;
	uint16_t workers;
	int cpu; /* or -1 */
};

/* Of a stack whose option table begins with SOCKET_OPTIONS. */
struct socket_settings socket_settings_of(const struct tp_ops *ops, const struct tp_config *config);

/*
 * The features of kernel sockets that this host has or lacks, at most `room`; their number:
 * "reuseport-bpf", "incoming-cpu", "busy-poll", "reuseport-ebpf". For rows of a stack's
 * tp_ops.probe.
 */
unsigned socket_probe(struct tp_feature *features_out, unsigned room);

/*
 * 0 if kernel sockets have such a device ("", "loopback", "veth", "veth:ID"), else -EINVAL with
 * what is allowed. Whoever opens the stack has entered the network namespace of a veth pair before.
 */
int socket_device_check(const char *stack, const char *device, struct tp_error *error);

/* The same for all that a stack with SOCKET_OPTIONS is told and this host may lack: its device and
 * its congestion control (algorithm_check). */
int socket_check(const struct tp_ops *ops, const struct tp_config *config, struct tp_error *error);

/*
 * Listens on `addr`. With several workers, the others of this process may listen there too, but no
 * other process: by SO_REUSEPORT on IP, steered as the settings say; on Unix by sharing one
 * listener's queue, which worker 0 made and the others get as descriptors of their own. An IPv6
 * listener takes no IPv4. A Unix socket's file that nobody serves is replaced, another file never.
 * The descriptor; -EADDRINUSE with the holder's pid and program in `error`, or another negative
 * errno.
 */
int socket_listen(const struct tp_addr *addr, const struct socket_settings *settings,
		  uint64_t *calls, struct tp_error *error);

/* Ends listening on a descriptor that socket_listen returned; worker 0 removes a Unix socket's
 * file if it is still the one that it made. */
void socket_unlisten(int fd, const struct tp_addr *addr, const struct socket_settings *settings,
		     uint64_t *calls);

/*
 * Whether the listener that the worker has at `addr` is dealt connections in turn: asked for
 * (SOCKET_STEER_TURN) and granted by this host.
 */
bool socket_in_turn(const struct tp_addr *addr, const struct socket_settings *settings);

/*
 * Begins a connection. The descriptor, on which writability tells the end; or, if this host cannot
 * begin one, a negative errno with `error` filled. What the network said at once goes to
 * `verdict_out` as an errno: 0 if it has not refused.
 */
int socket_connect(const struct tp_addr *addr, const struct socket_settings *settings,
		   int *verdict_out, uint64_t *calls, struct tp_error *error);

/* The kernel's form of `addr`; its length. */
socklen_t socket_address(const struct tp_addr *addr, struct sockaddr_storage *storage_out);

/* A non-blocking stream socket of the address's family, or a negative errno. */
int socket_make(const struct tp_addr *addr, uint64_t *calls);

/* Sets what a listener passes on to the connections that it accepts. 0 or a negative errno. */
int socket_set_options(int fd, const struct tp_addr *addr, const struct socket_settings *settings,
		       uint64_t *calls);

/*
 * Sets on an accepted descriptor what it does not inherit from its listener at `addr`; usually
 * nothing, and then it costs no call.
 */
void socket_adopt(int fd, const struct tp_addr *addr, const struct socket_settings *settings,
		  uint64_t *calls);

/* Closes in the orderly way. */
void socket_shut(int fd, uint64_t *calls);

/* Closes with a reset instead of the orderly end. */
void socket_reset(int fd, uint64_t *calls);

/* Takes the error that stands on the socket; 0 if there is none. */
int socket_error(int fd, uint64_t *calls);

/* Why a connection died, from the errno of the call that noticed. */
enum tp_reason socket_reason(int error_number);

/* What to do about an accept that failed with `error_number`. */
enum socket_accept socket_accept_verdict(int error_number);

#endif
