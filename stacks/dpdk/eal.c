#include "stacks/dpdk/eal.h"

#include "dataplane/core/hugepages.h"

#include <errno.h>
#include <pthread.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EAL_ARGUMENTS_MAX = 24 };

static struct {
	bool started;
	bool hugepages;
	pthread_t owner;
	FILE *log;
	char words[256];
} eal;

/*
 * Where the EAL's log goes: only errors arrive, and the first is kept for our own message. What the
 * interrupt thread says is dropped: it explains no call of ours, and `words` has no lock.
 */
static ssize_t keep_words(void *cookie, const char *text, size_t bytes)
{
	size_t line = bytes > 0 && text[bytes - 1] == '\n' ? bytes - 1 : bytes;

	if (!pthread_equal(eal.owner, pthread_self()) || line == 0 || eal.words[0] != '\0')
		return (ssize_t)bytes;
	if (line >= sizeof(eal.words))
		line = sizeof(eal.words) - 1;
	memcpy(eal.words, text, line);
	eal.words[line] = '\0';
	return (ssize_t)bytes;
}

const char *eal_words(void)
{
	return eal.words;
}

void eal_forget(void)
{
	eal.words[0] = '\0';
}

/* Sends DPDK's log to keep_words, also for what is logged before the EAL runs. */
static int catch_log(void)
{
	if (eal.log)
		return 0;
	eal.log = fopencookie(NULL, "w", (cookie_io_functions_t){.write = keep_words});
	if (!eal.log)
		return -ENOMEM;
	setvbuf(eal.log, NULL, _IONBF, 0); /* so that each thread writes its own words */
	rte_openlog_stream(eal.log);
	rte_log_set_global_level(RTE_LOG_ERR);
	return 0;
}

static int check_hugepages(struct tp_error *error)
{
	struct hugepages pages = hugepages_count();

	if (pages.free_mib >= HUGEPAGES_PROCESS_MIB)
		return 0;
	/* what is in use, and as much again for two processes: 2 MiB a page */
	return tp_fail(error, -ENOMEM,
		       "DPDK needs %d MiB of hugepages in each process (%d of 2 MiB) and %lu MiB "
		       "are free; for a server and a client: `sysctl vm.nr_hugepages=%lu`, or go "
		       "without: `--hugepages no`",
		       HUGEPAGES_PROCESS_MIB, HUGEPAGES_PROCESS_MIB / 2, pages.free_mib,
		       pages.used_mib / 2 + HUGEPAGES_PROCESS_MIB);
}

/* "0@5", or "0@(0,1,4)" for all CPUs that the thread may use now. */
static void print_lcores(int cpu, char *text, size_t room)
{
	cpu_set_t allowed;
	size_t used;

	if (cpu >= 0) {
		snprintf(text, room, "0@%d", cpu);
		return;
	}
	CPU_ZERO(&allowed);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	used = (size_t)snprintf(text, room, "0@(");
	for (int i = 0; i < CPU_SETSIZE && used + 8 < room; i++)
		if (CPU_ISSET(i, &allowed))
			used += (size_t)snprintf(text + used, room - used, "%d,", i);
	text[used - 1] = ')';
}

static int init_eal(bool hugepages, int cpu, struct tp_error *error)
{
	static char lcores[4096], memory[16];
	char *arguments[EAL_ARGUMENTS_MAX] = {
		"weir", "--lcores",	 lcores, "--no-pci",	"--no-telemetry", "--iova-mode",
		"va",	"--file-prefix", "weir", "--log-level", "error"};
	int count = 11;

	print_lcores(cpu, lcores, sizeof(lcores));
	snprintf(memory, sizeof(memory), "%d", HUGEPAGES_PROCESS_MIB);
	if (hugepages) {
		arguments[count++] = "--in-memory";
	} else {
		/*
		 * --in-memory is refused together with --no-huge; --no-shconf leaves no files
		 * either
		 */
		arguments[count++] = "--no-huge";
		arguments[count++] = "--no-shconf";
		arguments[count++] = "-m";
		arguments[count++] = memory;
	}
	/*
	 * the memif driver writes to its control sockets without MSG_NOSIGNAL, from a thread of its
	 * own
	 */
	signal(SIGPIPE, SIG_IGN);
	eal_forget();
	if (rte_eal_init(count, arguments) < 0)
		return tp_fail(error, -rte_errno, "DPDK's EAL does not start (%s): %s",
			       rte_strerror(rte_errno), eal_words());
	return 0;
}

/* Whether what runs already fits what is asked. */
static int check_running(bool hugepages, struct tp_error *error)
{
	if (!pthread_equal(eal.owner, pthread_self()))
		return tp_fail(
			error, -EBUSY,
			"DPDK runs on another thread of this process: one worker thread a process "
			"can open dpdk devices");
	if (eal.hugepages != hugepages)
		return tp_fail(
			error, -EBUSY,
			"DPDK runs %s hugepages in this process already, which cannot change",
			eal.hugepages ? "with" : "without");
	return 0;
}

int eal_start(bool hugepages, int cpu, struct tp_error *error)
{
	int failure;

	if (eal.started)
		return check_running(hugepages, error);
	failure = hugepages ? check_hugepages(error) : 0;
	if (failure)
		return failure;
	eal.owner = pthread_self(); /* before the EAL makes threads that log */
	if (catch_log())
		return tp_fail(error, -ENOMEM, "no memory for DPDK's log");
	failure = init_eal(hugepages, cpu, error);
	if (failure)
		return failure;
	eal.started = true;
	eal.hugepages = hugepages;
	return 0;
}
