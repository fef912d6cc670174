/* Runs a fuzz target over the files of a folder, as a test of its own: corpus FOLDER */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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

int main(int argc, char **argv)
{
	struct dirent **names;
	int count = argc == 2 ? scandir(argv[1], &names, NULL, alphasort) : -1;
	unsigned number = 0;

	if (count < 0) {
		fprintf(stderr, "usage: corpus FOLDER\n");
		return 4;
	}
	for (int i = 0; i < count; i++) {
		if (names[i]->d_name[0] != '.')
			printf("%s %u - %s\n",
			       run_file(argv[1], names[i]->d_name) ? "not ok" : "ok", ++number,
			       names[i]->d_name);
		fflush(stdout);
		free(names[i]);
	}
	free(names);
	printf("1..%u\n", number);
	return 0;
}
