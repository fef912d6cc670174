/* What a host does to a stack over kernel sockets, without a call being made to fail. */
#include "dataplane/core/clock.h"
#include "tests/faults/ground.h"
#include "tests/faults/script.h"
#include "tests/support/loopback.h"
#include "tests/support/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE_NS (20 * CLOCK_SECOND_NS)

/* --- the script, harried --- */

static void expect_script(const char *spec, uint32_t shrink)
{
	struct script_config config = {.spec = spec, .shrink = shrink};
	struct script_result result;
	unsigned before = ground_descriptors();

	clock_start();
	script_run(&config, &result);
	if (result.is_absent) {
		suite_skip("%s", result.trouble);
		return;
	}
	if (result.trouble[0])
		printf("# %s: %s\n", spec, result.trouble);
	CU_ASSERT_EQUAL(result.trouble[0], '\0');
	CU_ASSERT_EQUAL(result.strayed, 0);
	CU_ASSERT_EQUAL(ground_descriptors(), before);
}

static volatile sig_atomic_t signals_taken;

static void take_signal(int number)
{
	signals_taken = signals_taken + 1;
}

static void signals_interrupt_nothing(void)
{
	struct sigaction action = {.sa_handler = take_signal}, before;
	struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};

	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned i = 0; i < 20; i++)
		expect_script(FAULT_STACK ",send-buffer=8KiB,recv-buffer=16KiB", 1);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	CU_ASSERT_TRUE(signals_taken > 20);
}

static void least_buffers_carry_the_script(void)
{
	expect_script(FAULT_STACK ",send-buffer=1,recv-buffer=1", 10);
	expect_script(FAULT_STACK ",send-buffer=1", 10);
	expect_script(FAULT_STACK ",recv-buffer=1", 10);
}

/* --- at the limit of descriptors, in a process of its own --- */

enum { CLIENTS = 6, SPARE = 3, OUTAGE_MS = 700, ROOM = 16 };

/* What the server's process found. */
struct limit_report {
	unsigned accepted_before; /* when the descriptors were out */
	unsigned polls;		  /* while they were */
	uint64_t cpu_ns;	  /* likewise */
	unsigned accepted_after;  /* after one was freed */
	uint64_t pauses;
};

static uint64_t cpu_time_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * CLOCK_SECOND_NS + (uint64_t)time.tv_nsec;
}

/* Polls once; accepted connections are added to `conns`. */
static void poll_server(struct tp *tp, struct tp_conn *conns[CLIENTS], unsigned *count)
{
	struct tp_event events[ROOM];
	struct tp_turn turn;
	unsigned got = tp_poll(tp, events, ROOM, CLOCK_SECOND_NS, &turn);

	for (unsigned i = 0; i < got; i++)
		if (events[i].bits & TP_ACCEPTED && *count < CLIENTS)
			conns[(*count)++] = events[i].conn;
}

static void allow_descriptors(unsigned spare)
{
	int lowest_free = dup(STDIN_FILENO);
	struct rlimit limit;

	close(lowest_free);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = (rlim_t)lowest_free + spare;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Runs out of descriptors, stays so for a while, then frees one. */
static void suffer(struct tp *tp, struct limit_report *report)
{
	struct tp_conn *conns[CLIENTS];
	uint64_t until_ns = clock_now_ns() + DEADLINE_NS;
	unsigned count = 0;
	uint64_t cpu_ns;

	allow_descriptors(SPARE);
	while (ground_detail(tp, "accept_pauses") == 0 && clock_now_ns() < until_ns)
		poll_server(tp, conns, &count);
	report->accepted_before = count;
	cpu_ns = cpu_time_ns();
	until_ns = clock_now_ns() + OUTAGE_MS * CLOCK_MS_NS;
	for (; clock_now_ns() < until_ns; report->polls++)
		poll_server(tp, conns, &count);
	report->cpu_ns = cpu_time_ns() - cpu_ns;
	report->pauses = ground_detail(tp, "accept_pauses");
	if (count > 0)
		tp_abort(tp, conns[0]);
	until_ns = clock_now_ns() + DEADLINE_NS;
	while (count == report->accepted_before && clock_now_ns() < until_ns)
		poll_server(tp, conns, &count);
	report->accepted_after = count;
}

/* The server's process: tells its port (0: it has none), then what it found. */
static void serve_at_the_limit(int to_parent)
{
	const struct tp_limits limits = {CLIENTS, 4096, 4096};
	struct tp_addr addr = {.ip = INADDR_LOOPBACK};
	struct limit_report report = {0};
	struct tp_error error;
	struct tp *tp;

	addr.ip = loopback_ip();
	addr.port = loopback_port();
	if (ground_open(FAULT_STACK, &limits, &tp, &error) != 0)
		addr.port = 0;
	else if (tp->ops->listen(tp, &addr, &error) < 0)
		addr.port = 0;
	if (write(to_parent, &addr, sizeof(addr)) != sizeof(addr) || addr.port == 0)
		_exit(1);
	suffer(tp, &report);
	tp->ops->close(tp);
	_exit(write(to_parent, &report, sizeof(report)) != sizeof(report));
}

static int dial(const struct tp_addr *addr)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(addr->ip),
		.sin_port = htons(addr->port),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CU_ASSERT_EQUAL(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void judge_limit_report(const struct limit_report *report)
{
	printf("# accepted %u, then %u; %u polls, %llu pauses, %llu us of CPU in %d ms\n",
	       report->accepted_before, report->accepted_after, report->polls,
	       (unsigned long long)report->pauses, (unsigned long long)report->cpu_ns / 1000,
	       OUTAGE_MS);
	CU_ASSERT_EQUAL(report->accepted_before, SPARE);
	/* a try each 100 ms; spinning would be thousands of polls, and all of the time */
	CU_ASSERT_TRUE(report->polls <= 40);
	CU_ASSERT_TRUE(report->pauses >= 2);
	CU_ASSERT_TRUE(report->cpu_ns < OUTAGE_MS * CLOCK_MS_NS / 5);
	CU_ASSERT_EQUAL(report->accepted_after, SPARE + 1);
}

static void limit_of_descriptors_is_lived_with(void)
{
	struct limit_report report;
	struct tp_addr addr;
	int ends[2], fds[CLIENTS], status;
	pid_t child;

	clock_start();
	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	fflush(stdout);
	child = fork();
	CU_ASSERT_TRUE_FATAL(child >= 0);
	if (child == 0) {
		close(ends[0]);
		serve_at_the_limit(ends[1]);
	}
	close(ends[1]);
	if (read(ends[0], &addr, sizeof(addr)) != sizeof(addr) || addr.port == 0) {
		suite_skip("the stack does not open on this host");
	} else {
		for (unsigned i = 0; i < CLIENTS; i++)
			fds[i] = dial(&addr);
		if (read(ends[0], &report, sizeof(report)) == sizeof(report))
			judge_limit_report(&report);
		else
			CU_FAIL("the server's process told nothing");
		for (unsigned i = 0; i < CLIENTS; i++)
			close(fds[i]);
	}
	close(ends[0]);
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
}

static const struct suite_test tests[] = {
	{"a signal each millisecond harms nothing", signals_interrupt_nothing},
	{"with socket buffers of the least size all goes as scripted",
	 least_buffers_carry_the_script},
	{"without a descriptor left a server rests, and serves who waits once one is free",
	 limit_of_descriptors_is_lived_with},
};

SUITE_MAIN(FAULT_STACK " host", tests)
