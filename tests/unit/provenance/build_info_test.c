#include "apps/provenance/build_info.h"
#include "tests/support/suite.h"

static void knows_what_is_unfit(void)
{
	CU_ASSERT_PTR_NULL(build_judge("none", "3", ""));
	CU_ASSERT_PTR_NULL(build_judge("none", "2", "-march=native  -g"));
	CU_ASSERT_PTR_NULL(build_judge("none", "0", "-O2"));
	CU_ASSERT_PTR_NULL(build_judge("none", "0", "-O0 -Ofast"));
	CU_ASSERT_PTR_NOT_NULL(build_judge("none", "0", ""));
	CU_ASSERT_PTR_NOT_NULL(build_judge("none", "s", ""));
	CU_ASSERT_PTR_NOT_NULL(build_judge("address", "3", ""));
	CU_ASSERT_PTR_NOT_NULL(build_judge("none", "3", "-fsanitize=thread"));
	CU_ASSERT_PTR_NOT_NULL(build_judge("none", "3", "-O2 -Og"));
	CU_ASSERT_PTR_NOT_NULL(build_judge("none", "3", "-O"));
}

static const struct suite_test tests[] = {
	{"a build with sanitizers or without optimization is unfit, whoever asked for it",
	 knows_what_is_unfit},
};

SUITE_MAIN("provenance build_info", tests)
