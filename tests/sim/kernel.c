#include "tests/sim/kernel.h"

#include "dataplane/core/check.h"
#include "dataplane/core/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	FIRST_PORT = 20000, /* of the peer: every play has one of its own */
	BUFFER_BYTES = 16384,
	LINK_HEAD = 14,
	IP_HEAD = 20,
};

#define LATE_NS (100 * MS) /* longer than any ACK is delayed */
#define SETTLE_NS (1 * MS) /* what comes at once has come by then */
#define DEVICE "weir0"
#define SETTINGS_FOLDER "/proc/sys/net/ipv4/"

static const struct {
	const char *name;
	const char *value;
} settings[] = {
	{"tcp_timestamps", "1"},
	{"tcp_sack", "1"},
	{"tcp_dsack", "1"},
	{"tcp_window_scaling", "1"},
	{"tcp_ecn", "0"}, /* as utcp's */
	{"tcp_fastopen", "0"},
	{"tcp_congestion_control", "reno"}, /* the scripts' algorithm of utcp */
	{"tcp_recovery", "1"},
	{"tcp_early_retrans", "3"},
	{"tcp_syncookies", "0"},
	{"tcp_rfc1337", "1"},
	{"tcp_tw_reuse", "0"},
	{"tcp_min_snd_mss", "64"},	/* as utcp's */
	{"tcp_no_metrics_save", "1"},	/* plays know nothing of each other */
	{"tcp_invalid_ratelimit", "0"}, /* so that each segment has its answer */
	{"tcp_challenge_ack_limit", "1000000"},
};

/* What there is of the one play. */
static struct {
	int tap;
	int listener;
	int fd; /* of the connection; -1: none yet */
	uint16_t next_port;
	bool called;
	bool lived; /* it was established */
	bool aborted;
	bool had_finished; /* when the last segment went in */
	int error;
} kernel = {.tap = -1, .next_port = FIRST_PORT};

/* --- the link -------------------------------------------------------------------------------- */

static bool write_setting(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value);

	if (fd >= 0)
		close(fd);
	return done;
}

static bool write_settings(void)
{
	char path[128];

	for (unsigned i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		snprintf(path, sizeof(path), SETTINGS_FOLDER "%s", settings[i].name);
		if (!write_setting(path, settings[i].value))
			return false;
	}
	return write_setting("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
}

const char *kernel_setting(unsigned index, const char **value_out)
{
	if (index >= sizeof(settings) / sizeof(settings[0]))
		return NULL;
	*value_out = settings[index].value;
	return settings[index].name;
}

static struct sockaddr_in endpoint(uint32_t ip, uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(ip)};
}

/* The addresses are those that peer.c writes into its frames. */
static bool configure_device(int control)
{
	static const uint8_t own_mac[6] = {2, 0, 0, 0, 0, 1};
	struct sockaddr_in address = endpoint(OWN_IP, 0);
	struct ifreq request = {.ifr_name = DEVICE};

	request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
	memcpy(request.ifr_hwaddr.sa_data, own_mac, 6);
	if (ioctl(control, SIOCSIFHWADDR, &request) != 0)
		return false;
	memcpy(&request.ifr_addr, &address, sizeof(address));
	if (ioctl(control, SIOCSIFADDR, &request) != 0)
		return false;
	address.sin_addr.s_addr = htonl(0xffffff00);
	memcpy(&request.ifr_netmask, &address, sizeof(address));
	if (ioctl(control, SIOCSIFNETMASK, &request) != 0)
		return false;
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	return ioctl(control, SIOCSIFFLAGS, &request) == 0;
}

static bool know_peer(int control)
{
	static const uint8_t peer_mac[6] = {2, 0, 0, 0, 0, 2};
	struct sockaddr_in address = endpoint(PEER_IP, 0);
	struct arpreq request = {.arp_flags = ATF_PERM | ATF_COM, .arp_dev = DEVICE};

	memcpy(&request.arp_pa, &address, sizeof(address));
	request.arp_ha.sa_family = ARPHRD_ETHER;
	memcpy(request.arp_ha.sa_data, peer_mac, 6);
	return ioctl(control, SIOCSARP, &request) == 0;
}

static bool open_device(void)
{
	struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI, .ifr_name = DEVICE};
	int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool done;

	kernel.tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	done = kernel.tap >= 0 && control >= 0 && ioctl(kernel.tap, TUNSETIFF, &request) == 0 &&
	       configure_device(control) && know_peer(control);
	if (control >= 0)
		close(control);
	return done;
}

/* Kernels before 6.1 cannot make the table of a namespace's connections small, which is read to
 * learn their states; with them that takes longer. */
static bool open_namespace(void)
{
	if (unshare(CLONE_NEWNET) != 0)
		return false;
	write_setting(SETTINGS_FOLDER "tcp_child_ehash_entries", "1024");
	return unshare(CLONE_NEWNET) == 0;
}

