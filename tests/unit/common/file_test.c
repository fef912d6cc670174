#include "apps/common/file.h"
#include "apps/common/json.h"

#include "tests/support/suite.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static char path[96];

static void enter_folder(void)
{
	snprintf(folder, sizeof(folder), "/tmp/weir-file-test-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/result.json", folder);
}

static unsigned files_in_folder(void)
{
	DIR *dir = opendir(folder);
	unsigned count = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

static void leave_folder(void)
{
	unlink(path);
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

/* Whether the file holds exactly this. */
static bool holds(const char *text)
{
	struct tp_error error;
	size_t bytes;
	char *data;
	bool same;

	if (file_read(path, 1 << 20, &data, &bytes, &error) < 0)
		return false;
	same = bytes == strlen(text) && memcmp(data, text, bytes) == 0;
	free(data);
	return same;
}

static void test_whole(void)
{
	struct tp_error error;

	enter_folder();
	CU_ASSERT_EQUAL(file_write(path, "one", 3, &error), 0);
	CU_ASSERT_TRUE(holds("one"));
	CU_ASSERT_EQUAL(file_write(path, "other", 5, &error), 0);
	CU_ASSERT_TRUE(holds("other"));
	CU_ASSERT_EQUAL(files_in_folder(), 1);
	leave_folder();
}

static void test_invisible_until_committed(void)
{
	struct tp_error error;
	struct file file;

	enter_folder();
	CU_ASSERT_EQUAL(file_write(path, "old", 3, &error), 0);
	CU_ASSERT_EQUAL_FATAL(file_begin(&file, path, &error), 0);
	fputs("new", file.stream);
	fflush(file.stream);
	CU_ASSERT_TRUE(holds("old"));
	file_abandon(&file);
	CU_ASSERT_TRUE(holds("old"));
	CU_ASSERT_EQUAL(files_in_folder(), 1);
	leave_folder();
}

/* A limit on the size of files stands for the full disk: the kernel refuses in the same place. */
static void test_full_disk(void)
{
	struct rlimit before, small;
	static char large[200000];
	struct tp_error error;
	json_t *array;
	int rc;

	enter_folder();
	CU_ASSERT_EQUAL(file_write(path, "old", 3, &error), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small = (struct rlimit){.rlim_cur = 65536, .rlim_max = before.rlim_max};
	CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &small), 0);
	memset(large, 'x', sizeof(large));
	rc = file_write(path, large, sizeof(large), &error);
	CU_ASSERT_EQUAL(rc, -EFBIG);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, path));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "file size limit"));
	array = json_array();
	for (unsigned i = 0; i < 50000; i++)
		json_array_append_new(array, json_integer(i));
	CU_ASSERT_EQUAL(json_write_file(path, array, 0, &error), -EFBIG);
	json_decref(array);
	setrlimit(RLIMIT_FSIZE, &before);
	CU_ASSERT_TRUE(holds("old"));
	CU_ASSERT_EQUAL(files_in_folder(), 1);
	leave_folder();
}

static void test_device_full(void)
{
	struct tp_error error;
	struct file file;

	enter_folder();
	CU_ASSERT_EQUAL_FATAL(file_begin(&file, path, &error), 0);
	/* /dev/full refuses every byte with ENOSPC, as a full disk does. */
	CU_ASSERT_PTR_NOT_NULL_FATAL(freopen("/dev/full", "w", file.stream));
	fputs("new", file.stream);
	CU_ASSERT_EQUAL(file_commit(&file, &error), -ENOSPC);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "free some space"));
	CU_ASSERT_EQUAL(files_in_folder(), 0);
	leave_folder();
}

static void test_no_folder(void)
{
	struct tp_error error;

	CU_ASSERT_EQUAL(file_write("/nowhere/at/all/result.json", "x", 1, &error), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "/nowhere/at/all/result.json"));
}

static void test_no_regular_file(void)
{
	struct tp_error error;
	struct stat about;

	enter_folder();
	CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0600), 0);
	CU_ASSERT_EQUAL(file_write(path, "x", 1, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, path));
	CU_ASSERT(lstat(path, &about) == 0 && S_ISFIFO(about.st_mode));
	unlink(path);
	CU_ASSERT_EQUAL_FATAL(symlink("/dev/null", path), 0);
	CU_ASSERT_EQUAL(file_check(path, &error), -EINVAL);
	CU_ASSERT(lstat(path, &about) == 0 && S_ISLNK(about.st_mode));
	CU_ASSERT_EQUAL(files_in_folder(), 1);
	leave_folder();
}

static void test_read_bound(void)
{
	struct tp_error error;
	size_t bytes;
	char *data;

	enter_folder();
	CU_ASSERT_EQUAL(file_write(path, "0123456789", 10, &error), 0);
	CU_ASSERT_EQUAL(file_read(path, 9, &data, &bytes, &error), -EFBIG);
	CU_ASSERT_EQUAL(file_read(path, 10, &data, &bytes, &error), 0);
	CU_ASSERT_TRUE(bytes == 10 && data[10] == '\0');
	free(data);
	CU_ASSERT_TRUE(file_read(folder, 10, &data, &bytes, &error) < 0);
	leave_folder();
}

/* A pipe to which nobody writes would keep its reader for ever. */
static void test_read_of_pipe(void)
{
	struct tp_error error;
	size_t bytes;
	char *data;

	enter_folder();
	CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0600), 0);
	CU_ASSERT_EQUAL(file_read(path, 10, &data, &bytes, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "no regular file"));
	CU_ASSERT_EQUAL(file_open("/dev/zero"), -EINVAL);
	leave_folder();
}

static void test_matches(void)
{
	char pattern[FILE_PATH_BYTES + 16];
	struct tp_error error;

	enter_folder();
	CU_ASSERT_EQUAL(file_write(path, "x", 1, &error), 0);
	snprintf(pattern, sizeof(pattern), "%s/{nothing,*}", folder);
	CU_ASSERT_TRUE(file_matches(pattern));
	snprintf(pattern, sizeof(pattern), "%s/{nothing,none*}", folder);
	CU_ASSERT_FALSE(file_matches(pattern));
	leave_folder();
}

static const struct suite_test tests[] = {
	{"a file is replaced whole and leaves nothing beside it", test_whole},
	{"what is not committed is never seen", test_invisible_until_committed},
	{"a file too large for its limit leaves the old one", test_full_disk},
	{"a full device is named and leaves nothing", test_device_full},
	{"a folder that is not there is named", test_no_folder},
	{"a device, a pipe or a link is refused and stays", test_no_regular_file},
	{"a file larger than the bound is refused, one of its size is read", test_read_bound},
	{"what is no regular file is not read, and keeps nobody waiting", test_read_of_pipe},
	{"a pattern matches what is there and nothing else", test_matches},
};

SUITE_MAIN("file", tests)
