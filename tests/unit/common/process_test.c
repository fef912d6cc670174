#include "apps/common/process.h"
#include "tests/support/suite.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void reads_numbers_by_name(void)
{
	char path[] = "/tmp/weir-process-XXXXXX";
	static const char text[] = "Page:\t7 kB\nPages: 12\nName:\tweir\nse.nr  :   3\n";
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	CU_ASSERT_EQUAL(process_read_number(path, "Page"), 7);
	CU_ASSERT_EQUAL(process_read_number(path, "Pages"), 12);
	CU_ASSERT_EQUAL(process_read_number(path, "se.nr"), 3);
	CU_ASSERT_EQUAL(process_read_number(path, "Pag"), -1);
	CU_ASSERT_EQUAL(process_read_number(path, "Name"), -1);
	close(fd);
	unlink(path);
	CU_ASSERT_EQUAL(process_read_number(path, "Page"), -1);
}

/* Moves this thread from CPU to CPU and back. */
static void counts_migrations(void)
{
	long before = process_migrations("/proc/self/task"), after;
	struct tp_error error;
	struct cpus allowed;

	CU_ASSERT_EQUAL(process_migrations("/proc/self/nothing"), -1);
	if (before < 0 || cpus_allowed(&allowed) < 0 || allowed.count < 2) {
		suite_skip("needs a kernel that counts migrations, and two CPUs");
		return;
	}
	for (unsigned i = 0; i < 8; i++) {
		struct cpus one = {.count = 1, .cpu = {allowed.cpu[i % 2]}};

		CU_ASSERT_EQUAL_FATAL(cpus_bind(&one, &error), 0);
	}
	after = process_migrations("/proc/self/task");
	CU_ASSERT_EQUAL(cpus_bind(&allowed, &error), 0);
	CU_ASSERT(after >= before + 7);
}

/* The file's text under a name that the caller removes. */
static void write_text(char path[], const char *text)
{
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/* A host of four possible CPUs of which one is off: columns go by their heads, not their places. */
static void counts_softirqs_by_cpu(void)
{
	static const char text[] = "                    CPU0       CPU2       CPU3\n"
				   "          HI:          1          2          3\n"
				   "      NET_TX:         10         20         30\n"
				   "      NET_RX:        100        200        300\n";
	char path[] = "/tmp/weir-process-XXXXXX";
	struct cpus some = {.count = 2, .cpu = {3, 0}}, off = {.count = 2, .cpu = {0, 1}};

	write_text(path, text);
	CU_ASSERT_EQUAL(process_softirqs(path, "NET_RX", &some), 400);
	CU_ASSERT_EQUAL(process_softirqs(path, "NET_TX", &some), 40);
	CU_ASSERT_EQUAL(process_softirqs(path, "NET", &some), -1);
	CU_ASSERT_EQUAL(process_softirqs(path, "NET_RX", &off), -1);
	unlink(path);
	CU_ASSERT_EQUAL(process_softirqs(path, "NET_RX", &some), -1);
}

static void says_what_cpus_did(void)
{
	struct cpus one = {.count = 1, .cpu = {0}}, none = {.count = 1, .cpu = {CPUS_NUMBER_MAX}};
	json_t *there = json_object(), *lacking = json_object();
	const json_t *cpu, *host;

	process_add_cpus(there, &one);
	process_add_cpus(lacking, &none);
	cpu = json_object_get(there, "cpu");
	host = json_object_get(there, "host");
	CU_ASSERT(json_integer_value(json_object_get(cpu, "busy_us")) > 0);
	CU_ASSERT(json_integer_value(json_object_get(host, "cpus")) ==
		  sysconf(_SC_NPROCESSORS_ONLN));
	CU_ASSERT(json_integer_value(json_object_get(host, "busy_us")) >=
		  json_integer_value(json_object_get(cpu, "busy_us")));
	CU_ASSERT(json_integer_value(json_object_get(cpu, "tasks_us")) <=
		  json_integer_value(json_object_get(cpu, "busy_us")));
	CU_ASSERT(json_is_integer(json_object_get(cpu, "net_rx_softirqs")));
	cpu = json_object_get(lacking, "cpu");
	CU_ASSERT(json_is_null(json_object_get(cpu, "busy_us")));
	CU_ASSERT(json_is_string(json_object_get(cpu, "net_tx_softirqs_reason")));
	json_decref(there);
	json_decref(lacking);
}

static long long number_of(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	CU_ASSERT_FATAL(json_is_integer(value));
	return json_integer_value(value);
}

/* 64 MiB that were there and are gone count since the start alone. */
static void begins_the_peak_anew(void)
{
	const long long kib = 64 * 1024, slack_kib = 1024; /* the kernel's counts are not exact */
	size_t bytes = (size_t)kib * 1024;
	json_t *before, *after;
	volatile char *memory = malloc(bytes);

	CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
	for (size_t i = 0; i < bytes; i += 4096)
		memory[i] = 1;
	before = process_to_json();
	free((char *)memory);
	process_begin_peak();
	after = process_to_json();
	if (json_is_null(json_object_get(after, "rss_peak_kib"))) {
		suite_skip("this kernel does not let the peak be begun anew");
	} else if (number_of(before, "rss_kib") - number_of(after, "rss_kib") < kib / 2) {
		suite_skip("the allocator keeps the memory");
	} else {
		CU_ASSERT(number_of(before, "rss_peak_kib") >= kib - slack_kib);
		CU_ASSERT(number_of(after, "rss_peak_kib") <
			  number_of(before, "rss_peak_kib") - kib / 2);
		CU_ASSERT(number_of(after, "rss_peak_since_start_kib") >=
			  number_of(before, "rss_peak_kib") - slack_kib);
	}
	json_decref(before);
	json_decref(after);
}

/* A thread that is ready to run on a CPU which this one does not leave. */
static void *run_briefly(void *done)
{
	atomic_store((atomic_bool *)done, true);
	while (atomic_load((atomic_bool *)done))
		sched_yield();
	return NULL;
}

static void counts_waits_for_a_cpu(void)
{
	struct cpus allowed, one = {.count = 1};
	int64_t before, after;
	atomic_bool running = false;
	struct tp_error error;
	pthread_t other;

	CU_ASSERT_EQUAL_FATAL(cpus_allowed(&allowed), 0);
	one.cpu[0] = allowed.cpu[0];
	CU_ASSERT_EQUAL_FATAL(cpus_bind(&one, &error), 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, run_briefly, &running), 0);
	while (!atomic_load(&running))
		sched_yield();
	before = process_runqueue_wait_ns();
	for (unsigned i = 0; i < 100; i++)
		sched_yield();
	after = process_runqueue_wait_ns();
	atomic_store(&running, false);
	pthread_join(other, NULL);
	CU_ASSERT_EQUAL(cpus_bind(&allowed, &error), 0);
	if (before < 0)
		suite_skip("this kernel does not say how long threads wait for a CPU");
	else
		CU_ASSERT(after > before);
}

