#include "apps/run/builds/program.h"

#include "apps/provenance/build_info.h"

#include <string.h>

/* Stays what it was when the file is built anew meanwhile. */
static const char own_path[] = "/proc/self/exe";

int program_own(struct program *program_out)
{
	struct program program = {.path = ""};
	uint64_t ignored;
	int code = sha256_file(own_path, &ignored, program.sha256);

	if (code < 0)
		return code;
	strcpy(program.path, own_path);
	program.build = build_info();
	json_object_set_new(program.build, "program_sha256", json_string(program.sha256));
	*program_out = program;
	return 0;
}

void program_fini(struct program *program)
{
	json_decref(program->build);
}
