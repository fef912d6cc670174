#include "apps/run/plan/plan.h"
#include "apps/sim/random.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder of its own for each test, and the file in it. */
static char folder[64];
static char path[128];

static void begin(void)
{
	strcpy(folder, "/tmp/weir-experiment-file-XXXXXX");
	CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/experiment.json", folder);
}

static void end(void)
{
	unlink(path);
	rmdir(path);
	rmdir(folder);
}

static void write_bytes(const char *bytes, size_t count)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_FATAL(write(fd, bytes, count) == (ssize_t)count);
	close(fd);
}

#define WHOLE                                                    \
	"{\"schema\": \"weir.experiment/1\", \"name\": \"x\",\n" \
	" \"fixed\": {\"stack\": \"epoll@loopback\"}}"

/* Expects that the folder's experiment is read, or for a text, refused with that in it. */
static void expect(const char *refusal)
{
	struct problems problems = {0};
	struct experiment *experiment = NULL;
	int code = experiment_read(folder, NULL, &experiment, &problems);

	CU_ASSERT_EQUAL(code, refusal ? -EINVAL : 0);
	if (refusal)
		CU_ASSERT_PTR_NOT_NULL(strstr(problems.text, refusal));
	if ((code == 0) != !refusal || (refusal && !strstr(problems.text, refusal)))
		printf("# expected: %s\n# got: %s\n", refusal ? refusal : "", problems.text);
	if (code == 0)
		experiment_free(experiment);
}

static void expect_bytes(const char *bytes, size_t count, const char *refusal)
{
	write_bytes(bytes, count);
	expect(refusal);
}

static void every_kind_of_text_has_a_defined_result(void)
{
	static const char crlf[] = "{\"schema\": \"weir.experiment/1\", \"name\": \"x\",\r\n"
				   " \"fixed\": {\"stack\": \"epoll@loopback\"}}\r\n";
	static const char nul[] = "{\"schema\": \"weir.experiment/1\", \"name\": \"x\0y\"}";
	static const char behind[] = WHOLE "\0";

	begin();
	expect_bytes(WHOLE, strlen(WHOLE), NULL); /* without a newline at its end */
	expect_bytes(WHOLE "\n\n", strlen(WHOLE) + 2, NULL);
	expect_bytes(crlf, strlen(crlf), NULL);
	expect_bytes("", 0, "experiment.json:1:1: the file is empty");
	expect_bytes(nul, sizeof(nul) - 1, "experiment.json:1:");
	expect_bytes(behind, sizeof(behind) - 1, "experiment.json:2:");
	expect_bytes("\xef\xbb\xbf" WHOLE, strlen(WHOLE) + 3,
		     "experiment.json:1:1: the file begins with a byte order mark");
	expect_bytes("\xff\xfe{\0}\0", 6, "experiment.json:1:1: ");
	end();
}

static void what_is_no_plain_file_is_refused(void)
{
	begin();
	expect("No such file or directory");
	CU_ASSERT_FATAL(mkdir(path, 0700) == 0);
	expect("not a regular file");
	CU_ASSERT_FATAL(rmdir(path) == 0);
	CU_ASSERT_FATAL(mkfifo(path, 0600) == 0);
	expect("not a regular file");
	end();
}

static void a_file_that_may_not_be_read_is_named(void)
{
	pid_t nobody = 65534;

	if (geteuid() != 0) {
		suite_skip("only root can become somebody who may not read");
		return;
	}
	begin();
	write_bytes(WHOLE, strlen(WHOLE));
	CU_ASSERT_FATAL(chmod(folder, 0755) == 0 && chmod(path, 0) == 0);
	CU_ASSERT_FATAL(seteuid((uid_t)nobody) == 0);
	expect("Permission denied");
	CU_ASSERT_FATAL(seteuid(0) == 0);
	end();
}

static void a_folder_may_be_called_anything(void)
{
	static const char name[] = "/a b;$(touch x)'\"\n..";
	char plain[64];

	begin();
	strcpy(plain, folder);
	strcat(folder, name);
	CU_ASSERT_FATAL(mkdir(folder, 0700) == 0);
	snprintf(path, sizeof(path), "%s/experiment.json", folder);
	expect_bytes(WHOLE, strlen(WHOLE), NULL);
	end();
	rmdir(plain);
}

static void numbers_that_are_none_are_refused(void)
{
	static const char *const runs[] = {"NaN", "Infinity", "-Infinity", "1e400",
					   "08",  "+1",	      "0x10",	   "1.",
					   "-1",  "1.5",      "1e0",	   "99999999999999999999"};
	char text[256];

	begin();
	for (unsigned i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		int bytes = snprintf(text, sizeof(text),
				     "{\"schema\": \"weir.experiment/1\", \"name\": \"x\",\n"
				     "\"fixed\": {\"stack\": \"epoll\"}, \"runs\": %s}",
				     runs[i]);

		expect_bytes(text, (size_t)bytes, "experiment.json:2:");
	}
	end();
}

