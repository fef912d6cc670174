#include "tests/unit/run/sample/rig.h"

#include "apps/common/file.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void make_plan(struct rig *rig)
{
	static struct topology topology;
	struct problems problems = {0};
	struct plan_ground on = {.topology = &topology,
				 .socket_folder = rig->ground.folder,
				 .port = rig->ground.port,
				 .upstream_port = rig->ground.upstream_port,
				 .run_id = rig->ground.run_id,
				 .programs = rig->programs};

	CU_ASSERT_EQUAL_FATAL(topology_read(&topology), 0);
	CU_ASSERT_EQUAL_FATAL(plan_make(rig->experiment, &on, &rig->plan, &problems), 0);
	for (unsigned i = 0; i < rig->plan->cell_count; i++)
		rig->plan->cells[i].program = &rig->programs[0];
}

bool rig_open(struct rig *rig, const char *factors)
{
	static const struct ground_wish any;
	struct problems problems = {0};
	struct tp_error error;
	struct cpus allowed;
	char text[1024];

	*rig = (struct rig){.folder = "/tmp/weir-rig-XXXXXX", .program_count = 1};
	if (cpus_allowed(&allowed) < 0 || allowed.count < 2) {
		suite_skip("a server and a client need two CPUs");
		return false;
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(rig->folder));
	setenv("TMPDIR", "/tmp", 1);
	strcpy(rig->programs[0].path, WEIR_PATH);
	snprintf(text, sizeof(text),
		 "{\"schema\": \"weir.experiment/1\", \"name\": \"rig\", \"fixed\": {\"stack\": "
		 "\"epoll@loopback\", \"connections\": 2}, \"factors\": {%s}, \"runs\": 1, "
		 "\"warmup\": \"50ms\", \"duration\": \"200ms\"}",
		 factors);
	CU_ASSERT_EQUAL_FATAL(experiment_compose("rig", text, &rig->experiment, &problems), 0);
	CU_ASSERT_EQUAL_FATAL(ground_take(&rig->ground, &any, &error), 0);
	CU_ASSERT_EQUAL_FATAL(interrupt_open(&rig->interrupt), 0);
	make_plan(rig);
	CU_ASSERT_EQUAL_FATAL(directory_create(&rig->directory, rig->folder, "rig", time(NULL)), 0);
	return true;
}

void rig_serve_by(struct rig *rig, unsigned cell, const char *script)
{
	struct program *program = &rig->programs[rig->program_count];
	struct tp_error error;
	char folder[64], text[2048];

	CU_ASSERT_FATAL(rig->program_count < RIG_PROGRAMS && cell < rig->plan->cell_count);
	snprintf(folder, sizeof(folder), "%s", rig->folder);
	snprintf(program->path, sizeof(program->path), "%s/server-%u", folder,
		 rig->program_count++);
	snprintf(text, sizeof(text), "#!/bin/sh\nWEIR=%s\n%s\n", WEIR_PATH, script);
	CU_ASSERT_EQUAL_FATAL(file_write(program->path, text, strlen(text), &error), 0);
	CU_ASSERT_EQUAL_FATAL(chmod(program->path, 0755), 0);
	rig->plan->cells[cell].program = program;
}

char *rig_read(const struct rig *rig, const char *name)
{
	struct tp_error error;
	char path[PATH_MAX];
	size_t bytes;
	char *text;

	CU_ASSERT_EQUAL_FATAL(file_read(directory_file(&rig->directory, name, path),
					64 * 1024 * 1024, &text, &bytes, &error),
			      0);
	return text;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
	return remove(path);
}

void rig_close(struct rig *rig)
{
	if (!rig->plan)
		return;
	plan_free(rig->plan);
	experiment_free(rig->experiment);
	ground_give_back(&rig->ground);
	close(rig->interrupt.fd);
	nftw(rig->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void rig_hand_over(int argc, char **argv)
{
	if (argc > 1 && (strcmp(argv[1], "load") == 0 || strcmp(argv[1], "serve") == 0)) {
		execv(WEIR_PATH, argv);
		_exit(127);
	}
}
