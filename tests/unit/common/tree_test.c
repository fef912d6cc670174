#include "apps/common/tree.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64];

static const char *in_top(const char *name, char path[128])
{
	snprintf(path, 128, "%s/%s", top, name);
	return path;
}

static void set_up(void)
{
	strcpy(top, "/tmp/weir-tree-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
}

static void make_file(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	CU_ASSERT_FATAL(fd >= 0);
	close(fd);
}

static bool exists(const char *path)
{
	struct stat about;

	return lstat(path, &about) == 0;
}

static void folders_are_made_with_those_above(void)
{
	char path[128];
	struct stat about;

	set_up();
	CU_ASSERT_EQUAL(tree_make(in_top("a/b//c", path), 0700), 0);
	CU_ASSERT_EQUAL(tree_make(path, 0700), 0);
	CU_ASSERT_EQUAL(stat(in_top("a/b", path), &about), 0);
	CU_ASSERT(S_ISDIR(about.st_mode));
	CU_ASSERT_EQUAL(about.st_mode & 0777, 0700);
	CU_ASSERT_EQUAL(tree_make(in_top("a/d/", path), 0700), 0);
	CU_ASSERT(exists(path));
	CU_ASSERT_EQUAL(tree_remove(top), 0);
	CU_ASSERT_FALSE(exists(top));
}

static void what_is_in_the_way_is_an_error(void)
{
	char path[128], longest[PATH_MAX + 2];

	set_up();
	make_file(in_top("file", path));
	CU_ASSERT_EQUAL(tree_make(path, 0700), -ENOTDIR);
	CU_ASSERT_EQUAL(tree_make(in_top("file/below", path), 0700), -ENOTDIR);
	CU_ASSERT_EQUAL(tree_make("", 0700), -ENOENT);
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	CU_ASSERT_EQUAL(tree_make(longest, 0700), -ENAMETOOLONG);
	CU_ASSERT_EQUAL(tree_remove(top), 0);
}

static void a_link_is_removed_and_not_followed(void)
{
	char kept[128], file[128], gone[128], link[128];

	set_up();
	CU_ASSERT_EQUAL(tree_make(in_top("kept", kept), 0700), 0);
	make_file(in_top("kept/file", file));
	CU_ASSERT_EQUAL(tree_make(in_top("gone/below", gone), 0700), 0);
	CU_ASSERT_EQUAL(symlink(kept, in_top("gone/below/link", link)), 0);
	CU_ASSERT_EQUAL(tree_remove(in_top("gone", gone)), 0);
	CU_ASSERT_FALSE(exists(gone));
	CU_ASSERT(exists(file));
	/* the path itself may be one */
	CU_ASSERT_EQUAL(symlink(kept, in_top("link", link)), 0);
	CU_ASSERT_EQUAL(tree_remove(link), 0);
	CU_ASSERT_FALSE(exists(link));
	CU_ASSERT(exists(file));
	CU_ASSERT_EQUAL(tree_remove(top), 0);
}

static void what_is_not_there_is_removed_already(void)
{
	char path[128];

	set_up();
	CU_ASSERT_EQUAL(tree_remove(in_top("nothing", path)), 0);
	make_file(in_top("file", path));
	CU_ASSERT_EQUAL(tree_remove(path), 0);
	CU_ASSERT_FALSE(exists(path));
	CU_ASSERT_EQUAL(tree_remove(top), 0);
}

static const struct suite_test tests[] = {
	{"a folder is made with those above it, and may be there already",
	 folders_are_made_with_those_above},
	{"a file in the way, or a path that is too long, is an error",
	 what_is_in_the_way_is_an_error},
	{"a link is removed and not followed", a_link_is_removed_and_not_followed},
	{"what is not there counts as removed", what_is_not_there_is_removed_already},
};

SUITE_MAIN("common tree", tests)
