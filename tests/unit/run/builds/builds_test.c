#include "apps/provenance/build_info.h"
#include "tests/support/suite.h"
#include "tests/unit/run/builds/builds_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OVER_MS = 30 * 1000 };

static void builds_commits_and_options(void)
{
	struct rig rig;
	char line[256], commit[256];
	const char *variant;

	if (!rig_set_up(&rig))
		return;
	rig_want(&rig, "base", "v-one", "", "");
	rig_want(&rig, "noring", NULL, "-During=disabled -Dbuildtype=debug", "-DNDEBUG");
	CU_ASSERT_EQUAL_FATAL(rig_make(&rig), 0);
	CU_ASSERT_STRING_EQUAL(rig_run(&rig, 1, line), "one uring 1");
	CU_ASSERT_STRING_EQUAL(rig_run(&rig, 2, line), "two uring 0");
	rig_answer(commit, "env -u GIT_DIR -u GIT_INDEX_FILE git -C %s rev-parse v-one", rig.root);
	CU_ASSERT_STRING_EQUAL(rig_fact(&rig, 1, "git_commit"), commit);
	CU_ASSERT_STRING_EQUAL(rig_fact(&rig, 1, "reference"), "v-one");
	CU_ASSERT_STRING_EQUAL(rig_fact(&rig, 1, "weir_version"), "1.2");
	CU_ASSERT_STRING_EQUAL(rig_fact(&rig, 1, "program_sha256"), rig.programs[1].sha256);
	CU_ASSERT(json_is_false(json_object_get(rig.programs[2].build, "git_dirty")));
	CU_ASSERT(json_is_null(json_object_get(rig.programs[2].build, "reference")));
	CU_ASSERT_STRING_EQUAL(rig_fact(&rig, 2, "variant_options"),
			       "-During=disabled -Dbuildtype=debug");
	CU_ASSERT_STRING_EQUAL(rig_fact(&rig, 2, "build_type"), "debug");
	CU_ASSERT_PTR_NOT_NULL(strstr(rig_fact(&rig, 2, "c_args"), "-DNDEBUG"));
	/* a runner with sanitizers hands them on, and they are named first */
	CU_ASSERT_STRING_EQUAL(
		rig_fact(&rig, 2, "unfit_for_performance"),
		json_string_value(json_object_get(rig.programs[0].build, "sanitizers"))[0] == 'n'
			? "built without optimization"
			: "built with sanitizers");
	if (!build_unfit()) {
		CU_ASSERT(json_is_null(
			json_object_get(rig.programs[1].build, "unfit_for_performance")));
		CU_ASSERT_STRING_EQUAL(builds_unfit(&rig.experiment, rig.programs, &variant),
				       "built without optimization");
		CU_ASSERT_STRING_EQUAL(variant, "noring");
	}
	rig_give_up(&rig);
	CU_ASSERT(rig_shell("cd %s; test ! -e */tree; test ! -e */build; test ! -e scratch-*",
			    rig.cache));
	rig_tear_down(&rig);
}

static void says_what_all_were_built_from(void)
{
	struct rig rig;
	const json_t *variants;
	json_t *all;

	if (!rig_set_up(&rig))
		return;
	rig_want(&rig, "base", "HEAD~1", "", "");
	rig.experiment.axis_count = 1;
	rig.experiment.axes[0] = (struct axis){.kind = AXIS_VARIANTS,
					       .count = 3,
					       .levels = {{.name = "base", .build = 1},
							  {.name = "new"},
							  {.name = "base-again", .build = 1}}};
	CU_ASSERT_EQUAL_FATAL(rig_make(&rig), 0);
	all = builds_to_json(&rig.experiment, rig.programs);
	variants = json_object_get(all, "variants");
	CU_ASSERT_EQUAL(json_object_size(variants), 3);
	CU_ASSERT(json_equal(json_object_get(variants, "base"), rig.programs[1].build));
	CU_ASSERT(json_equal(json_object_get(variants, "base-again"), rig.programs[1].build));
	CU_ASSERT(json_equal(json_object_get(variants, "new"), rig.programs[0].build));
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(all, "schema")), "weir.build/1");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_object_get(all, "client"),
								 "program_sha256")),
			       rig.programs[0].sha256);
	CU_ASSERT_NOT_EQUAL(strcmp(rig.programs[0].sha256, rig.programs[1].sha256), 0);
	json_decref(all);
	rig_give_up(&rig);
	rig_tear_down(&rig);
}

