#include "apps/run/hosts.h"

#include "apps/agent/agent.h"
#include "tests/support/suite.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define WHERE "h.json:1:"

static void expect_problems(const char *hosts, const char *expected)
{
	struct problems problems = {0};
	char text[1024];
	json_t *json;

	snprintf(text, sizeof(text), "{\"hosts\": %s}", hosts);
	json = json_loads(text, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(json);
	hosts_judge(json_object_get(json, "hosts"), "h.json", text, &problems);
	if (strcmp(problems.text, expected) != 0)
		printf("# %s\n# %s\n", problems.text, expected);
	CU_ASSERT_STRING_EQUAL(problems.text, expected);
	json_decref(json);
}

static void judges_hosts(void)
{
	static const char whole[] =
		"{\"server\": {\"ssh\": \"root@a\", \"port\": 22, \"address\": \"10.0.0.1\", "
		"\"identity\": \"/k\", \"config\": \"/c\", \"cpus\": \"2-5\", \"weir\": \"/w\", "
		"\"folder\": \"/var/tmp\"}, \"clients\": [{}, {\"ssh\": \"b\", \"workers\": 2}]}";

	expect_problems(whole, "");
	expect_problems("{\"server\": {\"address\": \"10.0.0.1\"}}", "");
	expect_problems("[]", WHERE "11: 'hosts' is to be {\"server\": {\"address\": IP, ...}, "
				    "\"clients\": [{...}]}\n");
	expect_problems("{\"server\": {}}",
			WHERE "22: 'address' is missing: the IPv4 address at which clients on "
			      "other hosts reach the server\n");
	expect_problems("{\"server\": {\"address\": \"::1\"}}",
			WHERE "34: 'address' is \"::1\"; accepted: an IPv4 address of the "
			      "server's host\n");
	expect_problems("{\"server\": {\"address\": \"10.0.0.1\"}, \"clients\": []}",
			WHERE "58: 'clients' is to be a list of 1 to 16 hosts\n");
	expect_problems("{\"server\": {\"address\": \"10.0.0.1\"}, \"client\": [{}]}",
			WHERE "47: unknown key 'client'; accepted: server, clients\n");
	expect_problems("{\"server\": {\"address\": \"10.0.0.1\"}, \"clients\": [{\"adress\": 1}]}",
			WHERE "60: unknown key 'adress' of a client's host\n");
	expect_problems("{\"server\": {\"address\": \"10.0.0.1\"}, \"clients\": [{\"port\": 1}]}",
			WHERE "59: 'port' without 'ssh': it says how another host is reached\n");
}

/* None of these may reach ssh's command line or a shell there. */
static void refuses_what_a_shell_would_read(void)
{
	static const char *const wrong[] = {
		"\"ssh\": \"-oProxyCommand=x\"",
		"\"ssh\": \"a b\"",
		"\"ssh\": \"a;b\"",
		"\"ssh\": \"\"",
		"\"ssh\": 7",
		"\"ssh\": \"a\", \"port\": 0",
		"\"ssh\": \"a\", \"port\": 65536",
		"\"ssh\": \"a\", \"port\": \"22\"",
		"\"ssh\": \"a\", \"folder\": \"tmp\"",
		"\"ssh\": \"a\", \"folder\": \"/tmp/$(id)\"",
		"\"ssh\": \"a\", \"folder\": \"/tmp/a b\"",
		"\"ssh\": \"a\", \"weir\": \"/w'\"",
		"\"ssh\": \"a\", \"weir\": \"/w\\n\"",
		"\"ssh\": \"a\", \"identity\": \"key\"",
		"\"ssh\": \"a\", \"config\": \"-F\"",
		"\"ssh\": \"a\", \"cpus\": \"3-1\"",
		"\"ssh\": \"a\", \"workers\": 0",
	};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct problems problems = {0};
		char text[512];
		json_t *json;

		snprintf(text, sizeof(text),
			 "{\"hosts\": {\"server\": {\"address\": \"10.0.0.1\"}, \"clients\": "
			 "[{%s}]}}",
			 wrong[i]);
		json = json_loads(text, 0, NULL);
		hosts_judge(json_object_get(json, "hosts"), "h.json", text, &problems);
		CU_ASSERT_EQUAL(problems.count, 1);
		json_decref(json);
	}
}

