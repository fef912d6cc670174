/*
 * What is said of a seed that ends badly. One of these seeds does, in the way that a test wants,
 * since the linker leads world_create and utcp_check through here.
 */
#include "apps/sim/seeds.h"
#include "dataplane/core/check.h"
#include "tests/support/suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SEEDS = 5, BAD = 2, CHECKS = 100, TEXT_BYTES = 64 * 1024 };

enum way { INVARIANT, MEMORY, LATE };

struct utcp;
void __real_utcp_check(const struct utcp *utcp);
void __wrap_utcp_check(const struct utcp *utcp);
struct world *__real_world_create(const struct world_config *config);
struct world *__wrap_world_create(const struct world_config *config);

static enum way way;
static uint64_t seed;
static unsigned checks;
static volatile uint8_t *nowhere;

void __wrap_utcp_check(const struct utcp *utcp)
{
	if (seed == BAD && way != LATE && ++checks == CHECKS) {
		CHECK(way != INVARIANT);
		*nowhere = 1;
	}
	__real_utcp_check(utcp);
}

struct world *__wrap_world_create(const struct world_config *config)
{
	struct world_config changed = *config;

	seed = config->seed;
	checks = 0;
	if (seed == BAD && way == LATE)
		changed.heal_ns = changed.bound_ns = 1;
	return __real_world_create(&changed);
}

/* Runs the seeds and keeps what they print; how many failed. */
static uint64_t run_seeds(struct world_totals *totals, char text[TEXT_BYTES])
{
	struct seeds seeds = {.count = SEEDS,
			      .impair_text = "loss=5%",
			      .bound_ns = SEEDS_BOUND_NS,
			      .bound_text = "75s"};
	int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO), quiet = open("/dev/null", O_WRONLY);
	FILE *kept = tmpfile();
	char wrong[IMPAIR_WRONG_BYTES];
	uint64_t failed;

	CU_ASSERT_FATAL(kept && impair_parse(seeds.impair_text, &seeds.impair, wrong) == 0);
	fflush(stdout);
	dup2(fileno(kept), STDOUT_FILENO);
	dup2(quiet, STDERR_FILENO); /* the last words of CHECK, twice */
	failed = seeds_run(&seeds, totals);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	close(quiet);
	rewind(kept);
	text[fread(text, 1, TEXT_BYTES - 1, kept)] = '\0';
	fclose(kept);
	return failed;
}

/* One seed fails: its trace and its line are printed, each once, and the others run. */
static void expect_report(enum way wanted)
{
	static const char replay[] = "# replay: weir sim --seed 2 --impair loss=5% --bound 75s\n";
	static char text[TEXT_BYTES];
	struct world_totals totals = {0};
	const char *line;

	way = wanted;
	CU_ASSERT(run_seeds(&totals, text) == 1);
	CU_ASSERT(strstr(text, "A > B") && strstr(text, " seq "));
	line = strstr(text, "# replay: ");
	CU_ASSERT_FATAL(line != NULL);
	CU_ASSERT(strcmp(line, replay) == 0);
	CU_ASSERT(totals.connections >= SEEDS - 1);
}

static void prints_a_broken_invariant(void)
{
	expect_report(INVARIANT);
}

static void prints_a_crash(void)
{
	nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(nowhere != MAP_FAILED);
	expect_report(MEMORY);
}

static void prints_what_did_not_end(void)
{
	expect_report(LATE);
}

static const struct suite_test tests[] = {
	{"a seed that breaks an invariant leaves its trace and its line, and the others run",
	 prints_a_broken_invariant},
	{"a seed that crashes leaves its trace and its line, and the others run", prints_a_crash},
	{"a seed that does not end leaves its trace and its line, and the others run",
	 prints_what_did_not_end},
};

SUITE_MAIN("what is said of seeds that fail", tests)