static void builds_once(void)
{
	struct rig rig;
	char count[128], line[256], digest[SHA256_HEX_BYTES];

	if (!rig_set_up(&rig))
		return;
	snprintf(count, sizeof(count), "%s/count", rig.folder);
	setenv("TEST_COUNT", count, 1);
	rig_want(&rig, "base", "v-one", "", "");
	for (unsigned i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL_FATAL(rig_make(&rig), 0);
		CU_ASSERT_STRING_EQUAL(rig_run(&rig, 1, line), "one uring 1");
		strcpy(digest, rig.programs[1].sha256);
		rig_give_up(&rig);
	}
	CU_ASSERT_STRING_EQUAL(rig_answer(line, "grep -c . %s", count), "1");
	/* another name for the same commit */
	rig.experiment.builds[1].commit = "HEAD^";
	CU_ASSERT_EQUAL_FATAL(rig_make(&rig), 0);
	CU_ASSERT_STRING_EQUAL(rig_answer(line, "grep -c . %s", count), "1");
	CU_ASSERT_STRING_EQUAL(rig_fact(&rig, 1, "reference"), "HEAD^");
	rig_give_up(&rig);
	/* what is not what was stored is not used */
	CU_ASSERT(rig_shell("cd %s/*-*/; printf x >>weir", rig.cache));
	CU_ASSERT_EQUAL_FATAL(rig_make(&rig), 0);
	CU_ASSERT_STRING_EQUAL(rig_answer(line, "grep -c . %s", count), "2");
	rig_give_up(&rig);
	/* nor is what was not stored whole */
	CU_ASSERT(rig_shell("cd %s/*-*/; rm program.json", rig.cache));
	CU_ASSERT_EQUAL_FATAL(rig_make(&rig), 0);
	CU_ASSERT_STRING_EQUAL(rig_answer(line, "grep -c . %s", count), "3");
	CU_ASSERT_STRING_EQUAL(rig.programs[1].sha256, digest);
	CU_ASSERT_STRING_EQUAL(rig_run(&rig, 1, line), "one uring 1");
	rig_give_up(&rig);
	rig_tear_down(&rig);
}

static void builds_once_for_two(void)
{
	struct rig rig;
	char count[128], line[256];
	int status[2] = {-1, -1};
	pid_t pid[2];

	if (!rig_set_up(&rig))
		return;
	snprintf(count, sizeof(count), "%s/count", rig.folder);
	setenv("TEST_COUNT", count, 1);
	rig_want(&rig, "base", "v-one", "", "");
	fflush(stdout);
	for (unsigned i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			_exit(rig_make(&rig) != 0);
	}
	for (unsigned i = 0; i < 2; i++)
		waitpid(pid[i], &status[i], 0);
	CU_ASSERT_EQUAL(status[0], 0);
	CU_ASSERT_EQUAL(status[1], 0);
	CU_ASSERT_STRING_EQUAL(rig_answer(line, "grep -c . %s", count), "1");
	rig_tear_down(&rig);
}

/*
 * All that is in the repository but the cache: names, modes, times and contents. Of objects not the
 * times: git renews those of objects that it is asked to write and has.
 */
static const char look_at_all[] =
	"cd %s; {\n"
	"find . -path ./results -prune -o -path ./.git/objects -prune -o -printf '%%p %%m "
	"%%T@\\n'\n"
	"find .git/objects -printf '%%p %%m\\n'\n"
	"find . -path ./results -prune -o -type f -print0 | xargs -0 sha256sum\n"
	"} | LC_ALL=C sort | sha256sum";

