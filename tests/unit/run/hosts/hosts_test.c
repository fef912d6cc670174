#include "apps/run/hosts/hosts.h"

#include "apps/agent/agent.h"
#include "apps/provenance/topology_wire.h"
#include "apps/run/store/differ.h"
#include "apps/run/hosts/hosts_pins.h"
#include "tests/support/suite.h"

#include <errno.h>
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
	struct cpus cpus;
	json_t *single =
		json_pack("[sssssssssss]", "weir", "load", "--workers", "2", "--cpus", "0,1",
			  "--connections", "9", "--json", "samples/s0001-x/client.json", "--bare");

	CU_ASSERT_PTR_NOT_NULL_FATAL(hosts);
	CU_ASSERT_EQUAL(hosts_client_workers(hosts, 2), 5);
	for (unsigned i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(hosts_client_cpus(hosts, i, 2, 2, &cpus), 0);
		argv[i] = hosts_client_argv(hosts, i, single, 2, &cpus);
	}
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

/* A machine of `cpus` CPUs, two to a core if `smt`, whose wire form is the topology's. */
static struct topology *make_machine(unsigned cpus, bool smt)
{
	struct topology *topology = calloc(1, sizeof(*topology)), *read = malloc(sizeof(*read));
	json_t *wire;

	topology->cpus.count = cpus;
	for (unsigned i = 0; i < cpus; i++) {
		topology->cpus.cpu[i] = (uint16_t)i;
		topology->core[i] = (int)(smt ? i / 2 * 2 : i);
	}
	wire = topology_wire_make(topology);
	CU_ASSERT_EQUAL_FATAL(topology_wire_read(wire, read), 0);
	json_decref(wire);
	free(topology);
	return read;
}

/* As if the host had been asked: it is the machine of this boot id. */
static void answer(struct remote *remote, const char *boot_id, unsigned cpus, bool smt)
{
	remote->topology = make_machine(cpus, smt);
	remote->facts = json_pack("{ss}", "boot_id", boot_id);
}

static void pins_as_told(void)
{
	json_t *json = read_hosts();
	struct hosts *hosts = hosts_create(json);
	struct tp_error error;
	struct pins pins;

	CU_ASSERT_EQUAL(hosts_pins(hosts, NULL, 2, 2, &pins, &error), 0);
	CU_ASSERT_EQUAL(pins.server.count, 2);
	CU_ASSERT_EQUAL(pins.server.cpu[0], 4);
	CU_ASSERT_EQUAL(pins.client.cpu[1], 9);
	CU_ASSERT(hosts_pins(hosts, NULL, 4, 4, &pins, &error) < 0);
	CU_ASSERT_STRING_EQUAL(error.text, "client 1 (b) has 2 CPUs for 4 workers");
	hosts_destroy(hosts);
	json_decref(json);
}

/* The server's host, then two clients'; names and boot ids are all that tells them apart. */
static struct hosts *make_three(json_t **json_out, const char *server_more, const char *client_more)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "{\"server\": {\"ssh\": \"a\", \"address\": \"10.0.0.1\"%s}, "
		 "\"clients\": [{\"ssh\": \"b\"%s}, {\"ssh\": \"c\"%s}]}",
		 server_more, client_more, client_more);
	*json_out = json_loads(text, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(*json_out);
	return hosts_create(*json_out);
}

static void expect_cpus(const struct hosts *hosts, unsigned workers, const char *server,
			const char *first, const char *second, bool degraded)
{
	static struct hosts_pins pins;
	char text[CPUS_TEXT_BYTES];
	struct tp_error error = {.text = ""};

	CU_ASSERT_EQUAL_FATAL(hosts_pins_choose(hosts, NULL, workers, workers, &pins, &error), 0);
	CU_ASSERT_STRING_EQUAL(cpus_print(&pins.first.server, text), server);
	CU_ASSERT_STRING_EQUAL(cpus_print(&pins.first.client, text), first);
	CU_ASSERT_STRING_EQUAL(cpus_print(&pins.clients[1], text), second);
	CU_ASSERT_EQUAL(pins.first.degraded != NULL, degraded);
}

/* One CPU of each core, the operating system's core only where the others do not suffice. */
static void a_machine_of_its_own_gives_its_first_cores(void)
{
	json_t *json;
	struct hosts *hosts = make_three(&json, "", "");
	struct tp_error error;
	struct pins pins;

	answer(&hosts->server, "1", 8, true);
	answer(&hosts->clients[0], "2", 2, false);
	answer(&hosts->clients[1], "3", 4, false);
	expect_cpus(hosts, 1, "2", "1", "1", false);
	expect_cpus(hosts, 2, "2,4", "0,1", "1,2", true);
	CU_ASSERT_EQUAL(hosts_pins(hosts, NULL, 3, 3, &pins, &error), -ENOSPC);
	CU_ASSERT_STRING_EQUAL(error.text, "client 1 (b) has 2 CPUs for 3 workers");
	hosts_destroy(hosts);
	json_decref(json);
}

