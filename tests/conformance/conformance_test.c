#include "tests/conformance/rig.h"
#include "tests/conformance/rules.h"
#include "tests/support/suite.h"

static const struct suite_test tests[] = {
#define X(function, sentence) {sentence, function},
	RULES(X)
#undef X
};

int main(int argc, char **argv)
{
	return suite_run(rig_name, tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
