#include "dataplane/core/hugepages.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

/* The number behind a key of /proc/meminfo; 0 if there is none. */
static unsigned long meminfo(const char *key)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long value = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ':')
			sscanf(line + strlen(key) + 1, "%lu", &value);
	if (file)
		fclose(file);
	return value;
}

/* /proc/meminfo knows the pages of the default size, and all sizes together (Hugetlb). */
static void counts_every_size(void)
{
	unsigned long page_kib = meminfo("Hugepagesize"), all_mib = meminfo("Hugetlb") / 1024;
	struct hugepages pages = hugepages_count();

	if (page_kib == 0) {
		suite_skip("this kernel has no hugepages");
		return;
	}
	CU_ASSERT_EQUAL(pages.free_mib + pages.used_mib, all_mib);
	CU_ASSERT(pages.free_mib <= all_mib);
}

static const struct suite_test tests[] = {
	{"hugepages of every size are counted", counts_every_size},
};

SUITE_MAIN("core hugepages", tests)