static json_t *read_hosts(void)
{
	return json_loads("{\"server\": {\"ssh\": \"a\", \"address\": \"10.0.0.1\", \"cpus\": "
			  "\"4-7\"}, \"clients\": [{\"ssh\": \"b\", \"cpus\": \"8-9\"}, {\"ssh\": "
			  "\"c\", \"cpus\": \"2-5\", \"workers\": 3}]}",
			  0, NULL);
}

static const char *value_behind(const json_t *argv, const char *flag)
{
	for (size_t i = 0; i + 1 < json_array_size(argv); i++)
		if (strcmp(json_string_value(json_array_get(argv, i)), flag) == 0)
			return json_string_value(json_array_get(argv, i + 1));
	return "";
}

static void shares_a_cell_between_clients(void)
{
	json_t *json = read_hosts(), *argv[2];
	struct hosts *hosts = hosts_create(json);
	json_t *single =
		json_pack("[sssssssssss]", "weir", "load", "--workers", "2", "--cpus", "0,1",
			  "--connections", "9", "--json", "samples/s0001-x/client.json", "--bare");

	CU_ASSERT_PTR_NOT_NULL_FATAL(hosts);
	CU_ASSERT_EQUAL(hosts_client_workers(hosts, 2), 5);
	for (unsigned i = 0; i < 2; i++)
		argv[i] = hosts_client_argv(hosts, i, single, 2);
	CU_ASSERT_STRING_EQUAL(value_behind(argv[0], "--connections"), "5");
	CU_ASSERT_STRING_EQUAL(value_behind(argv[1], "--connections"), "4");
	CU_ASSERT_STRING_EQUAL(value_behind(argv[0], "--workers"), "2");
	CU_ASSERT_STRING_EQUAL(value_behind(argv[1], "--workers"), "3");
	CU_ASSERT_STRING_EQUAL(value_behind(argv[0], "--cpus"), "8,9");
	CU_ASSERT_STRING_EQUAL(value_behind(argv[1], "--cpus"), "2,3,4");
	CU_ASSERT_STRING_EQUAL(value_behind(argv[1], "--json"),
			       "samples/s0001-x/clients/2/client.json");
	CU_ASSERT_STRING_EQUAL(value_behind(argv[1], "--bare"), "--hold");
	CU_ASSERT_STRING_EQUAL(value_behind(single, "--connections"), "9");
	for (unsigned i = 0; i < 2; i++)
		json_decref(argv[i]);
	json_decref(single);
	hosts_destroy(hosts);
	json_decref(json);
}

static void pins_as_told(void)
{
	json_t *json = read_hosts();
	struct hosts *hosts = hosts_create(json);
	struct tp_error error;
	struct pins pins;

	CU_ASSERT_EQUAL(hosts_pins(hosts, 2, 2, &pins, &error), 0);
	CU_ASSERT_EQUAL(pins.server.count, 2);
	CU_ASSERT_EQUAL(pins.server.cpu[0], 4);
	CU_ASSERT_EQUAL(pins.client.cpu[1], 9);
	CU_ASSERT(hosts_pins(hosts, 4, 4, &pins, &error) < 0);
	CU_ASSERT_STRING_EQUAL(error.text, "client 1 (b) has 2 CPUs for 4 workers");
	hosts_destroy(hosts);
	json_decref(json);
}

