#include "tests/conformance/rig.h"
#include "tests/conformance/rules.h"
#include "tests/support/suite.h"

#define X(function, sentence) {sentence, function},
static const struct suite_test tests[] = {RULES(X) FILE_RULES(X)};
static const struct suite_test file_tests[] = {FILE_RULES(X)};
#undef X

enum {
	TEST_COUNT = sizeof(tests) / sizeof(tests[0]),
	FILE_TEST_COUNT = sizeof(file_tests) / sizeof(file_tests[0]),
};

/* Where the host lacks what the stack needs, each test says so itself. */
static bool sends_files(void)
{
	static const struct tp_limits limits = {
		.conn_max = 4, .recv_bytes = 65536, .send_bytes = 65536};
	struct tp_error error;
	struct rig_pair pair;
	bool declared;

	if (rig_open(&limits, &limits, &pair, &error) != 0)
		return false;
	declared = pair.client->ops->capabilities & TP_SENDS_FILES;
	rig_close(&pair);
	return declared;
}

int main(int argc, char **argv)
{
	unsigned count = sends_files() ? TEST_COUNT : TEST_COUNT - FILE_TEST_COUNT;

	return suite_run(rig_name, tests, count, argc, argv);
}