/* A newer schema is told by its version, whatever else is new in it. */
static void a_newer_schema_is_refused_by_its_version(void)
{
	static const char text[] = "{\"schema\": \"weir.experiment/2\", \"name\": \"x\", "
				   "\"fixed\": {\"stack\": \"epoll\"}, \"galaxies\": []}";

	begin();
	expect_bytes(text, strlen(text),
		     "1:12: 'schema' is \"weir.experiment/2\"; this version reads "
		     "\"weir.experiment/1\" only");
	end();
}

static void nesting_has_a_bound(void)
{
	enum { DEPTH = 100 * 1000 };
	char *text = malloc(DEPTH * 5);

	CU_ASSERT_FATAL(text != NULL);
	begin();
	memset(text, '[', DEPTH);
	memset(text + DEPTH, ']', DEPTH);
	expect_bytes(text, 2 * DEPTH, "maximum parsing depth reached");
	for (unsigned i = 0; i < DEPTH; i++)
		memcpy(text + 5 * i, "{\"a\":", 5);
	expect_bytes(text, 5 * DEPTH, "maximum parsing depth reached");
	free(text);
	end();
}

static const char full[] =
	"{\n \"schema\": \"weir.experiment/1\",\n \"name\": \"full\",\n \"question\": \"What?\",\n"
	" \"fixed\": {\"stack\": \"epoll@loopback\", \"client_workers\": \"same\", \"tls\": "
	"false},\n"
	" \"factors\": {\"delivery\": [\"immediate\", \"flush-at:512\"], \"wait\": [\"block\"]},\n"
	" \"scenarios\": {\"a\": {\"depth\": 1, \"request_bytes\": \"1KiB\"}, \"b\": {\"depth\": "
	"8}},\n"
	" \"variants\": {\"base\": {\"commit\": \"v1\", \"options\": \"-Da=b\", \"c_args\": "
	"\"-O2\"}, "
	"\"new\": {\"set\": {\"refill\": \"each\"}}},\n"
	" \"excludes\": [{\"scenario\": \"a\", \"variant\": \"new\"}, {\"depth\": 8, \"wait\": "
	"\"block\"}],\n"
	" \"runs\": 3, \"order\": \"random(7)\", \"seed\": 7, \"warmup\": \"0.5s\", \"duration\": "
	"\"2s\", \"form\": \"auto\"\n}\n";

/* Pieces that lead somewhere more often than single bytes do. */
static const char *const pieces[] = {
	"{",
	"}",
	"[",
	"]",
	",",
	":",
	"\"",
	"\\",
	"\n",
	"null",
	"true",
	"-1",
	"1e400",
	"0",
	"99999999999",
	"\"depth\": ",
	"\"all\"",
	"\"profiles\": [\"capacity\"], ",
	"\"worker_counts\": [1, 2], ",
	"\"scenarios\": {",
	"\"set\": {",
	"\\u0000",
	"\xff",
	"\xc3",
	"\"hosts\": {}, ",
};

/* Changes a few places: bytes overwritten, left out, doubled, or a piece put in. */
static size_t mutate(struct random *random, char *text, size_t bytes, size_t room)
{
	unsigned changes = 1 + (unsigned)random_below(random, 6);

	for (unsigned i = 0; i < changes && bytes > 0; i++) {
		size_t at = random_below(random, bytes), run = 1 + random_below(random, 20);
		const char *piece =
			pieces[random_below(random, sizeof(pieces) / sizeof(pieces[0]))];

		run = run > bytes - at ? bytes - at : run;
		switch (random_below(random, 4)) {
		case 0:
			text[at] = (char)random_below(random, 256);
			break;
		case 1:
			memmove(text + at, text + at + run, bytes - at - run);
			bytes -= run;
			break;
		case 2:
			if (bytes + run > room)
				break;
			memmove(text + at + run, text + at, bytes - at);
			bytes += run;
			break;
		default:
			run = strlen(piece);
			if (bytes + run > room)
				break;
			memmove(text + at + run, text + at, bytes - at);
			memcpy(text + at, piece, run);
			bytes += run;
		}
	}
	return bytes;
}

static struct topology two_cores = {
	.cpus = {.count = 2, .cpu = {0, 1}}, .core = {0, 1}, .cores = 2, .packages = 1, .nodes = 1};

/* What was accepted is planned, or refused with a problem. */
static void plan(const struct experiment *experiment)
{
	const struct plan_ground ground = {
		.topology = &two_cores, .socket_folder = "/tmp/ground", .port = 20000};
	struct problems problems = {0};
	struct plan *plan;

	if (plan_sketch(experiment, &ground, &plan, &problems) == 0)
		plan_free(plan);
	else
		CU_ASSERT(problems.count > 0);
}

/* Whether it is accepted; a refusal has at least one problem, and whole lines. */
static bool attempt(const char *text)
{
	struct problems problems = {0};
	struct experiment *experiment;

	if (experiment_compose("x", text, &experiment, &problems) == 0) {
		CU_ASSERT_EQUAL(problems.count, 0);
		plan(experiment);
		experiment_free(experiment);
		return true;
	}
	CU_ASSERT(problems.count > 0);
	CU_ASSERT(problems.text[0] && problems.text[strlen(problems.text) - 1] == '\n');
	return false;
}

