/*
 * interop: utcp and this host's kernel talk, over a device that somebody has made.
 *
 *	interop DEVICE FAMILY CALLER CASE [NUMBER]
 *
 * DEVICE is tap:NAME or packet:NAME, FAMILY is ip4 or ip6, CALLER is kernel or utcp.
 * interop_test.py makes devices, runs the cases and reads captures; docs/testing.md has the long
 * forms.
 */
#include "dataplane/core/clock.h"
#include "tests/interop/talk.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SECOND_NS 1000000000ull
#define MEGABYTE (1ull << 20)

struct job {
	const char *device;
	bool ip6;
	bool kernel_calls;
	uint64_t number;
};

/* The counter of utcp that has moved if a case was one: without that nothing was tested. */
#define WITNESS(counter) offsetof(struct utcp_counters, counter)

static bool say(const struct rig *rig, const struct talk_result *result, size_t witness)
{
	const struct utcp_counters *c = utcp_counters(rig->utcp);
	uint64_t seen;

	memcpy(&seen, (const char *)c + witness, sizeof(seen));

	printf("%.1f MB in %.2f s, sent again %llu, timeouts %llu, refused by the device %llu\n",
	       (double)result->bytes / 1e6, (double)result->took_ns / 1e9,
	       (unsigned long long)c->retransmits, (unsigned long long)c->timeouts,
	       (unsigned long long)rig->unsent);
	if (seen == 0)
		printf("nothing happened that this is about\n");
	return result->right && seen > 0;
}

static void open_rig(struct rig *rig, const struct job *job, const struct wire_faults *faults,
		     uint64_t patience_ns)
{
	rig_open(rig, &(struct rig_config){.device = job->device,
					   .ip6 = job->ip6,
					   .faults = faults,
					   .patience_ns = patience_ns});
}

static bool run_talk(const struct job *job, struct talk_config config,
		     const struct wire_faults *faults, size_t witness)
{
	struct talk_result result;
	struct rig rig;
	bool right;

	config.kernel_calls = job->kernel_calls;
	open_rig(&rig, job, faults, (60 + 4 * job->number) * SECOND_NS);
	result = talk_run(&rig, &config);
	right = say(&rig, &result, witness);
	rig_close(&rig);
	return right;
}

/* NUMBER connections, 32 at once, who ends first in turns by halves. */
static bool cycles(const struct job *job)
{
	struct talk_config config = {.count = (unsigned)job->number / 2,
				     .at_once = 32,
				     .kernel_bytes = 100,
				     .utcp_bytes = 3000,
				     .kernel_last = true};
	bool right = run_talk(job, config, NULL, WITNESS(in_segments));

	config.kernel_last = false;
	config.utcp_last = true;
	return run_talk(job, config, NULL, WITNESS(in_segments)) && right;
}

/* NUMBER megabytes each way. */
static bool streams(const struct job *job)
{
	return run_talk(job,
			(struct talk_config){.count = 1,
					     .at_once = 1,
					     .kernel_bytes = job->number * MEGABYTE,
					     .utcp_bytes = job->number * MEGABYTE},
			NULL, WITNESS(in_segments));
}

/* The same, with one frame in a hundred lost and one in fifty held back for up to 2 ms, each way.
 */
static bool impaired(const struct job *job)
{
	struct wire_faults faults = {.loss = 10, .reorder = 20, .reorder_ns = 2000000};

	return run_talk(job,
			(struct talk_config){.count = 1,
					     .at_once = 1,
					     .kernel_bytes = job->number * MEGABYTE,
					     .utcp_bytes = job->number * MEGABYTE},
			&faults, WITNESS(retransmits));
}

/* One side ends at once, and the other streams NUMBER megabytes; then the other way round. */
static bool half_close(const struct job *job)
{
	struct talk_config config = {
		.count = 1, .at_once = 1, .utcp_bytes = job->number * MEGABYTE};
	bool right;

	config.utcp_last = true;
	right = run_talk(job, config, NULL, WITNESS(in_segments));
	config = (struct talk_config){.count = 1,
				      .at_once = 1,
				      .kernel_bytes = job->number * MEGABYTE,
				      .kernel_last = true};
	return run_talk(job, config, NULL, WITNESS(in_segments)) && right;
}

/* Both sides write, and nobody reads for NUMBER seconds. */
static bool zero_window(const struct job *job)
{
	return run_talk(job,
			(struct talk_config){.count = 1,
					     .at_once = 1,
					     .kernel_bytes = 16 * MEGABYTE,
					     .utcp_bytes = 16 * MEGABYTE,
					     .pause_ns = job->number * SECOND_NS},
			NULL, WITNESS(probes));
}