static void leaves_the_checkout_as_it_is(void)
{
	struct rig rig;
	char before[256], after[256], line[256], diff[256];

	if (!rig_set_up(&rig))
		return;
	/* a change, a change that is staged, a new file, one that is staged, one that is gone */
	CU_ASSERT_FATAL(rig_shell("unset GIT_DIR GIT_INDEX_FILE; cd %s\n"
				  "echo '#define VERSION \"changed\"' >apps/version.h\n"
				  "echo '# staged' >>meson_options.txt; git add meson_options.txt\n"
				  "echo '# and then not' >>meson_options.txt\n"
				  "echo new >'new file'; echo new >staged; git add staged\n"
				  "ln -s nowhere link; mkdir results; echo kept >results/own\n",
				  rig.root));
	rig_answer(before, look_at_all, rig.root);
	rig_want(&rig, "here", NULL, "-During=disabled", "");
	rig_want(&rig, "base", "v-one", "", "");
	CU_ASSERT_EQUAL_FATAL(rig_make(&rig), 0);
	CU_ASSERT_STRING_EQUAL(rig_run(&rig, 1, line), "changed uring 0");
	CU_ASSERT_STRING_EQUAL(rig_run(&rig, 2, line), "one uring 1");
	CU_ASSERT(json_is_true(json_object_get(rig.programs[1].build, "git_dirty")));
	CU_ASSERT_EQUAL(strlen(rig_fact(&rig, 1, "git_diff_sha256")), 64);
	CU_ASSERT(json_is_null(json_object_get(rig.programs[2].build, "git_diff_sha256")));
	rig_answer(after, look_at_all, rig.root);
	CU_ASSERT_STRING_EQUAL(before, after);
	CU_ASSERT_STRING_EQUAL(rig_answer(line, "cat %s/results/own", rig.root), "kept");

	/* what differs, as anybody can compute it */
	rig_answer(diff,
		   "unset GIT_DIR GIT_INDEX_FILE; cp -a %s %s/copy; cd %s/copy; git add -A\n"
		   "git diff-tree -p --binary --full-index --no-renames HEAD $(git write-tree) |\n"
		   "sha256sum | cut -d' ' -f1",
		   rig.root, rig.folder, rig.folder);
	CU_ASSERT_STRING_EQUAL(rig_fact(&rig, 1, "git_diff_sha256"), diff);
	rig_give_up(&rig);
	rig_tear_down(&rig);
}

static void names_what_was_meant(void)
{
	struct rig rig;

	if (!rig_set_up(&rig))
		return;
	rig_want(&rig, "base", "v-onr", "", "");
	CU_ASSERT_EQUAL(rig_make(&rig), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.error.text, "variant base:"));
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.error.text, "'v-onr'"));
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.error.text, "did you mean 'v-one'?"));
	rig.experiment.builds[1].commit = "--all";
	CU_ASSERT_EQUAL(rig_make(&rig), -EINVAL);
	rig.experiment.builds[1].commit = "HEAD:apps";
	CU_ASSERT_EQUAL(rig_make(&rig), -EINVAL);
	rig.experiment.builds[1].commit = "^HEAD";
	CU_ASSERT_EQUAL(rig_make(&rig), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.error.text, "no commit '^HEAD'"));
	rig.experiment.builds[1].commit = "";
	CU_ASSERT_EQUAL(rig_make(&rig), -EINVAL);
	rig.experiment.builds[1] = (struct build){"bad", NULL, "disabled", ""};
	CU_ASSERT_EQUAL(rig_make(&rig), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.error.text, "'disabled'"));
	rig.experiment.builds[1] = (struct build){"bad", NULL, "-Dc_args=-O1", ""};
	CU_ASSERT_EQUAL(rig_make(&rig), -EINVAL);
	rig_tear_down(&rig);
}

