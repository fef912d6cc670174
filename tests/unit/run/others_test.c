#include "apps/run/others.h"

#include "tests/support/suite.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* None comes: it only waits. */
static struct interrupt never = {.fd = -1};

static void who_works_is_named(void)
{
	struct others others;
	bool named = false;
	pid_t pid = fork();
	json_t *json;

	if (pid == 0)
		for (;;)
			;
	others_look(&others, &never);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (unsigned i = 0; i < others.who_count; i++) {
		named |= others.who[i].pid == pid && others.who[i].cpus <= others.cpus;
		CU_ASSERT_TRUE(i == 0 || others.who[i].cpus <= others.who[i - 1].cpus);
		CU_ASSERT_NOT_EQUAL(others.who[i].pid, getpid());
	}
	CU_ASSERT_TRUE(named);
	CU_ASSERT_TRUE(others_disturb(&others));
	json = others_to_json(&others);
	CU_ASSERT_TRUE(json_is_true(json_object_get(json, "disturbed")));
	CU_ASSERT_EQUAL(json_array_size(json_object_get(json, "who")), others.who_count);
	json_decref(json);
}

static void a_quiet_host_is_said_in_the_same_words(void)
{
	const struct others quiet = {.cpus = OTHERS_CPUS_MAX}, unknown = {.cpus = -1};
	json_t *json = others_to_json(&quiet);
	char text[64];

	CU_ASSERT_FALSE(others_disturb(&quiet));
	CU_ASSERT_TRUE(json_is_false(json_object_get(json, "disturbed")));
	CU_ASSERT_EQUAL(json_array_size(json_object_get(json, "who")), 0);
	CU_ASSERT_STRING_EQUAL(others_print(&quiet, text, sizeof(text)), "0.10 CPUs");
	json_decref(json);
	json = others_to_json(&unknown);
	CU_ASSERT_FALSE(others_disturb(&unknown));
	CU_ASSERT_TRUE(json_is_null(json_object_get(json, "cpus")));
	CU_ASSERT_PTR_NOT_NULL(json_object_get(json, "cpus_reason"));
	json_decref(json);
}

static void a_message_is_cut_where_there_is_no_room(void)
{
	struct others many = {.cpus = 2, .who_count = OTHERS_WHO_MAX};
	char text[40];

	for (unsigned i = 0; i < OTHERS_WHO_MAX; i++)
		many.who[i] = (struct others_process){.pid = 7, .name = "someone", .cpus = 0.25};
	others_print(&many, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "2.00 CPUs (someone, pid 7, 0.25; someon");
}

static const struct suite_test tests[] = {
	{"who works beside us is named, the busiest first", who_works_is_named},
	{"a quiet host is said in the same words, and what is not known is null",
	 a_quiet_host_is_said_in_the_same_words},
	{"a message is cut where there is no room", a_message_is_cut_where_there_is_no_room},
};

SUITE_MAIN("run others", tests)
