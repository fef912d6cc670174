/*
 * link: how server and client of a sample reach each other.
 *
 * An experiment names a stack and what is between it and its peer, e.g. `dpdk@memif`. The link says
 * what that takes: the kernel's loopback and a free port, a socket file of the sample's own, a pair
 * of interfaces of the sample's own and addresses for both sides, or the network between two hosts.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_LINK_H
#define WEIR_RUN_LINK_H

#include "dataplane/transport/transport.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two stacks reach each other if their links are of one kind. */
enum link_kind {
	LINK_LOOPBACK,
	LINK_UNIX, /* a socket in the file system, where the server listens */
	LINK_VETH, /* the server makes a pair of interfaces, by an id that both are told */
	LINK_MEMIF,
	LINK_NETWORK, /* what is between the experiment's hosts */
};

/* What follows the device's name after ':', different for each sample. */
enum link_suffix {
	LINK_SUFFIX_NONE,
	LINK_SUFFIX_SOCKET, /* the path of a socket file */
	LINK_SUFFIX_ID,	    /* run id and sample id */
};

struct link {
	const char *name; /* as in experiments */
	enum link_kind kind;
	const char *alone; /* the stack without a device where it means this link; or NULL */
	const char *spec;  /* as the programs are told, without suffix and options */
	enum link_suffix suffix;
	/* Where the server listens; NULL: on a socket file, or as the hosts say. */
	const char *server_ip;
	const char *server_address; /* IP/LEN of its own; NULL where the kernel has the address */
	const char *client_address;
	unsigned workers_max; /* in one process; 0: as many as there are CPUs */
};

/* What differs from sample to sample. All lent. */
struct link_place {
	const char *socket_folder;
	const char *run_id;    /* no other run on this host has it */
	const char *sample_id; /* no other sample of the run has it */
	uint16_t port;
	const char *network_ip; /* where a server on the network listens; else NULL */
};

enum {
	LINK_SPEC_BYTES = 512,	   /* a stack with device, suffix and options */
	LINK_ENDPOINT_BYTES = 128, /* where the server listens */
};

/* The link of a stack's spec, with options or not (`uring@loopback,sqpoll=on`), or NULL. */
const struct link *link_find(const char *name);

/*
 * Writes the device into `name` where it is left out and the stack has one by default: "epoll" is
 * "epoll@loopback", with options or not. False, with `text` unspecified, if there is nothing to do.
 */
bool link_complete(const char *name, char text[LINK_SPEC_BYTES]);

/* All names, for messages; `count_out` gets their number. */
const char *const *link_names(unsigned *count_out);

/* What a stack may be in an experiment, for messages: "epoll@loopback, ... or dpdk@memif". */
const char *link_usage(void);

/* "loopback", "memif", ... */
const char *link_kind_name(enum link_kind kind);

/* Whether a sample on this link has a socket file, SOCKET_FOLDER/SAMPLE_ID.sock. */
bool link_has_socket(const struct link *link);

/*
 * What a program is told to use for `name`, which link_find knows: device, suffix and options.
 * Returns `text`.
 */
const char *link_print_spec(const char *name, const struct link_place *place,
			    char text[LINK_SPEC_BYTES]);

/* Where the server listens and the client connects to; returns `text`. */
const char *link_print_endpoint(const struct link *link, const struct link_place *place,
				char text[LINK_ENDPOINT_BYTES]);

#endif