static void refuses_what_is_no_repository(void)
{
	struct rig rig;
	char inner[128];

	if (!rig_set_up(&rig))
		return;
	rig_want(&rig, "base", "v-one", "", "");
	snprintf(inner, sizeof(inner), "%s/apps", rig.root);
	setenv("WEIR_ROOT", inner, 1);
	CU_ASSERT_EQUAL(rig_make(&rig), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.error.text, "a folder of another"));
	setenv("WEIR_ROOT", rig.folder, 1);
	CU_ASSERT_EQUAL(rig_make(&rig), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.error.text, "is no git repository"));
	/* the runner's own is had nevertheless */
	rig.experiment.build_count = 1;
	CU_ASSERT_EQUAL_FATAL(rig_make(&rig), 0);
	CU_ASSERT_STRING_EQUAL(rig_fact(&rig, 0, "program_sha256"), rig.programs[0].sha256);
	rig_give_up(&rig);
	rig_tear_down(&rig);
}

static void names_git_where_it_is_absent(void)
{
	struct rig rig;
	char path[4096];

	if (!rig_set_up(&rig))
		return;
	snprintf(path, sizeof(path), "%s", getenv("PATH"));
	setenv("PATH", "/nowhere", 1);
	rig_want(&rig, "base", "v-one", "", "");
	CU_ASSERT_EQUAL(rig_make(&rig), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.error.text, "apt-get install git"));
	setenv("PATH", path, 1);
	rig_tear_down(&rig);
}

static void quotes_a_build_that_fails(void)
{
	struct rig rig;

	if (!rig_set_up(&rig))
		return;
	CU_ASSERT_FATAL(
		rig_shell("unset GIT_DIR GIT_INDEX_FILE; cd %s; echo 'int x' >>apps/weir.c\n"
			  "git commit -qam broken",
			  rig.root));
	rig_want(&rig, "broken", "HEAD", "", "");
	CU_ASSERT_EQUAL(rig_make(&rig), -EIO);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.error.text, "variant broken: ninja ended with"));
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.error.text, "weir.c:7:1: error:"));
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.error.text, "/build.log"));
	rig.experiment.builds[1].commit = "v-one";
	rig.experiment.builds[1].options = "-Dno_such_option=1";
	CU_ASSERT_EQUAL(rig_make(&rig), -EIO);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.error.text, "no_such_option"));
	CU_ASSERT(rig_shell("cd %s; ls */build.log; ! ls */tree; ! ls */build; ! ls */program.json",
			    rig.cache));
	rig_tear_down(&rig);
}

/* Opens the pipe through which a build that waits where the variable says tells that it goes on. */
static void make_wait(struct rig *rig, const char *variable)
{
	char wait[128];

	snprintf(wait, sizeof(wait), "%s/wait", rig->folder);
	CU_ASSERT_EQUAL_FATAL(mkfifo(wait, 0600), 0);
	setenv(variable, wait, 1);
}

/* Waits until the build has begun; what to wait for the end of everything in it with. */
static int await_begin(const struct rig *rig)
{
	char wait[128], text[16];
	int fd;

	snprintf(wait, sizeof(wait), "%s/wait", rig->folder);
	fd = open(wait, O_RDONLY | O_CLOEXEC);
	CU_ASSERT(read(fd, text, sizeof(text)) > 0);
	return fd;
}

/* Whether every process that can write there is gone within the time that a slow host takes. */
static bool is_over(int fd)
{
	struct pollfd end = {.fd = fd, .events = POLLIN};
	char text[16];
	bool over = poll(&end, 1, OVER_MS) == 1 && read(fd, text, sizeof(text)) == 0;

	close(fd);
	return over;
}

/*
 * Makes the programs in another process. The descriptor is at its end when that is gone, and
 * whoever watches over its work.
 */
static pid_t start_runner(struct rig *rig, int *alive_out)
{
	int fds[2];
	pid_t pid;

	CU_ASSERT_EQUAL_FATAL(pipe2(fds, O_CLOEXEC), 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(rig_make(rig) != 0);
	close(fds[1]);
	*alive_out = fds[0];
	return pid;
}

static void ends_when_interrupted(void)
{
	struct rig rig;
	int fd, status = -1;
	pid_t pid;

	if (!rig_set_up(&rig))
		return;
	make_wait(&rig, "TEST_WAIT");
	rig_want(&rig, "base", "v-one", "", "");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (interrupt_open(&rig_interrupt) < 0)
			_exit(1);
		_exit(rig_make(&rig) == -EINTR && rig_interrupt.signal_number == SIGINT ? 42 : 1);
	}
	fd = await_begin(&rig);
	kill(pid, SIGINT);
	waitpid(pid, &status, 0);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 42);
	CU_ASSERT(is_over(fd));
	CU_ASSERT(
		rig_shell("cd %s; test ! -e */tree; test ! -e */program.json; test ! -e scratch-*",
			  rig.cache));
	rig_tear_down(&rig);
}