bool kernel_open(char *why, size_t room)
{
	const char *what = NULL;

	if (!open_namespace())
		what = "no network namespace";
	else if (!write_settings())
		what = "a setting of TCP is refused";
	else if (!open_device())
		what = "no TAP device";
	if (what)
		snprintf(why, room, "%s: %s", what, strerror(errno));
	return !what;
}

/* --- sockets --------------------------------------------------------------------------------- */

/* What a script says of a buffer, else what utcp has. */
static int bytes_of(const struct script *script, const char *name)
{
	for (unsigned i = 0; script && i < script->step_count; i++)
		if (script->steps[i].kind == STEP_CONFIG &&
		    strcmp(script->steps[i].name, name) == 0)
			return (int)script->steps[i].number;
	return BUFFER_BYTES;
}

static void set(int fd, int level, int option, int value)
{
	CHECK(setsockopt(fd, level, option, &value, sizeof(value)) == 0);
}

static int open_socket(const struct script *script)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	set(fd, SOL_SOCKET, SO_RCVBUF, bytes_of(script, "recv"));
	set(fd, SOL_SOCKET, SO_OOBINLINE, 1); /* as utcp, and as RFC 6093 6 asks */
	set(fd, IPPROTO_TCP, TCP_NODELAY, 1); /* utcp has no Nagle either */
	return fd;
}

static void close_at_once(int fd)
{
	struct linger linger = {.l_onoff = 1};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(fd);
}