/* The first core of a host that was asked is left to its operating system where one is left. */
static void pins_by_what_hosts_have(void)
{
	json_t *json = json_loads("{\"server\": {\"ssh\": \"a\", \"address\": \"10.0.0.1\"}, "
				  "\"clients\": [{\"ssh\": \"b\"}]}",
				  0, NULL);
	struct hosts *hosts = hosts_create(json);
	struct tp_error error;
	struct pins pins;

	hosts->server.cpus = (struct cpus){8, {0, 1, 2, 3, 4, 5, 6, 7}};
	hosts->server.cores = (struct cpus){4, {0, 2, 4, 6}};
	hosts->clients[0].cpus = hosts->clients[0].cores = (struct cpus){2, {10, 11}};
	CU_ASSERT_EQUAL(hosts_pins(hosts, 2, 2, &pins, &error), 0);
	CU_ASSERT_EQUAL(pins.server.cpu[0], 2);
	CU_ASSERT_EQUAL(pins.server.cpu[1], 4);
	CU_ASSERT_EQUAL(pins.client.cpu[0], 10);
	CU_ASSERT_EQUAL(hosts_pins(hosts, 1, 1, &pins, &error), 0);
	CU_ASSERT_EQUAL(pins.client.cpu[0], 11);
	hosts_destroy(hosts);
	json_decref(json);
}

static void says_how_hosts_differ(void)
{
	static const struct program program = {.sha256 = "00"};
	json_t *json = read_hosts(), *said, *differences;
	struct hosts *hosts = hosts_create(json);
	char text[1024] = "";
	FILE *to = fmemopen(text, sizeof(text), "w");

	hosts->programs = &program;
	hosts->server.facts = json_pack("{ss ss}", "kernel", "6.1", "os", "x");
	hosts->clients[0].facts = json_pack("{ss ss}", "kernel", "6.1", "os", "x");
	hosts->clients[1].facts = json_pack("{ss ss}", "kernel", "6.18", "os", "x");
	hosts->clients[0].clock = json_pack("{sf sf}", "offset_ms", 900.0, "uncertainty_ms", 2.0);
	hosts->clients[1].clock = json_pack("{sf sf}", "offset_ms", 51.0, "uncertainty_ms", 2.0);
	said = hosts_to_json(hosts);
	differences = json_object_get(said, "differences");
	CU_ASSERT(json_is_false(json_object_get(said, "kernels_equal")));
	CU_ASSERT_EQUAL(json_array_size(differences), 1);
	hosts_print(hosts, to);
	fclose(to);
	CU_ASSERT_STRING_EQUAL(
		text,
		"hosts differ: kernel: server (a) \"6.1\", client 1 (b) \"6.1\", client 2 (c) "
		"\"6.18\"\n"
		"the clock of client 1 (b) is +900.0 ms from this host's (+-2.0 ms): times in "
		"its files are its own\n");
	json_decref(said);
	hosts_destroy(hosts);
	json_decref(json);
}

/* Every end of a process comes through ssh's exit status, and none is taken for ssh's own. */
static void ends_survive_the_way(void)
{
	int status = -1;

	for (int code = 0; code <= AGENT_STATUS_MOST; code++) {
		CU_ASSERT(agent_wait_status(agent_status_of(code << 8), &status));
		CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == code);
	}
	CU_ASSERT(agent_wait_status(agent_status_of(255 << 8), &status));
	CU_ASSERT_EQUAL(WEXITSTATUS(status), AGENT_STATUS_MOST);
	for (int number = 1; number <= SIGRTMAX; number++) {
		CU_ASSERT(agent_wait_status(agent_status_of(number), &status));
		CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == number);
	}
	CU_ASSERT_FALSE(agent_wait_status(AGENT_REFUSED, &status));
	CU_ASSERT_FALSE(agent_wait_status(AGENT_ORPHANED, &status));
	CU_ASSERT_FALSE(agent_wait_status(SSH_FAILED, &status));
}

static const struct suite_test tests[] = {
	{"each wrong host is named by its place with what is accepted", judges_hosts},
	{"nothing that a shell would read gets into a command", refuses_what_a_shell_would_read},
	{"clients share connections and have files, CPUs and workers of their own",
	 shares_a_cell_between_clients},
	{"CPUs are those that the experiment names, and too few are refused", pins_as_told},
	{"without a word in the experiment CPUs are chosen of those that a host has",
	 pins_by_what_hosts_have},
	{"kernels that differ and a skewed clock are said", says_how_hosts_differ},
	{"the end of a process is the same after its way through ssh", ends_survive_the_way},
};

SUITE_MAIN("run hosts", tests)