static void *wait_for_a_byte(void *pipe)
{
	char byte;

	for (unsigned i = 0; i < 8; i++)
		CU_ASSERT_EQUAL(read(*(int *)pipe, &byte, 1), 1);
	return NULL;
}

/* A thread that sleeps eight times for a byte which this one gives it only once it sleeps. */
static void counts_switches_of_other_threads(void)
{
	long before, at_end;
	pthread_t sleeper;
	int ends[2];

	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&sleeper, NULL, wait_for_a_byte, &ends[0]), 0);
	before = process_switches(true);
	for (unsigned i = 0; i < 7; i++) {
		long now = process_switches(true);

		CU_ASSERT_EQUAL(write(ends[1], "x", 1), 1);
		while (process_switches(true) == now)
			sched_yield();
	}
	at_end = process_switches(true);
	CU_ASSERT(at_end >= before + 7);
	CU_ASSERT_EQUAL(write(ends[1], "x", 1), 1);
	pthread_join(sleeper, NULL);
	CU_ASSERT(process_switches(true) >= at_end);
	CU_ASSERT(process_switches(false) >= 0);
	close(ends[0]);
	close(ends[1]);
}

/* A child, so that the name is nobody else's. */
static void reads_ticks_behind_any_name(void)
{
	uint64_t ticks = 0;
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_NAME, "a) R 1\n2 (b");
		_exit(process_read_ticks(getpid(), &ticks) ? 0 : 1);
	}
	CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_FALSE(process_read_ticks(pid, &ticks));
}

static const struct suite_test tests[] = {
	{"the time of a process is found behind any name", reads_ticks_behind_any_name},
	{"a number is found by its whole name", reads_numbers_by_name},
	{"softirqs are counted by CPU, whichever are there", counts_softirqs_by_cpu},
	{"what CPUs did is said, or why not", says_what_cpus_did},
	{"the peak of memory is since its beginning, and since the start apart",
	 begins_the_peak_anew},
	{"waits for a CPU that another has are counted", counts_waits_for_a_cpu},
	{"context switches are those of other threads than the main one",
	 counts_switches_of_other_threads},
	{"moves between CPUs are counted, or said not to be", counts_migrations},
};

SUITE_MAIN("common process", tests)