static void cleans_up_after_a_killed_runner(void)
{
	struct rig rig;
	char line[256], before[256], after[256];
	int fd, alive;
	pid_t pid;

	if (!rig_set_up(&rig))
		return;
	CU_ASSERT(
		rig_shell("echo '#define VERSION \"changed\"' >%s/apps/version.h; mkdir %s/results",
			  rig.root, rig.root));
	rig_answer(before, look_at_all, rig.root);
	make_wait(&rig, "TEST_WAIT");
	rig_want(&rig, "here", NULL, "-During=disabled", "");
	pid = start_runner(&rig, &alive);
	fd = await_begin(&rig);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CU_ASSERT(is_over(fd));
	CU_ASSERT(is_over(alive));
	CU_ASSERT(rig_shell("cd %s; test -e */tree; test -e scratch-*", rig.cache));
	rig_answer(after, look_at_all, rig.root);
	CU_ASSERT_STRING_EQUAL(before, after);

	/* the next start, though it wants another program */
	unsetenv("TEST_WAIT");
	rig.experiment.build_count = 1;
	rig_want(&rig, "base", "v-one", "", "");
	CU_ASSERT_EQUAL_FATAL(rig_make(&rig), 0);
	CU_ASSERT_STRING_EQUAL(rig_run(&rig, 1, line), "one uring 1");
	rig_give_up(&rig);
	CU_ASSERT(rig_shell("cd %s; test ! -e */tree; test ! -e */build; test ! -e scratch-*",
			    rig.cache));
	rig_tear_down(&rig);
}

static void ends_what_ninja_runs_when_the_runner_is_killed(void)
{
	struct rig rig;
	int fd, alive;
	pid_t pid;

	if (!rig_set_up(&rig))
		return;
	make_wait(&rig, "TEST_STALL");
	rig_want(&rig, "base", "v-one", "", "");
	pid = start_runner(&rig, &alive);
	fd = await_begin(&rig);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CU_ASSERT(is_over(fd));
	CU_ASSERT(is_over(alive));
	rig_tear_down(&rig);
}

static void does_not_look_where_the_environment_leads(void)
{
	struct rig rig;
	char line[256], path[128];

	if (!rig_set_up(&rig))
		return;
	CU_ASSERT(rig_shell("cd %s; mkdir lead; echo '#undef URING' >lead/elsewhere.h\n"
			    "echo '#define URING 7' >>lead/elsewhere.h",
			    rig.folder));
	snprintf(path, sizeof(path), "%s/lead", rig.folder);
	setenv("CPATH", path, 1);
	setenv("C_INCLUDE_PATH", path, 1);
	rig_want(&rig, "base", "v-one", "", "");
	CU_ASSERT_EQUAL_FATAL(rig_make(&rig), 0);
	unsetenv("CPATH");
	unsetenv("C_INCLUDE_PATH");
	CU_ASSERT_STRING_EQUAL(rig_run(&rig, 1, line), "one uring 1");
	rig_give_up(&rig);
	rig_tear_down(&rig);
}

