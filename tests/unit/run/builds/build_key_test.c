#include "apps/run/builds/build_key.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One processor; its frequency differs from look to look. */
static const char processor[] = "processor\t: 0\n"
				"vendor_id\t: GenuineIntel\n"
				"model name\t: %s\n"
				"cpu MHz\t\t: %s\n"
				"flags\t\t: fpu sse2 %s\n"
				"\n"
				"processor\t: 1\n"
				"flags\t\t: of no account\n";

static void write_cpuinfo(char path[32], const char *model, const char *mhz, const char *flags)
{
	FILE *file;
	int fd;

	strcpy(path, "/tmp/weir-cpuinfo-XXXXXX");
	fd = mkstemp(path);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fprintf(file, processor, model, mhz, flags);
	fclose(file);
}

static struct build_key some_key(void)
{
	return (struct build_key){.commit = "1234",
				  .diff_sha256 = "",
				  .options = "",
				  .c_args = "",
				  .compiler = "cc 12",
				  .cpuinfo = "/nowhere"};
}

/* Whether the same key comes of two hosts' processors. */
static bool is_same(const struct build_key *key, const char *one, const char *other)
{
	char first[SHA256_HEX_BYTES], second[SHA256_HEX_BYTES];
	struct build_key there = *key;
	struct tp_error error;

	there.cpuinfo = one;
	CU_ASSERT_EQUAL_FATAL(build_key_make(&there, first, &error), 0);
	there.cpuinfo = other;
	CU_ASSERT_EQUAL_FATAL(build_key_make(&there, second, &error), 0);
	return strcmp(first, second) == 0;
}

static void a_program_for_the_processor_at_hand_is_of_that_processor(void)
{
	char one[32], faster[32], richer[32], other[32];
	struct build_key key = some_key(), native;
	struct tp_error error;
	char hex[SHA256_HEX_BYTES];
	json_t *own = json_pack("{s[s]}", "setup", "-Dc_link_args=-O2 -march=native");

	write_cpuinfo(one, "Xeon", "2000.0", "avx2");
	write_cpuinfo(faster, "Xeon", "2900.1", "avx2");
	write_cpuinfo(richer, "Xeon", "2000.0", "avx2 avx512f");
	write_cpuinfo(other, "Core", "2000.0", "avx2");
	CU_ASSERT(is_same(&key, one, richer));
	CU_ASSERT_EQUAL(build_key_make(&key, hex, &error), 0); /* which is not read then */
	native = key;
	native.c_args = "-O3 -march=native";
	CU_ASSERT(is_same(&native, one, faster));
	CU_ASSERT_FALSE(is_same(&native, one, richer));
	CU_ASSERT_FALSE(is_same(&native, one, other));
	native = key;
	native.c_args = "-mtune=native";
	CU_ASSERT_FALSE(is_same(&native, one, other));
	native = key;
	native.own = own;
	CU_ASSERT_FALSE(is_same(&native, one, richer));
	CU_ASSERT_EQUAL(build_key_make(&native, hex, &error), -ENOENT);
	json_decref(own);
	unlink(one);
	unlink(faster);
	unlink(richer);
	unlink(other);
}

static void what_is_let_through_belongs_to_the_key(void)
{
	static const char *const names[] = {"PKG_CONFIG_PATH", "LD_LIBRARY_PATH"};
	char before[SHA256_HEX_BYTES], after[SHA256_HEX_BYTES];
	struct build_key key = some_key();
	struct tp_error error;

	for (unsigned i = 0; i < 2; i++) {
		char *was = getenv(names[i]) ? strdup(getenv(names[i])) : NULL;

		setenv(names[i], "/opt/one", 1);
		CU_ASSERT_EQUAL(build_key_make(&key, before, &error), 0);
		setenv(names[i], "/opt/two", 1);
		CU_ASSERT_EQUAL(build_key_make(&key, after, &error), 0);
		CU_ASSERT_NOT_EQUAL(strcmp(before, after), 0);
		if (was)
			setenv(names[i], was, 1);
		else
			unsetenv(names[i]);
		free(was);
	}
}

static void what_leads_the_compiler_elsewhere_is_not_let_through(void)
{
	static const char *const dropped[] = {
		"CC=x",
		"CFLAGS=x",
		"CPATH=x",
		"C_INCLUDE_PATH=x",
		"LIBRARY_PATH=x",
		"GCC_EXEC_PREFIX=x",
		"COMPILER_PATH=x",
		"LD_PRELOAD=x",
		"LD_RUN_PATH=x",
		"PKG_CONFIG_LIBDIR=x",
		"GIT_DIR=x",
		"LDFLAGS=x",
		"COMPILER_PATH=",
	};
	static const char *const kept[] = {
		"PATH=x",	"HOME=x", "PKG_CONFIG_PATH=x", "LD_LIBRARY_PATH=x", "CCACHE=",
		"CFLAGS_MINE=", "LD=x",	  "TMPDIR=/tmp",
	};

	for (unsigned i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
		CU_ASSERT_FALSE(build_key_lets_through(dropped[i]));
	for (unsigned i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		CU_ASSERT(build_key_lets_through(kept[i]));
}

static const struct suite_test tests[] = {
	{"a program made for the processor at hand is that kind of processor's alone",
	 a_program_for_the_processor_at_hand_is_of_that_processor},
	{"what of the environment is let through belongs to the key",
	 what_is_let_through_belongs_to_the_key},
	{"what leads the compiler elsewhere is not let through",
	 what_leads_the_compiler_elsewhere_is_not_let_through},
};

SUITE_MAIN("run build_key", tests)