/* Three names of one machine share none of its CPUs. */
static void one_machine_is_shared_out(void)
{
	json_t *json;
	struct hosts *hosts = make_three(&json, "", "");
	struct tp_error error;
	struct pins pins;

	answer(&hosts->server, "1", 8, true);
	answer(&hosts->clients[0], "1", 8, true);
	answer(&hosts->clients[1], "1", 8, true);
	expect_cpus(hosts, 1, "2", "4", "6", false);
	expect_cpus(hosts, 2, "0,1", "4,5", "6,7", true);
	CU_ASSERT_EQUAL(hosts_pins(hosts, NULL, 3, 3, &pins, &error), -ENOSPC);
	CU_ASSERT_STRING_EQUAL(error.text,
			       "server (a) and 2 more of the hosts are one machine, which has 8 "
			       "CPUs for 9 workers; take fewer, or another machine");
	hosts_destroy(hosts);
	json_decref(json);
}

/* This host is one machine however often it is named, before and after it is opened. */
static void this_host_is_one_machine(void)
{
	json_t *json = json_loads("{\"server\": {\"address\": \"10.0.0.1\"}}", 0, NULL);
	struct hosts *hosts = hosts_create(json);
	struct topology *here = make_machine(2, false);
	struct tp_error error;
	struct pins pins;

	CU_ASSERT_EQUAL_FATAL(hosts_pins(hosts, here, 1, 1, &pins, &error), 0);
	CU_ASSERT_EQUAL(pins.server.cpu[0], 0);
	CU_ASSERT_EQUAL(pins.client.cpu[0], 1);
	CU_ASSERT_PTR_NOT_NULL(pins.degraded);
	CU_ASSERT_EQUAL(hosts_pins(hosts, here, 2, 1, &pins, &error), -ENOSPC);
	free(here);
	hosts_destroy(hosts);
	json_decref(json);
}

/* What is named is left to whom it is named for; one CPU for both sides is refused. */
static void named_cpus_are_nobody_elses(void)
{
	json_t *json;
	struct hosts *hosts = make_three(&json, ", \"cpus\": \"2\"", "");
	struct tp_error error;
	struct pins pins;

	answer(&hosts->server, "1", 8, true);
	answer(&hosts->clients[0], "1", 8, true);
	answer(&hosts->clients[1], "2", 8, true);
	expect_cpus(hosts, 1, "2", "4", "2", false);
	hosts_destroy(hosts);
	json_decref(json);
	hosts = make_three(&json, ", \"cpus\": \"2\"", ", \"cpus\": \"1\"");
	answer(&hosts->server, "1", 4, false);
	answer(&hosts->clients[0], "1", 4, false);
	answer(&hosts->clients[1], "1", 4, false);
	expect_cpus(hosts, 1, "2", "1", "1", true);
	hosts_destroy(hosts);
	json_decref(json);
	hosts = make_three(&json, ", \"cpus\": \"1,2\"", ", \"cpus\": \"2,3\"");
	answer(&hosts->server, "1", 4, false);
	answer(&hosts->clients[0], "2", 4, false);
	answer(&hosts->clients[1], "1", 4, false);
	CU_ASSERT_EQUAL(hosts_pins(hosts, NULL, 2, 2, &pins, &error), -EINVAL);
	CU_ASSERT_STRING_EQUAL(error.text,
			       "server (a) and client 2 (c) are one machine, and both are to use "
			       "its CPU 2: name other CPUs, or leave \"cpus\" out");
	hosts_destroy(hosts);
	json_decref(json);
}

/* Before a host was asked no CPU of it is made up. */
static void unasked_hosts_have_no_cpus_yet(void)
{
	json_t *json;
	struct hosts *hosts = make_three(&json, ", \"cpus\": \"2\"", "");
	struct tp_error error;
	struct pins pins;

	CU_ASSERT_EQUAL(hosts_pins(hosts, NULL, 1, 1, &pins, &error), 0);
	CU_ASSERT_EQUAL(pins.server.count, 1);
	CU_ASSERT_EQUAL(pins.client.count, 0);
	CU_ASSERT_PTR_NULL(pins.degraded);
	hosts_destroy(hosts);
	json_decref(json);
}

