#include "apps/common/veth.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void tells_devices_apart(void)
{
	CU_ASSERT(veth_is_device("veth"));
	CU_ASSERT(veth_is_device("veth:7"));
	CU_ASSERT_FALSE(veth_is_device(""));
	CU_ASSERT_FALSE(veth_is_device("loopback"));
	CU_ASSERT_FALSE(veth_is_device("vethos"));
}

static void reads_ids(void)
{
	static const char longest[] = "veth:abcdefghijklmnopqrstuvwxyz-01234";
	struct tp_error error;
	char id[VETH_ID_BYTES];

	CU_ASSERT_EQUAL(veth_read_id("veth", id, &error), 0);
	CU_ASSERT_STRING_EQUAL(id, "0");
	CU_ASSERT_EQUAL(veth_read_id("veth:Run-7", id, &error), 0);
	CU_ASSERT_STRING_EQUAL(id, "Run-7");
	CU_ASSERT_EQUAL(strlen(longest) - 5, VETH_ID_BYTES - 1);
	CU_ASSERT_EQUAL(veth_read_id(longest, id, &error), 0);
	CU_ASSERT_STRING_EQUAL(id, longest + 5);
}

static void refuses_bad_ids(void)
{
	static const char *const bad[] = {
		"veth:",     "veth:a b", "veth:a/b",	  "veth:..",
		"veth:a\nb", "veth:a_b", "veth:\xC3\xA4", "veth:abcdefghijklmnopqrstuvwxyz-012345",
	};
	char id[VETH_ID_BYTES] = "kept";
	struct tp_error error;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		error.text[0] = '\0';
		CU_ASSERT_EQUAL(veth_read_id(bad[i], id, &error), -EINVAL);
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "letters, digits and '-'"));
		CU_ASSERT_STRING_EQUAL(id, "kept");
	}
}

static void names_fit(void)
{
	char id[VETH_ID_BYTES], name[VETH_NAMESPACE_BYTES];

	CU_ASSERT_STRING_EQUAL(veth_server_namespace("7", name), "weir-7-server");
	memset(id, 'x', sizeof(id) - 1);
	id[sizeof(id) - 1] = '\0';
	CU_ASSERT_EQUAL(strlen(veth_server_namespace(id, name)), 5 + strlen(id) + 7);
	CU_ASSERT(strlen(veth_interface) < 16);
}

/* Which network namespace this thread is in, by its inode. */
static ino_t where(void)
{
	struct stat about = {0};

	CU_ASSERT_EQUAL(stat("/proc/thread-self/ns/net", &about), 0);
	return about.st_ino;
}

static void goes_there_and_back(void)
{
	char id[VETH_ID_BYTES], advice[64];
	struct tp_error error;
	struct veth veth;
	ino_t home = where();

	if (veth_probe(&error) < 0) {
		CU_ASSERT(strlen(error.text) > 0);
		suite_skip("%.200s", error.text);
		return;
	}
	CU_ASSERT_EQUAL(where(), home);
	snprintf(id, sizeof(id), "unit-%d", (int)getpid());
	snprintf(advice, sizeof(advice), "weir serve --stack STACK@veth:%s", id);
	CU_ASSERT_EQUAL_FATAL(veth_make(&veth, id, &error), 0);
	CU_ASSERT_NOT_EQUAL(where(), home);
	CU_ASSERT_EQUAL(veth_remove(&veth, &error), 0);
	CU_ASSERT_EQUAL(where(), home);
	CU_ASSERT_EQUAL(veth_enter_client(id, &error), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, advice));
	CU_ASSERT_EQUAL(where(), home);
}

static const struct suite_test tests[] = {
	{"a veth device is told from others", tells_devices_apart},
	{"an ID is read, and is 0 if there is none", reads_ids},
	{"an ID with other characters, without any or with too many is refused", refuses_bad_ids},
	{"the longest ID fits into every name", names_fit},
	{"who makes a pair is in its namespace until it is removed", goes_there_and_back},
};

SUITE_MAIN("common veth", tests)