static void builds_what_a_reference_meant(void)
{
	struct rig rig;
	char line[256];
	json_t *commits, *wrong = json_pack("{ss}", "HEAD~1", "--help");

	if (!rig_set_up(&rig))
		return;
	rig_want(&rig, "base", "HEAD~1", "", "");
	rig_want(&rig, "tag", "v-one", "-During=disabled", "");
	rig_want(&rig, "here", NULL, "-During=disabled", "");
	CU_ASSERT_EQUAL_FATAL(rig_make(&rig), 0);
	commits = builds_commits(&rig.experiment, rig.programs);
	CU_ASSERT_EQUAL(json_object_size(commits), 2);
	rig_answer(line, "env -u GIT_DIR -u GIT_INDEX_FILE git -C %s rev-parse HEAD~1", rig.root);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(commits, "HEAD~1")), line);
	rig_give_up(&rig);

	rig.experiment.build_count = 2;
	CU_ASSERT(rig_shell("unset GIT_DIR GIT_INDEX_FILE; cd %s; "
			    "git commit -q --allow-empty -m three",
			    rig.root));
	rig.commits = commits;
	CU_ASSERT_EQUAL_FATAL(rig_make(&rig), 0);
	CU_ASSERT_STRING_EQUAL(rig_run(&rig, 1, line), "one uring 1");
	CU_ASSERT_STRING_EQUAL(rig_fact(&rig, 1, "reference"), "HEAD~1");
	rig_give_up(&rig);
	rig.commits = wrong;
	CU_ASSERT_EQUAL(rig_make(&rig), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.error.text, "is no hash"));
	rig.commits = NULL;
	CU_ASSERT_EQUAL_FATAL(rig_make(&rig), 0);
	CU_ASSERT_STRING_EQUAL(rig_run(&rig, 1, line), "two uring 1");
	rig_give_up(&rig);
	json_decref(commits);
	json_decref(wrong);
	rig_tear_down(&rig);
}

/* In a process of its own, where the cache's file system has this size. */
static _Noreturn void make_in_little_room(struct rig *rig, const char *options)
{
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    !rig_shell("mkdir -p %s", rig->cache) ||
	    mount("none", rig->cache, "tmpfs", 0, options) < 0)
		_exit(77);
	if (rig_make(rig) == 0)
		_exit(1);
	if (!rig_shell("cd %s; ! ls */tree; ! ls */build; ! ls */program.json", rig->cache))
		_exit(2);
	_exit(strstr(rig->error.text, "no room is left") || strstr(rig->error.text, "No space left")
		      ? 0
		      : 3);
}

static void says_that_the_disk_is_full(void)
{
	static const char *const sizes[] = {"size=8k", "size=64k", "size=160k"};
	struct rig rig;
	int status = -1;
	pid_t pid;

	if (!rig_set_up(&rig))
		return;
	rig_want(&rig, "here", "HEAD", "", "");
	fflush(stdout);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		pid = fork();
		if (pid == 0)
			make_in_little_room(&rig, sizes[i]);
		waitpid(pid, &status, 0);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			suite_skip("no file system can be mounted here");
		else
			CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	rig_tear_down(&rig);
}

static const struct suite_test tests[] = {
	{"a commit and options are built as they are named", builds_commits_and_options},
	{"build.json says what each variant's program was built from",
	 says_what_all_were_built_from},
	{"a program is built once, and anew if it is not what was stored", builds_once},
	{"two runners that want the same program build it once", builds_once_for_two},
	{"files that are not committed are built, and the checkout stays as it is to the byte",
	 leaves_the_checkout_as_it_is},
	{"an unknown reference is named with the nearest, and no option passes for one",
	 names_what_was_meant},
	{"a folder that is no repository of its own is refused", refuses_what_is_no_repository},
	{"where git is absent it is said how to get it", names_git_where_it_is_absent},
	{"a build that fails is quoted, and its log kept", quotes_a_build_that_fails},
	{"where the disk is full it is said, and no half program is left",
	 says_that_the_disk_is_full},
	{"an interrupt ends a build and all that it started", ends_when_interrupted},
	{"what a killed runner left is removed by the next, and the checkout is as it was",
	 cleans_up_after_a_killed_runner},
	{"what ninja runs in process groups of its own ends when the runner is killed",
	 ends_what_ninja_runs_when_the_runner_is_killed},
	{"no variable of the environment leads the compiler elsewhere",
	 does_not_look_where_the_environment_leads},
	{"a reference of an earlier run is the commit that it meant then",
	 builds_what_a_reference_meant},
};

SUITE_MAIN("run builds", tests)
