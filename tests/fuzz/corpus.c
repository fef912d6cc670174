/*
 * Runs a fuzz target over the files of a folder, as a test of its own: corpus FOLDER [WORD...]
 *
 * Words, if any, are parts of names: only such files are run. A file's name goes out before it is
 * run, for a target ends the process where it finds something wrong.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 64 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_bytes);

static int run_file(const char *folder, const char *name)
{
	static uint8_t bytes[FILE_BYTES_MAX];
	char path[4096];
	size_t count;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "rb");
	if (!file)
		return -1;
	count = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	return LLVMFuzzerTestOneInput(bytes, count);
}

static bool is_wanted(const char *name, int word_count, char **words)
{
	for (int i = 0; i < word_count; i++)
		if (strstr(name, words[i]))
			return name[0] != '.';
	return word_count == 0 && name[0] != '.';
}

/* Runs one file, as a line of TAP; whether it is right. */
static bool run_named(const char *folder, const char *name, unsigned number)
{
	int rc;

	printf("# %s\n", name);
	fflush(stdout);
	rc = run_file(folder, name);
	printf("%s %u - %s\n", rc ? "not ok" : "ok", number, name);
	return rc == 0;
}

int main(int argc, char **argv)
{
	struct dirent **names;
	int count = argc > 1 ? scandir(argv[1], &names, NULL, alphasort) : -1;
	unsigned number = 0;
	bool failed = false;

	if (count < 0) {
		fprintf(stderr, "usage: corpus FOLDER [WORD...]\n");
		return 4;
	}
	for (int i = 0; i < count; i++) {
		if (is_wanted(names[i]->d_name, argc - 2, argv + 2))
			failed |= !run_named(argv[1], names[i]->d_name, ++number);
		free(names[i]);
	}
	free(names);
	printf("1..%u\n", number);
	return failed;
}