static uint8_t own_state(void)
{
	struct tcp_info info = {0};
	socklen_t size = sizeof(info);

	if (kernel.fd < 0 || getsockopt(kernel.fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
		return 0;
	return info.tcpi_state;
}

/* Accepts, and has ACKs delayed as in the middle of a conversation. */
static void look_after(void)
{
	uint8_t state;

	if (kernel.fd < 0 && !kernel.called && !kernel.aborted)
		kernel.fd = accept4(kernel.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	state = own_state();
	if (state == TCP_ESTABLISHED || state == TCP_CLOSE_WAIT) {
		kernel.lived = true;
		set(kernel.fd, IPPROTO_TCP, TCP_QUICKACK, 0);
	}
}

static void open_kernel(struct player *player, const struct script *script)
{
	struct sockaddr_in at = endpoint(OWN_IP, OWN_PORT);

	player->peer.window = 60000;
	player->peer.own_port = OWN_PORT;
	player->peer.port = kernel.next_port++;
	kernel.fd = -1;
	kernel.called = kernel.lived = kernel.aborted = kernel.had_finished = false;
	kernel.error = 0;
	kernel.listener = open_socket(script);
	CHECK(bind(kernel.listener, (struct sockaddr *)&at, sizeof(at)) == 0);
	CHECK(listen(kernel.listener, 8) == 0);
}

static void close_kernel(struct player *player)
{
	static uint8_t frame[FRAME_ROOM];

	(void)player;
	if (kernel.fd >= 0)
		close_at_once(kernel.fd);
	close(kernel.listener);
	while (read(kernel.tap, frame, sizeof(frame)) > 0)
		;
}

/* --- segments and time ----------------------------------------------------------------------- */

static bool finished(const struct player *player)
{
	struct pollfd ready = {.fd = kernel.fd, .events = POLLRDHUP};

	(void)player;
	return kernel.fd >= 0 && poll(&ready, 1, 0) == 1 && ready.revents & POLLRDHUP;
}

static void put(struct player *player, const struct peer_segment *segment)
{
	static uint8_t frame[FRAME_ROOM];
	size_t bytes = peer_build(segment, frame);

	kernel.had_finished = finished(player);
	CHECK(write(kernel.tap, frame, bytes) == (ssize_t)bytes);
}

/* Whether a frame is a segment of this play, not of one that has ended. */
static bool is_ours(const struct player *player)
{
	const uint8_t *frame = player->peer.frame, *tcp = frame + LINK_HEAD + IP_HEAD;

	return player->peer.frame_bytes >= LINK_HEAD + IP_HEAD + IP_HEAD && frame[12] == 8 &&
	       frame[13] == 0 && frame[LINK_HEAD + 9] == IPPROTO_TCP &&
	       (tcp[2] << 8 | tcp[3]) == player->peer.port;
}

static bool take(struct player *player, struct peer_segment *segment)
{
	ssize_t got;

	look_after();
	while ((got = read(kernel.tap, player->peer.frame, FRAME_ROOM)) > 0) {
		player->peer.frame_bytes = (size_t)got;
		if (!is_ours(player))
			continue;
		peer_read(&player->peer, segment);
		return true;
	}
	return false;
}

/* Lets time pass, for `ns` or, if asked, until something was sent. */
static void pass(struct player *player, uint64_t ns, bool until_sent)
{
	struct pollfd ready = {.fd = kernel.tap, .events = POLLIN};
	uint64_t end = clock_monotonic_ns() + ns, now;

	player_collect(player);
	while ((now = clock_monotonic_ns()) < end && !(until_sent && player->sent_count > 0)) {
		struct timespec rest = {.tv_sec = (time_t)((end - now) / SECOND),
					.tv_nsec = (long)((end - now) % SECOND)};

		ppoll(&ready, 1, &rest, NULL);
		player_collect(player);
	}
}

static void await(struct player *player)
{
	pass(player, LATE_NS, true);
}

static uint32_t readable(const struct player *player)
{
	int bytes = 0;

	(void)player;
	if (kernel.fd < 0 || ioctl(kernel.fd, SIOCINQ, &bytes) != 0)
		return 0;
	return (uint32_t)bytes;
}

/* Where a script waits for an ACK, an ACK that is due is awaited. */
static void wait_ns(struct player *player, uint64_t ns)
{
	bool is_due;

	if (ns > PLAYER_ACK_NS) {
		pass(player, ns, false);
		return;
	}
	pass(player, ns < SETTLE_NS ? ns : SETTLE_NS, false);
	is_due = readable(player) > 0 || (finished(player) && !kernel.had_finished);
	pass(player, is_due ? LATE_NS : ns, is_due);
}

/* --- the application ------------------------------------------------------------------------- */

static void connect_(struct player *player)
{
	struct sockaddr_in to = endpoint(PEER_IP, player->peer.port);

	kernel.called = true;
	kernel.fd = open_socket(NULL);
	CHECK(connect(kernel.fd, (struct sockaddr *)&to, sizeof(to)) == -1);
	CHECK(errno == EINPROGRESS);
}

static bool write_(struct player *player, const void *data, size_t bytes)
{
	(void)player;
	return kernel.fd >= 0 && send(kernel.fd, data, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

static size_t read_(struct player *player, uint8_t *to, size_t room)
{
	size_t done = 0;
	ssize_t got;

	(void)player;
	while (done < room && (got = recv(kernel.fd, to + done, room - done, 0)) > 0)
		done += (size_t)got;
	return done;
}

static void finish(struct player *player)
{
	(void)player;
	if (kernel.fd >= 0)
		shutdown(kernel.fd, SHUT_WR);
}

static void abort_(struct player *player)
{
	(void)player;
	if (kernel.fd >= 0)
		close_at_once(kernel.fd);
	kernel.fd = -1;
	kernel.aborted = true;
}

/* The state that the line of a table has, if it is of the peer's port; else NULL. */
static const char *state_in(const char *line, uint16_t port)
{
	static const char *const names[] = {
		"CLOSED",     "ESTABLISHED", "SYN-SENT",    "SYN-RECEIVED", "FIN-WAIT-1",
		"FIN-WAIT-2", "TIME-WAIT",   "CLOSED",	    "CLOSE-WAIT",   "LAST-ACK",
		"CLOSED",     "CLOSING",     "SYN-RECEIVED"};
	unsigned theirs, state;

	if (sscanf(line, "%*d: %*x:%*x %*x:%x %x", &theirs, &state) != 2 || theirs != port)
		return NULL;
	CHECK(state < sizeof(names) / sizeof(names[0]));
	return names[state];
}

/* The table has what no socket of ours knows: half-open connections, and those in TIME-WAIT. */
static const char *state(const struct player *player)
{
	FILE *table = fopen("/proc/thread-self/net/tcp", "r");
	const char *found = NULL;
	char line[256];

	CHECK(table != NULL);
	while (!found && fgets(line, sizeof(line), table))
		found = state_in(line, player->peer.port);
	fclose(table);
	return found ? found : "CLOSED";
}

static const char *end(const struct player *player)
{
	socklen_t size = sizeof(kernel.error);

	(void)player;
	if (kernel.aborted)
		return "aborted";
	if (kernel.fd < 0)
		return "-";
	if (kernel.error == 0) /* it is told once */
		getsockopt(kernel.fd, SOL_SOCKET, SO_ERROR, &kernel.error, &size);
	switch (kernel.error) {
	case 0:
		return kernel.lived && own_state() == TCP_CLOSE ? "done" : "-";
	case ECONNREFUSED:
		return "refused";
	case ETIMEDOUT:
		return "timeout";
	default: /* ECONNRESET, or EPIPE behind the peer's FIN */
		return "reset";
	}
}

/* There are none to compare. */
static uint64_t count(const struct player *player, const struct script_step *step)
{
	(void)player;
	return step->number;
}

const struct player_tcp player_kernel = {
	.own_ways = true,
	.open = open_kernel,
	.close = close_kernel,
	.put = put,
	.take = take,
	.wait = wait_ns,
	.await = await,
	.connect = connect_,
	.write = write_,
	.read = read_,
	.finish = finish,
	.abort = abort_,
	.readable = readable,
	.finished = finished,
	.state = state,
	.end = end,
	.count = count,
};
