#include "tests/support/suite.h"
#include "tests/unit/run/experiment/rig.h"

#include <stdlib.h>
#include <string.h>

#define AXES                                                                                   \
	"\"factors\": {\"stack\": [\"epoll@loopback\", \"dpdk@memif\"], \"depth\": [1, 8]},\n" \
	"\"scenarios\": {\"small\": {\"response_bytes\": 64}, \"big\": {\"response_bytes\": "  \
	"4096}},\n"                                                                            \
	"\"variants\": {\"base\": {}, \"new\": {\"set\": {\"wait\": \"spin\"}}},\n"
#define WITH(claims) HEAD AXES "\"claims\": [" claims "]}"
#define NAME "{\"name\": \"c\", "
#define CELLS "\"of\": {\"depth\": 8}, \"against\": {\"depth\": 1}"

static const char *const good[] = {
	NAME "\"kind\": \"ratio\", " CELLS ", \"at_least\": 2}",
	NAME "\"kind\": \"ratio\", \"says\": \"Faster.\", \"metric\": \"service_p99_us\", "
	     "\"of\": {\"stack\": \"dpdk@memif\", \"scenario\": \"small\"}, "
	     "\"against\": {\"stack\": \"epoll\", \"variant\": \"base\"}, "
	     "\"at_least\": 0.5, \"at_most\": 0.5}",
	NAME "\"kind\": \"bound\", \"metric\": \"rss_peak_kib\", \"at_most\": 1000}",
	NAME "\"kind\": \"bound\", \"where\": {}, \"at_least\": 1}",
	NAME
	"\"kind\": \"bound\", \"where\": {\"depth\": 8, \"variant\": \"new\"}, \"at_least\": 1}",
	NAME "\"kind\": \"monotone\", \"along\": \"depth\", \"direction\": \"rising\"}",
	NAME "\"kind\": \"monotone\", \"along\": \"scenario\", \"direction\": \"falling\", "
	     "\"where\": {\"depth\": 1}}",
	NAME "\"kind\": \"equivalence\", " CELLS "}",
	NAME "\"kind\": \"equivalence\", " CELLS ", \"margin\": 0.05}",
};

