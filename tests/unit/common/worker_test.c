#include "apps/common/worker.h"

#include "apps/common/cpus.h"
#include "dataplane/core/clock.h"
#include "tests/support/suite.h"

#include <sched.h>
#include <string.h>

struct counting {
	struct worker worker; /* first */
	uint64_t turns;
	uint64_t copy[64]; /* all alike when read, or the copy is torn */
	int ran_on;
	bool fails;
};

static void count(struct worker *worker)
{
	struct counting *own = (struct counting *)worker;

	if (own->fails) {
		tp_fail(&worker->error, -1, "this worker does not want to");
		return;
	}
	own->ran_on = sched_getcpu();
	worker_ready(worker);
	while (!worker_stopping(worker)) {
		own->turns++;
		if (worker_asked(worker)) {
			for (unsigned i = 0; i < 64; i++)
				own->copy[i] = own->turns;
			worker_answer(worker);
		}
	}
}

static uint16_t last_cpu(void)
{
	struct cpus allowed = {0};

	CU_ASSERT_EQUAL(cpus_allowed(&allowed), 0);
	return allowed.cpu[allowed.count - 1];
}

static void test_copies(void)
{
	struct counting own = {0};
	struct tp_error error;
	uint64_t before = 0;

	CU_ASSERT_EQUAL_FATAL(worker_start(&own.worker, count, 0, last_cpu(), &error), 0);
	for (unsigned i = 0; i < 100; i++) {
		worker_ask(&own.worker);
		CU_ASSERT_TRUE_FATAL(worker_await(&own.worker, 10 * CLOCK_SECOND_NS));
		for (unsigned j = 1; j < 64; j++)
			CU_ASSERT_EQUAL_FATAL(own.copy[j], own.copy[0]);
		CU_ASSERT_TRUE(own.copy[0] > before);
		before = own.copy[0];
	}
	worker_stop(&own.worker);
	worker_join(&own.worker);
	CU_ASSERT_EQUAL(own.ran_on, last_cpu());
}

static void test_failure(void)
{
	struct counting own = {.fails = true};
	struct tp_error error = {""};

	CU_ASSERT_EQUAL(worker_start(&own.worker, count, 0, last_cpu(), &error), -1);
	CU_ASSERT_STRING_EQUAL(error.text, "this worker does not want to");
}

static void test_no_cpu(void)
{
	struct counting own = {0};
	struct tp_error error = {""};

	CU_ASSERT_EQUAL(worker_start(&own.worker, count, 0, CPUS_NUMBER_MAX, &error), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "CPU 1023"));
}

static void test_no_answer(void)
{
	struct counting own = {0};
	struct tp_error error;

	CU_ASSERT_EQUAL_FATAL(worker_start(&own.worker, count, 0, last_cpu(), &error), 0);
	worker_stop(&own.worker);
	worker_join(&own.worker);
	worker_ask(&own.worker);
	CU_ASSERT_FALSE(worker_await(&own.worker, 10 * CLOCK_SECOND_NS));
}

static const struct suite_test tests[] = {
	{"a worker on its CPU answers with whole and newer copies", test_copies},
	{"a worker that fails to start says why", test_failure},
	{"a worker cannot start on a CPU that is not there", test_no_cpu},
	{"a worker that has ended is not waited for", test_no_answer},
};

SUITE_MAIN("worker", tests)