static void a_wrong_topology_is_refused(void)
{
	static const char *const wrong[] = {"[]",
					    "7",
					    "[[0, 0, 0, 0, 0]]",
					    "[[0, 0, 0, 0, 0, -1]]",
					    "[[1024, 0, 0, 0, 0, 0]]",
					    "[[0, 0, 0, 0, 8, 0]]",
					    "[[0, 0, 0, 0, 0, \"0\"]]"};
	struct topology *topology = malloc(sizeof(*topology));

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		json_t *wire = json_loads(wrong[i], JSON_DECODE_ANY, NULL);

		CU_ASSERT_EQUAL(topology_wire_read(wire, topology), -EINVAL);
		json_decref(wire);
	}
	free(topology);
}

/* Lost in turn is not lost in a row; twice in one sample is once. */
static void losses_are_counted_in_a_row(void)
{
	json_t *json;
	struct hosts *hosts = make_three(&json, "", "");

	for (unsigned i = 0; i < 6; i++) {
		hosts_lose(i % 2 ? &hosts->server : &hosts->clients[1]);
		hosts_lose(i % 2 ? &hosts->server : &hosts->clients[1]);
		hosts_end_sample(hosts, true);
		CU_ASSERT_PTR_NULL(hosts_given_up(hosts));
	}
	for (unsigned i = 0; i < HOSTS_LOSSES_MAX; i++) {
		CU_ASSERT_PTR_NULL(hosts_given_up(hosts));
		hosts_lose(&hosts->clients[0]);
		hosts_end_sample(hosts, false);
	}
	CU_ASSERT_PTR_EQUAL(hosts_given_up(hosts), &hosts->clients[0]);
	hosts_destroy(hosts);
	json_decref(json);
}

/* Each host is compared with what it was; as long as it was not asked there is nothing to say. */
static void other_hosts_than_before_are_named(void)
{
	static const struct program program = {.sha256 = "00"};
	json_t *json, *said, *was, *differences = json_array();
	struct hosts *hosts = make_three(&json, "", "");
	struct problems problems = {0};

	hosts->programs = &program;
	hosts->server.facts = json_pack("{ss ss}", "kernel", "6.1", "boot_id", "1");
	hosts->clients[1].facts = json_pack("{ss}", "kernel", "6.18");
	said = hosts_to_json(hosts);
	was = json_deep_copy(said);
	hosts_differ(hosts, was, differences);
	CU_ASSERT_EQUAL(json_array_size(differences), 0);
	json_object_set_new(hosts->server.facts, "boot_id", json_string("2"));
	json_object_set_new(hosts->clients[1].facts, "kernel", json_string("6.19"));
	hosts_differ(hosts, was, differences);
	differ_say(differences, &problems);
	CU_ASSERT_STRING_EQUAL(problems.text,
			       "kernel of client 2 (c): was \"6.18\", is now \"6.19\"\n");
	json_decref(differences);
	json_decref(said);
	json_decref(was);
	hosts_destroy(hosts);
	json_decref(json);
}

static void who_is_busy_there_is_said(void)
{
	json_t *json, *busy;
	struct hosts *hosts = make_three(&json, "", "");
	char text[512] = "";
	FILE *to = fmemopen(text, sizeof(text), "w");

	hosts->server.busy = json_pack("{sf sb s[]}", "cpus", 0.05, "disturbed", 0, "who");
	CU_ASSERT_FALSE(hosts_disturbed(hosts));
	hosts->clients[0].busy = json_pack("{sf sb s[{si ss sf}]}", "cpus", 1.5, "disturbed", 1,
					   "who", "pid", 7, "name", "cc", "cpus", 1.0);
	CU_ASSERT(hosts_disturbed(hosts));
	busy = hosts_busy(hosts);
	CU_ASSERT_EQUAL(json_object_size(busy), 2);
	hosts_print_busy(hosts, "weir run", to);
	fclose(to);
	CU_ASSERT_STRING_EQUAL(text, "weir run: others work on client 1 (b): 1.50 CPUs (cc, pid 7, "
				     "1.00)\n");
	json_decref(busy);
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
	{"a machine with one role gives its first cores, the operating system's last",
	 a_machine_of_its_own_gives_its_first_cores},
	{"hosts that are one machine share none of its CPUs, or are refused",
	 one_machine_is_shared_out},
	{"this host is one machine, however often it is named", this_host_is_one_machine},
	{"CPUs that are named are nobody else's", named_cpus_are_nobody_elses},
	{"of hosts that were not asked no CPUs are made up", unasked_hosts_have_no_cpus_yet},
	{"what is no topology is refused", a_wrong_topology_is_refused},
	{"losses count in a row, host by host", losses_are_counted_in_a_row},
	{"hosts that are not what they were are named", other_hosts_than_before_are_named},
	{"who works on other hosts is said", who_is_busy_there_is_said},
	{"kernels that differ and a skewed clock are said", says_how_hosts_differ},
	{"the end of a process is the same after its way through ssh", ends_survive_the_way},
};

SUITE_MAIN("run hosts", tests)