/* The text of one claim, which stands in line 5 from column 12. */
static const struct {
	const char *claim;
	const char *expected;
} bad[] = {
	{"1", "5:12: a claim must be an object {...}\n"},
	{"{\"kind\": \"bound\", \"at_least\": 1}",
	 "5:12: 'name' is missing; accepted: 1 to 64 of a-z, 0-9 and '-', but no '-' first\n"},
	{"{\"name\": \"A b\", \"kind\": \"bound\", \"at_least\": 1}",
	 "5:21: 'name' is \"A b\"; accepted: 1 to 64 of a-z, 0-9 and '-', but no '-' first\n"},
	{"{\"name\": \"-x\", \"kind\": \"bound\", \"at_least\": 1}",
	 "5:21: 'name' is \"-x\"; accepted: 1 to 64 of a-z, 0-9 and '-', but no '-' first\n"},
	{NAME "\"kind\": \"bound\", \"at_least\": 1}, " NAME
	      "\"kind\": \"bound\", \"at_least\": 1}",
	 "5:68: there are two claims 'c'\n"},
	{NAME "\"at_least\": 1}",
	 "5:12: 'kind' is missing; accepted: ratio, bound, monotone or equivalence\n"},
	{NAME "\"kind\": \"bounds\"}",
	 "5:34: 'kind' is \"bounds\"; accepted: ratio, bound, monotone or equivalence\n"},
	{NAME "\"kind\": \"bound\", \"at_leas\": 1, \"at_most\": 1}",
	 "5:43: unknown key 'at_leas'; did you mean 'at_least'?\n"},
	{NAME "\"kind\": \"bound\", \"margin\": 1, \"at_most\": 1}",
	 "5:43: 'margin' does not go with the kind \"bound\"\n"},
	{NAME "\"kind\": \"bound\", \"says\": 1, \"at_most\": 1}",
	 "5:51: 'says' is 1; accepted: a sentence\n"},
	{NAME "\"kind\": \"bound\", \"metric\": \"p99\", \"at_most\": 1}",
	 "5:53: 'metric' is \"p99\"; accepted: rps, os_cpu_us_per_request, busy_us_per_request, "
	 "core_us_per_request, responses_per_write, bytes_per_write, syscalls_per_request, "
	 "segments_out_per_request, rss_peak_kib, service_p50_us, service_p99_us, "
	 "service_p999_us, intended_p50_us or intended_p99_us\n"},
	/* Bounds. */
	{NAME "\"kind\": \"bound\"}",
	 "5:12: neither 'at_least' nor 'at_most' is given: nothing is claimed\n"},
	{NAME "\"kind\": \"bound\", \"at_least\": 0}",
	 "5:55: 'at_least' is 0; accepted: a number above 0 and below 1e15\n"},
	{NAME "\"kind\": \"bound\", \"at_most\": 1e15}",
	 "5:54: 'at_most' is 1e15; accepted: a number above 0 and below 1e15\n"},
	{NAME "\"kind\": \"ratio\", " CELLS ", \"at_most\": \"2\"}",
	 "5:99: 'at_most' is \"2\"; accepted: a number above 0 and below 1e15\n"},
	{NAME "\"kind\": \"bound\", \"at_least\": 2, \"at_most\": 1}",
	 "5:69: 'at_most' is below 'at_least', which nothing can be\n"},
	/* Cells. */
	{NAME "\"kind\": \"ratio\", \"of\": {\"depth\": 8}, \"at_least\": 2}",
	 "5:12: 'against' is missing; accepted: an object of levels, like {\"depth\": 8}\n"},
	{NAME "\"kind\": \"equivalence\", \"of\": {}, \"against\": {\"depth\": 1}}",
	 "5:55: 'of' is {}; accepted: an object of levels, like {\"depth\": 8}\n"},
	{NAME "\"kind\": \"bound\", \"where\": [], \"at_least\": 1}",
	 "5:52: 'where' is []; accepted: an object of levels, like {\"depth\": 8}\n"},
	{NAME "\"kind\": \"equivalence\", \"of\": {\"depth\": 1}, \"against\": {\"depth\": 1}}",
	 "5:80: 'against' names the same cells as 'of'\n"},
	{NAME "\"kind\": \"bound\", \"where\": {\"dept\": 1}, \"at_least\": 1}",
	 "5:53: unknown key 'dept'; did you mean 'depth'?\n"},
	{NAME "\"kind\": \"bound\", \"where\": {\"workers\": 1}, \"at_least\": 1}",
	 "5:53: 'workers' does not vary, so no claim can be made by it\n"},
	{NAME "\"kind\": \"bound\", \"where\": {\"depth\": 2}, \"at_least\": 1}",
	 "5:62: 'depth' never has this level, so no claim can be made on it\n"},
	{NAME "\"kind\": \"bound\", \"where\": {\"depth\": \"x\"}, \"at_least\": 1}",
	 "5:62: 'depth' is \"x\", but a whole number from 1 to 1024 is accepted\n"},
	{NAME "\"kind\": \"bound\", \"where\": {\"variant\": \"neww\"}, \"at_least\": 1}",
	 "5:64: unknown variant 'neww'; did you mean 'new'?\n"},
	{NAME "\"kind\": \"bound\", \"where\": {\"scenario\": 1}, \"at_least\": 1}",
	 "5:65: 'scenario' is 1; accepted: the name of a level\n"},
	/* A course. */
	{NAME "\"kind\": \"monotone\", \"direction\": \"rising\"}",
	 "5:12: 'along' is missing; accepted: the name of what varies, like \"depth\"\n"},
	{NAME "\"kind\": \"monotone\", \"along\": 8, \"direction\": \"rising\"}",
	 "5:55: 'along' is 8; accepted: the name of what varies, like \"depth\"\n"},
	{NAME "\"kind\": \"monotone\", \"along\": \"workers\", \"direction\": \"rising\"}",
	 "5:55: 'workers' does not vary, so no claim can be made by it\n"},
	{NAME "\"kind\": \"monotone\", \"along\": \"detph\", \"direction\": \"rising\"}",
	 "5:55: unknown axis 'detph'; did you mean 'depth'?\n"},
	{NAME "\"kind\": \"monotone\", \"along\": \"depth\"}",
	 "5:12: 'direction' is missing; accepted: rising or falling\n"},
	{NAME "\"kind\": \"monotone\", \"along\": \"depth\", \"direction\": \"rising\", \"where\": "
	      "{\"depth\": 8}}",
	 "5:97: 'depth' is what the claim goes along; 'where' cannot hold it\n"},
	{NAME "\"kind\": \"equivalence\", " CELLS ", \"margin\": 2}",
	 "5:104: 'margin' is 2; accepted: a share above 0, at most 1, like 0.02\n"},
};