static void no_mutation_of_the_text_is_too_much(void)
{
	enum { ROUNDS = 4000, ROOM = 4096 };
	struct random random = {.state = 20};
	unsigned accepted = 0;
	char text[ROOM];

	CU_ASSERT(attempt(full));
	for (unsigned i = 0; i < ROUNDS; i++) {
		size_t bytes = strlen(full);

		memcpy(text, full, bytes);
		bytes = mutate(&random, text, bytes, sizeof(text) - 1);
		text[bytes] = '\0';
		accepted += attempt(text);
	}
	CU_ASSERT(accepted < ROUNDS);
}

static const char *const values[] = {
	"null",
	"true",
	"false",
	"0",
	"-1",
	"1",
	"8",
	"1000000",
	"2.5",
	"\"\"",
	"\"all\"",
	"\"same\"",
	"\"spin\"",
	"\"a\"",
	"\"a.b\"",
	"\"random(9)\"",
	"\"balanced\"",
	"\"epoll\"",
	"\"uring@veth\"",
	"\"capacity\"",
	"[]",
	"{}",
	"[1, 2, 4]",
	"[\"all\"]",
	"[\"min-rtt\", \"pooled\"]",
	"{\"depth\": 8}",
	"{\"a\": {}}",
	"[{\"depth\": 8}]",
	"\"1KiB\"",
	"\"64\"",
	"\"across-nodes\"",
	"\"full\"",
	"\"HEAD~1\"",
	"\"-x\"",
	"\"echo\"",
	"\"http1\"",
	"\"/a\"",
};

static const char *const keys[] = {
	"depth",    "stack",	"workers",     "client_workers", "placement",	  "handler",
	"tls",	    "bare",	"scenarios",   "variants",	 "profiles",	  "worker_counts",
	"excludes", "scenario", "variant",     "commit",	 "set",		  "options",
	"form",	    "hosts",	"connections", "delivery",	 "response_kib",  "nothing",
	"protocol", "path",	"http_parser", "upstream",	 "server_config",
};

/* Replaces, takes out or adds something at a random place below the value. */
static void mutate_json(struct random *random, json_t *json)
{
	size_t at = random_below(random, json_is_object(json) ? json_object_size(json)
							      : json_array_size(json));
	const char *value = values[random_below(random, sizeof(values) / sizeof(values[0]))];
	json_t *other = json_loads(value, JSON_DECODE_ANY, NULL), *below = json_array_get(json, at);
	void *member = json_object_iter(json);

	for (size_t i = 0; member && i < at; i++)
		member = json_object_iter_next(json, member);
	if (member)
		below = json_object_iter_value(member);
	if ((json_is_object(below) || json_is_array(below)) && random_below(random, 4)) {
		mutate_json(random, below);
		json_decref(other);
	} else if (json_is_array(json)) {
		json_array_append_new(json, other);
	} else if (random_below(random, 2)) {
		json_object_set_new(
			json, keys[random_below(random, sizeof(keys) / sizeof(keys[0]))], other);
	} else if (member && random_below(random, 2)) {
		json_object_set_new(json, json_object_iter_key(member), other);
	} else {
		if (member)
			json_object_del(json, json_object_iter_key(member));
		json_decref(other);
	}
}

static void no_mutation_of_the_values_is_too_much(void)
{
	enum { ROUNDS = 4000 };
	struct random random = {.state = 21};
	unsigned accepted = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		json_t *json = json_loads(full, 0, NULL);
		unsigned changes = 1 + (unsigned)random_below(&random, 4);
		char *text;

		while (changes--)
			mutate_json(&random, json);
		text = json_dumps(json, JSON_INDENT(1));
		accepted += attempt(text);
		free(text);
		json_decref(json);
	}
	/* Neither all nor none: both ways are walked. */
	CU_ASSERT(accepted > ROUNDS / 100 && accepted < ROUNDS / 2);
}

static const struct suite_test tests[] = {
	{"an empty file, a NUL, a mark of byte order or foreign line ends have a defined result",
	 every_kind_of_text_has_a_defined_result},
	{"a folder, a FIFO or nothing in the file's place is refused",
	 what_is_no_plain_file_is_refused},
	{"a file that may not be read is named", a_file_that_may_not_be_read_is_named},
	{"an experiment's folder may be called anything", a_folder_may_be_called_anything},
	{"what is no number, or none in bounds, is refused by its place",
	 numbers_that_are_none_are_refused},
	{"a newer schema is refused by its version", a_newer_schema_is_refused_by_its_version},
	{"nesting has a bound", nesting_has_a_bound},
	{"thousands of mutations of the text are each read or refused",
	 no_mutation_of_the_text_is_too_much},
	{"thousands of mutations of its values are each planned or refused",
	 no_mutation_of_the_values_is_too_much},
};

SUITE_MAIN("run experiment file", tests)
