#include "apps/run/store/directory.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAMES = 100 }; /* as many as create tries */

static char parent[64];
static struct directory made[NAMES];

static void begin(void)
{
	snprintf(parent, sizeof(parent), "/tmp/weir-directory-test-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(parent));
}

static void taken_names_are_passed_over(void)
{
	struct directory late;

	begin();
	for (unsigned i = 0; i < NAMES; i++) {
		CU_ASSERT_EQUAL_FATAL(directory_create(&made[i], parent, "x", 0), 0);
		CU_ASSERT_EQUAL(access(made[i].partial, F_OK), 0);
		CU_ASSERT_TRUE(i == 0 || strcmp(made[i].path, made[i - 1].path) != 0);
	}
	/* no name is left: it must not take another's folder for its own */
	CU_ASSERT_EQUAL(directory_create(&late, parent, "x", 0), -EEXIST);
	CU_ASSERT_STRING_EQUAL(late.partial, "");
	CU_ASSERT_PTR_NOT_NULL(strstr(late.error.text, parent));
	for (unsigned i = 0; i < NAMES; i++)
		rmdir(made[i].partial);
	CU_ASSERT_EQUAL(rmdir(parent), 0);
}

static void a_folder_that_cannot_be_made_has_no_name(void)
{
	char name[300];
	struct directory directory;

	begin();
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	CU_ASSERT_EQUAL(directory_create(&directory, parent, name, 0), -ENAMETOOLONG);
	CU_ASSERT_STRING_EQUAL(directory.partial, "");
	CU_ASSERT_EQUAL(rmdir(parent), 0);
}

static const struct suite_test tests[] = {
	{"a name that is taken is passed over, and no folder is shared",
	 taken_names_are_passed_over},
	{"a folder that cannot be made leaves no name behind",
	 a_folder_that_cannot_be_made_has_no_name},
};

SUITE_MAIN("directory", tests)