/* --- what does not end in good order --------------------------------------------------------- */

/* Two ends that are connected. */
struct couple {
	struct utcp_conn *conn;
	int fd;
};

/* Waits for an event; its reason, or -1 when time is up. */
static int await(struct rig *rig, uint16_t bits, struct utcp_conn **conn_out)
{
	struct utcp_event event;

	do
		while (utcp_events(rig->utcp, &event, 1) > 0)
			if (event.bits & bits) {
				*conn_out = event.conn;
				return event.reason;
			}
	while (rig_move(rig));
	return -1;
}

static bool couple_up(struct rig *rig, const struct job *job, struct couple *couple)
{
	int listener;

	if (job->kernel_calls) {
		couple->fd = talk_kernel_connect(rig);
		return await(rig, UTCP_ACCEPTED, &couple->conn) >= 0;
	}
	listener = talk_kernel_listen(rig);
	if (rig_call(rig, &couple->conn) != 0 || await(rig, UTCP_CONNECTED, &couple->conn) < 0)
		return false;
	while ((couple->fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) < 0 &&
	       rig_move(rig))
		;
	close(listener);
	return couple->fd >= 0;
}

/* The error that ends the kernel's end; 0 when time is up. */
static int kernel_error(struct rig *rig, int fd)
{
	uint8_t byte;

	while (recv(fd, &byte, 1, MSG_PEEK) < 0) {
		if (errno != EAGAIN)
			return errno;
		if (!rig_move(rig))
			break;
	}
	return 0;
}

/* Each resets the other. */
static bool reset(const struct job *job)
{
	struct linger linger = {.l_onoff = 1};
	struct couple couple;
	struct rig rig;
	bool right;

	open_rig(&rig, job, NULL, 20 * SECOND_NS);
	right = couple_up(&rig, job, &couple);
	setsockopt(couple.fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(couple.fd);
	right = right && await(&rig, UTCP_CLOSED, &couple.conn) == UTCP_RESET;
	right = right && couple_up(&rig, job, &couple);
	utcp_abort(rig.utcp, couple.conn);
	right = right && kernel_error(&rig, couple.fd) == ECONNRESET;
	close(couple.fd);
	right = rig_settle(&rig) && right;
	rig_close(&rig);
	return right;
}

/* The cable is pulled with data under way: both ends give the other up, for that reason. */
static bool vanish(const struct job *job)
{
	int patience_ms = 3000, error;
	struct couple couple;
	struct room rooms[2];
	struct rig rig;
	bool right;

	open_rig(&rig, job, NULL, 60 * SECOND_NS);
	right = couple_up(&rig, job, &couple);
	if (!right)
		return false;
	rig.cut = true;
	setsockopt(couple.fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, sizeof(patience_ms));
	right = send(couple.fd, "anybody there?", 14, MSG_NOSIGNAL) == 14 &&
		utcp_reserve(rig.utcp, couple.conn, 1000, rooms) > 0 &&
		utcp_commit(rig.utcp, couple.conn, 1000);
	right = right && await(&rig, UTCP_CLOSED, &couple.conn) == UTCP_TIMEOUT;
	error = kernel_error(&rig, couple.fd);
	right = right && error == ETIMEDOUT;
	close(couple.fd);
	right = rig_settle(&rig) && right;
	rig_close(&rig);
	return right;
}

static const struct {
	const char *name;
	bool (*run)(const struct job *job);
	uint64_t number;
} cases[] = {
	{"cycles", cycles, 200},       {"streams", streams, 8},		{"impaired", impaired, 2},
	{"half-close", half_close, 1}, {"zero-window", zero_window, 2}, {"reset", reset, 0},
	{"vanish", vanish, 0},
};

int main(int argc, char **argv)
{
	struct job job = {.device = argc > 1 ? argv[1] : ""};

	job.ip6 = argc > 2 && strcmp(argv[2], "ip6") == 0;
	job.kernel_calls = argc > 3 && strcmp(argv[3], "kernel") == 0;
	for (unsigned i = 0; argc > 4 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(argv[4], cases[i].name) == 0) {
			job.number = argc > 5 ? strtoull(argv[5], NULL, 10) : cases[i].number;
			return !cases[i].run(&job);
		}
	fprintf(stderr, "usage: interop DEVICE ip4|ip6 kernel|utcp CASE [NUMBER]\n");
	return 4;
}
