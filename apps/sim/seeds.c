#include "apps/sim/seeds.h"

#include "dataplane/core/check.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND_NS (1000ull * 1000 * 1000)

/* Faults last this long; then all must end within the bound. */
#define HEAL_NS (6 * SECOND_NS)

enum { TRACE_LINES = 120, STACK_BYTES = 64 * 1024 };

/* What a runner, which may die of what it runs, has in common with who waits for it. */
struct progress {
	uint64_t next; /* seeds behind the first that have begun */
	struct world_totals totals;
	bool failed; /* the last one ended, but not as it should */
};

/* The world that runs now and how much is to be said of it, for its last words. */
static const struct world *dying_world;
static unsigned dying_lines;

/* What a world dies of: a broken invariant, or memory that is not there. */
static const int deaths[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
enum { DEATHS = sizeof(deaths) / sizeof(deaths[0]) };
static struct sigaction before[DEATHS];

/* Prints the trace, and lets the signal strike again where whoever watched for it before sees it.
 */
static void on_death(int number)
{
	const struct world *world = dying_world;

	for (unsigned i = 0; i < DEATHS; i++)
		sigaction(deaths[i], &before[i], NULL);
	dying_world = NULL;
	if (world) {
		wire_trace_print(world_wire(world), stdout, dying_lines);
		fflush(stdout);
	}
	if (number == SIGABRT)
		raise(number);
}

static void watch_for_death(void)
{
	static uint8_t memory[STACK_BYTES];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
	struct sigaction action = {.sa_handler = on_death, .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	for (unsigned i = 0; i < DEATHS; i++)
		sigaction(deaths[i], &action, &before[i]);
}

/* One world, with the trace's last lines, if any are wanted. Returns whether it held. */
static bool run_world(const struct seeds *seeds, uint64_t seed, unsigned lines,
		      struct world_totals *totals)
{
	struct world_config config = {.seed = seed,
				      .faults = seeds->impair.faults,
				      .heal_ns = HEAL_NS,
				      .bound_ns = seeds->bound_ns,
				      .stall_permille = seeds->impair.stall_permille,
				      .trace = lines > 0};
	struct world *world = world_create(&config);
	bool held;

	dying_lines = lines;
	dying_world = world;
	held = world_run(world);
	world_add_totals(world, totals);
	if (lines > 0)
		wire_trace_print(world_wire(world), stdout, lines);
	if (lines > 0 && !held)
		printf("# seed %llu: %s\n", (unsigned long long)seed, world_failure(world));
	dying_world = NULL;
	world_destroy(world);
	return held;
}

/* Runs seeds until one does not hold. */
static void run_on(const struct seeds *seeds, struct progress *progress)
{
	while (progress->next < seeds->count && !progress->failed) {
		uint64_t seed = seeds->first + progress->next++;

		progress->failed = !run_world(seeds, seed, seeds->trace_lines, &progress->totals);
	}
}

/* The failed world again, now with its trace. */
static void explain(const struct seeds *seeds, struct progress *progress)
{
	struct world_totals again = {0};

	if (run_world(seeds, seeds->first + progress->next - 1, TRACE_LINES, &again))
		printf("# run once more, it holds\n");
}

/* Does `work` in a process of its own; false if that died. Says of what, if it is told to. */
static bool in_child(void (*work)(const struct seeds *seeds, struct progress *progress),
		     const struct seeds *seeds, struct progress *progress, bool say)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		watch_for_death();
		work(seeds, progress);
		fflush(stdout);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	if (say && WIFSIGNALED(status))
		printf("# signal %d ended it: %s\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void say_replay(const struct seeds *seeds, uint64_t seed)
{
	printf("# replay: weir sim --seed %llu --impair %s%s%s\n", (unsigned long long)seed,
	       seeds->impair_text, seeds->bound_text ? " --bound " : "",
	       seeds->bound_text ? seeds->bound_text : "");
	fflush(stdout);
}

uint64_t seeds_run(const struct seeds *seeds, struct world_totals *totals)
{
	struct progress *progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t failed = 0;

	CHECK(progress != MAP_FAILED);
	while (progress->next < seeds->count) {
		if (in_child(run_on, seeds, progress, false) && !progress->failed)
			continue;
		failed++;
		in_child(explain, seeds, progress, true);
		say_replay(seeds, seeds->first + progress->next - 1);
		progress->failed = false;
	}
	*totals = progress->totals;
	munmap(progress, sizeof(*progress));
	return failed;
}

void seeds_print_totals(const struct world_totals *t)
{
	printf("# %llu connections, %llu bytes verified, %.0f s of virtual time; %llu retransmits, "
	       "%llu fast, %llu timeouts, %llu probes, %llu kept out of order, %llu marked, %llu "
	       "frames refused, %llu aborts\n",
	       (unsigned long long)t->connections, (unsigned long long)t->bytes,
	       (double)t->virtual_ns / 1e9, (unsigned long long)t->retransmits,
	       (unsigned long long)t->fast_retransmits, (unsigned long long)t->timeouts,
	       (unsigned long long)t->probes, (unsigned long long)t->kept_out_of_order,
	       (unsigned long long)t->marked, (unsigned long long)t->dropped,
	       (unsigned long long)t->aborts);
}