/* The experiment with these claims; to be freed. */
static char *text_with(const char *claims)
{
	size_t bytes = sizeof(WITH("")) + strlen(claims);
	char *text = malloc(bytes);

	CU_ASSERT_FATAL(text != NULL);
	snprintf(text, bytes, "%s%s%s", HEAD AXES "\"claims\": [", claims, "]}");
	return text;
}

static void accepts_every_kind(void)
{
	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		char *text = text_with(good[i]);
		struct experiment *experiment = rig_read(text);

		CU_ASSERT_EQUAL(experiment->claim_count, 1);
		CU_ASSERT_EQUAL(experiment->claims_taken, 0);
		experiment_free(experiment);
		free(text);
	}
}

static void names_every_fault(void)
{
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *text = text_with(bad[i].claim);

		rig_expect_problems(text, NULL, bad[i].expected);
		free(text);
	}
	rig_expect_problems(HEAD AXES "\"claims\": {}}", NULL,
			    "5:11: 'claims' is {}; accepted: a list of at most 64 claims\n");
}

static void levels_are_written_one_way(void)
{
	char *text = text_with(good[1]);
	struct experiment *experiment = rig_read(text);
	json_t *claim = json_array_get(json_object_get(experiment->json, "claims"), 0);
	json_t *against = json_object_get(claim, "against");

	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(against, "stack")),
			       "epoll@loopback");
	experiment_free(experiment);
	free(text);
}

/* Two claims on a level of depth, one along it and one on neither. */
static void leaves_out_what_the_command_line_took_away(void)
{
	static const char claims[] =
		"{\"name\": \"a\", \"kind\": \"bound\", \"where\": {\"depth\": 1}, \"at_least\": "
		"1}, "
		"{\"name\": \"b\", \"kind\": \"bound\", \"where\": {\"depth\": 8}, \"at_least\": "
		"1}, "
		"{\"name\": \"c\", \"kind\": \"monotone\", \"along\": \"depth\", "
		"\"direction\": \"rising\"}, "
		"{\"name\": \"d\", \"kind\": \"bound\", \"at_least\": 1}";
	struct experiment_changes changes = {.overrides = {"depth=8"}, .override_count = 1};
	char *text = text_with(claims), *kept;
	struct problems problems;
	struct experiment *experiment = rig_read_changed(text, &changes, &problems), *again;

	CU_ASSERT_FATAL(experiment != NULL);
	CU_ASSERT_EQUAL(experiment->claim_count, 2);
	CU_ASSERT_EQUAL(experiment->claims_taken, 2);
	/* So what is in effect can be read as an experiment again. */
	kept = json_dumps(experiment->json, 0);
	again = rig_read(kept);
	CU_ASSERT_EQUAL(again->claim_count, 2);
	CU_ASSERT_EQUAL(again->claims_taken, 0);
	experiment_free(again);
	experiment_free(experiment);
	free(kept);
	free(text);
}

static const struct suite_test tests[] = {
	{"every kind of claim is accepted", accepts_every_kind},
	{"each fault of a claim is named with its place and what is accepted", names_every_fault},
	{"levels in a claim become what cells are called", levels_are_written_one_way},
	{"claims on levels that the command line took away are left out",
	 leaves_out_what_the_command_line_took_away},
};

SUITE_MAIN("run claim_judge", tests)
