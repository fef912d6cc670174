/*
 * builds: on a repository of a few lines that is built like weir, by meson into apps/weir.
 *
 * Its program says its version; its build can be made to wait, fail and be counted by the
 * environment. Each test has a repository and a cache of its own.
 */
#include "apps/run/builds.h"

#include "apps/common/command.h"
#include "apps/provenance/build_info.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct place {
	char folder[64]; /* of all */
	char root[80];	 /* the repository */
	char cache[80];
	struct experiment experiment;
	struct program programs[EXPERIMENT_BUILDS_MAX];
	struct tp_error error;
};

static struct interrupt interrupt = {.fd = -1};

/* Runs a script; whether it went well. */
__attribute__((format(printf, 1, 2))) static bool shell(const char *format, ...)
{
	char script[4096], said[COMMAND_SAID_BYTES];
	const char *argv[] = {"sh", "-ec", script, NULL};
	va_list arguments;
	int code;

	va_start(arguments, format);
	vsnprintf(script, sizeof(script), format, arguments);
	va_end(arguments);
	code = command_run(argv, "", said);
	if (code < 0)
		printf("# %s\n", said);
	return code == 0;
}

/* The first line that a script says. */
__attribute__((format(printf, 2, 3))) static const char *answer(char line[256], const char *format,
								...)
{
	char script[4096], said[COMMAND_SAID_BYTES];
	const char *argv[] = {"sh", "-ec", script, NULL};
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(script, sizeof(script), format, arguments);
	va_end(arguments);
	if (command_read(&(struct command){.argv = argv}, line, 256, said) < 0)
		strcpy(line, "failed");
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static const char make_repository[] =
	"export GIT_CONFIG_GLOBAL=/dev/null; cd %s; mkdir root; cd root; git init -q -b main\n"
	"git config user.name test; git config user.email test@example.org\n"
	"cat > meson_options.txt <<'END'\n"
	"option('dpdk', type: 'feature', value: 'auto')\n"
	"option('uring', type: 'feature', value: 'auto')\n"
	"option('tls', type: 'feature', value: 'auto')\n"
	"END\n"
	"cat > meson.build <<'END'\n"
	"project('weir', 'c', version: '1.2')\n"
	"run_command('sh', '-c', '''\n"
	"[ -z \"$TEST_COUNT\" ] || echo built >>\"$TEST_COUNT\"\n"
	"[ -z \"$TEST_WAIT\" ] || { exec 3>\"$TEST_WAIT\"; echo going >&3; sleep 600; }\n"
	"''', check: true)\n"
	"add_project_arguments('-DURING=' + (get_option('uring').disabled() ? '0' : '1'),\n"
	"  language: 'c')\n"
	"subdir('apps')\n"
	"END\n"
	"mkdir apps; echo \"executable('weir', 'weir.c')\" >apps/meson.build\n"
	"cat > apps/weir.c <<'END'\n"
	"#include <stdio.h>\n"
	"#include \"version.h\"\n"
	"int main(void) { printf(\"%%s uring %%d\\n\", VERSION, URING); return 0; }\n"
	"END\n"
	"echo results/ >.gitignore; echo '#define VERSION \"one\"' >apps/version.h\n"
	"git add .; git commit -qm one; git tag v-one\n"
	"echo '#define VERSION \"two\"' >apps/version.h; git commit -qam two\n"
	"printf 'exit 1\\n' >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout\n";

/* Makes all of it; whether this host can. */
static bool set_up(struct place *place)
{
	*place = (struct place){.experiment = {.build_count = 1}};
	if (!shell("command -v git && command -v meson && command -v ninja")) {
		suite_skip("git, meson or ninja is not installed");
		return false;
	}
	strcpy(place->folder, "/tmp/weir-builds-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(place->folder));
	snprintf(place->root, sizeof(place->root), "%s/root", place->folder);
	snprintf(place->cache, sizeof(place->cache), "%s/root/results/.builds", place->folder);
	CU_ASSERT_FATAL(shell(make_repository, place->folder));
	setenv("WEIR_ROOT", place->root, 1);
	/* these would lead to another repository */
	setenv("GIT_DIR", "/nowhere", 1);
	setenv("GIT_INDEX_FILE", "/nowhere/index", 1);
	return true;
}

static void tear_down(struct place *place)
{
	unsetenv("WEIR_ROOT");
	unsetenv("GIT_DIR");
	unsetenv("GIT_INDEX_FILE");
	unsetenv("TEST_COUNT");
	unsetenv("TEST_WAIT");
	CU_ASSERT(shell("rm -rf %s", place->folder));
}

/* Asks for one more program. */
static void want(struct place *place, const char *variant, const char *commit, const char *options,
		 const char *c_args)
{
	struct experiment *experiment = &place->experiment;

	experiment->builds[experiment->build_count++] =
		(struct build){variant, commit, options, c_args};
}

static int make(struct place *place)
{
	int code = builds_make(&place->experiment, place->cache, &interrupt, place->programs,
			       &place->error);

	if (code < 0)
		printf("# %s\n", place->error.text);
	fflush(stdout);
	return code;
}

static void give_up(struct place *place)
{
	builds_fini(&place->experiment, place->programs);
}

/* What the program of a build says. */
static const char *run_program(const struct place *place, unsigned index, char line[256])
{
	return answer(line, "%s", place->programs[index].path);
}

static const char *fact(const struct place *place, unsigned index, const char *name)
{
	const char *text = json_string_value(json_object_get(place->programs[index].build, name));

	return text ? text : "not a text";
}

static void builds_commits_and_options(void)
{
	struct place place;
	char line[256], commit[256];
	const char *variant;

	if (!set_up(&place))
		return;
	want(&place, "base", "v-one", "", "");
	want(&place, "noring", NULL, "-During=disabled -Dbuildtype=debug", "-DNDEBUG");
	CU_ASSERT_EQUAL_FATAL(make(&place), 0);
	CU_ASSERT_STRING_EQUAL(run_program(&place, 1, line), "one uring 1");
	CU_ASSERT_STRING_EQUAL(run_program(&place, 2, line), "two uring 0");
	answer(commit, "env -u GIT_DIR -u GIT_INDEX_FILE git -C %s rev-parse v-one", place.root);
	CU_ASSERT_STRING_EQUAL(fact(&place, 1, "git_commit"), commit);
	CU_ASSERT_STRING_EQUAL(fact(&place, 1, "reference"), "v-one");
	CU_ASSERT_STRING_EQUAL(fact(&place, 1, "weir_version"), "1.2");
	CU_ASSERT_STRING_EQUAL(fact(&place, 1, "program_sha256"), place.programs[1].sha256);
	CU_ASSERT(json_is_false(json_object_get(place.programs[2].build, "git_dirty")));
	CU_ASSERT(json_is_null(json_object_get(place.programs[2].build, "reference")));
	CU_ASSERT_STRING_EQUAL(fact(&place, 2, "variant_options"),
			       "-During=disabled -Dbuildtype=debug");
	CU_ASSERT_STRING_EQUAL(fact(&place, 2, "build_type"), "debug");
	CU_ASSERT_PTR_NOT_NULL(strstr(fact(&place, 2, "c_args"), "-DNDEBUG"));
	CU_ASSERT_STRING_EQUAL(fact(&place, 2, "unfit_for_performance"),
			       "built without optimization");
	if (!build_unfit()) {
		CU_ASSERT(json_is_null(
			json_object_get(place.programs[1].build, "unfit_for_performance")));
		CU_ASSERT_STRING_EQUAL(builds_unfit(&place.experiment, place.programs, &variant),
				       "built without optimization");
		CU_ASSERT_STRING_EQUAL(variant, "noring");
	}
	give_up(&place);
	CU_ASSERT(shell("cd %s; test ! -e */tree; test ! -e */build; test ! -e scratch-*",
			place.cache));
	tear_down(&place);
}

static void says_what_all_were_built_from(void)
{
	struct place place;
	const json_t *variants;
	json_t *all;

	if (!set_up(&place))
		return;
	want(&place, "base", "HEAD~1", "", "");
	place.experiment.axis_count = 1;
	place.experiment.axes[0] = (struct axis){.kind = AXIS_VARIANTS,
						 .count = 3,
						 .levels = {{.name = "base", .build = 1},
							    {.name = "new"},
							    {.name = "base-again", .build = 1}}};
	CU_ASSERT_EQUAL_FATAL(make(&place), 0);
	all = builds_to_json(&place.experiment, place.programs);
	variants = json_object_get(all, "variants");
	CU_ASSERT_EQUAL(json_object_size(variants), 3);
	CU_ASSERT(json_equal(json_object_get(variants, "base"), place.programs[1].build));
	CU_ASSERT(json_equal(json_object_get(variants, "base-again"), place.programs[1].build));
	CU_ASSERT(json_equal(json_object_get(variants, "new"), place.programs[0].build));
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(all, "schema")), "weir.build/1");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_object_get(all, "client"),
								 "program_sha256")),
			       place.programs[0].sha256);
	CU_ASSERT_NOT_EQUAL(strcmp(place.programs[0].sha256, place.programs[1].sha256), 0);
	json_decref(all);
	give_up(&place);
	tear_down(&place);
}

static void builds_once(void)
{
	struct place place;
	char count[128], line[256], digest[SHA256_HEX_BYTES];

	if (!set_up(&place))
		return;
	snprintf(count, sizeof(count), "%s/count", place.folder);
	setenv("TEST_COUNT", count, 1);
	want(&place, "base", "v-one", "", "");
	for (unsigned i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL_FATAL(make(&place), 0);
		CU_ASSERT_STRING_EQUAL(run_program(&place, 1, line), "one uring 1");
		strcpy(digest, place.programs[1].sha256);
		give_up(&place);
	}
	CU_ASSERT_STRING_EQUAL(answer(line, "grep -c . %s", count), "1");
	/* another name for the same commit */
	place.experiment.builds[1].commit = "HEAD^";
	CU_ASSERT_EQUAL_FATAL(make(&place), 0);
	CU_ASSERT_STRING_EQUAL(answer(line, "grep -c . %s", count), "1");
	CU_ASSERT_STRING_EQUAL(fact(&place, 1, "reference"), "HEAD^");
	give_up(&place);
	/* what is not what was stored is not used */
	CU_ASSERT(shell("cd %s/*-*/; printf x >>weir", place.cache));
	CU_ASSERT_EQUAL_FATAL(make(&place), 0);
	CU_ASSERT_STRING_EQUAL(answer(line, "grep -c . %s", count), "2");
	give_up(&place);
	/* nor is what was not stored whole */
	CU_ASSERT(shell("cd %s/*-*/; rm program.json", place.cache));
	CU_ASSERT_EQUAL_FATAL(make(&place), 0);
	CU_ASSERT_STRING_EQUAL(answer(line, "grep -c . %s", count), "3");
	CU_ASSERT_STRING_EQUAL(place.programs[1].sha256, digest);
	CU_ASSERT_STRING_EQUAL(run_program(&place, 1, line), "one uring 1");
	give_up(&place);
	tear_down(&place);
}

static void builds_once_for_two(void)
{
	struct place place;
	char count[128], line[256];
	int status[2] = {-1, -1};
	pid_t pid[2];

	if (!set_up(&place))
		return;
	snprintf(count, sizeof(count), "%s/count", place.folder);
	setenv("TEST_COUNT", count, 1);
	want(&place, "base", "v-one", "", "");
	fflush(stdout);
	for (unsigned i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			_exit(make(&place) != 0);
	}
	for (unsigned i = 0; i < 2; i++)
		waitpid(pid[i], &status[i], 0);
	CU_ASSERT_EQUAL(status[0], 0);
	CU_ASSERT_EQUAL(status[1], 0);
	CU_ASSERT_STRING_EQUAL(answer(line, "grep -c . %s", count), "1");
	tear_down(&place);
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
	struct place place;
	char before[256], after[256], line[256], diff[256];

	if (!set_up(&place))
		return;
	/* a change, a change that is staged, a new file, one that is staged, one that is gone */
	CU_ASSERT_FATAL(shell("unset GIT_DIR GIT_INDEX_FILE; cd %s\n"
			      "echo '#define VERSION \"changed\"' >apps/version.h\n"
			      "echo '# staged' >>meson_options.txt; git add meson_options.txt\n"
			      "echo '# and then not' >>meson_options.txt\n"
			      "echo new >'new file'; echo new >staged; git add staged\n"
			      "ln -s nowhere link; mkdir results; echo kept >results/own\n",
			      place.root));
	answer(before, look_at_all, place.root);
	want(&place, "here", NULL, "-During=disabled", "");
	want(&place, "base", "v-one", "", "");
	CU_ASSERT_EQUAL_FATAL(make(&place), 0);
	CU_ASSERT_STRING_EQUAL(run_program(&place, 1, line), "changed uring 0");
	CU_ASSERT_STRING_EQUAL(run_program(&place, 2, line), "one uring 1");
	CU_ASSERT(json_is_true(json_object_get(place.programs[1].build, "git_dirty")));
	CU_ASSERT_EQUAL(strlen(fact(&place, 1, "git_diff_sha256")), 64);
	CU_ASSERT(json_is_null(json_object_get(place.programs[2].build, "git_diff_sha256")));
	answer(after, look_at_all, place.root);
	CU_ASSERT_STRING_EQUAL(before, after);
	CU_ASSERT_STRING_EQUAL(answer(line, "cat %s/results/own", place.root), "kept");

	/* what differs, as anybody can compute it */
	answer(diff,
	       "unset GIT_DIR GIT_INDEX_FILE; cp -a %s %s/copy; cd %s/copy; git add -A\n"
	       "git diff-tree -p --binary --full-index --no-renames HEAD $(git write-tree) |\n"
	       "sha256sum | cut -d' ' -f1",
	       place.root, place.folder, place.folder);
	CU_ASSERT_STRING_EQUAL(fact(&place, 1, "git_diff_sha256"), diff);
	give_up(&place);
	tear_down(&place);
}

static void names_what_was_meant(void)
{
	struct place place;

	if (!set_up(&place))
		return;
	want(&place, "base", "v-onr", "", "");
	CU_ASSERT_EQUAL(make(&place), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(place.error.text, "variant base:"));
	CU_ASSERT_PTR_NOT_NULL(strstr(place.error.text, "'v-onr'"));
	CU_ASSERT_PTR_NOT_NULL(strstr(place.error.text, "did you mean 'v-one'?"));
	place.experiment.builds[1].commit = "--all";
	CU_ASSERT_EQUAL(make(&place), -EINVAL);
	place.experiment.builds[1].commit = "HEAD:apps";
	CU_ASSERT_EQUAL(make(&place), -EINVAL);
	place.experiment.builds[1].commit = "";
	CU_ASSERT_EQUAL(make(&place), -EINVAL);
	place.experiment.builds[1] = (struct build){"bad", NULL, "disabled", ""};
	CU_ASSERT_EQUAL(make(&place), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(place.error.text, "'disabled'"));
	place.experiment.builds[1] = (struct build){"bad", NULL, "-Dc_args=-O1", ""};
	CU_ASSERT_EQUAL(make(&place), -EINVAL);
	tear_down(&place);
}

static void refuses_what_is_no_repository(void)
{
	struct place place;
	char inner[128];

	if (!set_up(&place))
		return;
	want(&place, "base", "v-one", "", "");
	snprintf(inner, sizeof(inner), "%s/apps", place.root);
	setenv("WEIR_ROOT", inner, 1);
	CU_ASSERT_EQUAL(make(&place), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(place.error.text, "a folder of another"));
	setenv("WEIR_ROOT", place.folder, 1);
	CU_ASSERT_EQUAL(make(&place), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(place.error.text, "is no git repository"));
	/* the runner's own is had nevertheless */
	place.experiment.build_count = 1;
	CU_ASSERT_EQUAL_FATAL(make(&place), 0);
	CU_ASSERT_STRING_EQUAL(fact(&place, 0, "program_sha256"), place.programs[0].sha256);
	give_up(&place);
	tear_down(&place);
}

static void names_git_where_it_is_absent(void)
{
	struct place place;
	char path[4096];

	if (!set_up(&place))
		return;
	snprintf(path, sizeof(path), "%s", getenv("PATH"));
	setenv("PATH", "/nowhere", 1);
	want(&place, "base", "v-one", "", "");
	CU_ASSERT_EQUAL(make(&place), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(place.error.text, "apt-get install git"));
	setenv("PATH", path, 1);
	tear_down(&place);
}

static void quotes_a_build_that_fails(void)
{
	struct place place;

	if (!set_up(&place))
		return;
	CU_ASSERT_FATAL(shell("unset GIT_DIR GIT_INDEX_FILE; cd %s; echo 'int x' >>apps/weir.c\n"
			      "git commit -qam broken",
			      place.root));
	want(&place, "broken", "HEAD", "", "");
	CU_ASSERT_EQUAL(make(&place), -EIO);
	CU_ASSERT_PTR_NOT_NULL(strstr(place.error.text, "variant broken: ninja ended with"));
	CU_ASSERT_PTR_NOT_NULL(strstr(place.error.text, "weir.c:4:1: error:"));
	CU_ASSERT_PTR_NOT_NULL(strstr(place.error.text, "/build.log"));
	place.experiment.builds[1].commit = "v-one";
	place.experiment.builds[1].options = "-Dno_such_option=1";
	CU_ASSERT_EQUAL(make(&place), -EIO);
	CU_ASSERT_PTR_NOT_NULL(strstr(place.error.text, "no_such_option"));
	CU_ASSERT(shell("cd %s; ls */build.log; ! ls */tree; ! ls */build; ! ls */program.json",
			place.cache));
	tear_down(&place);
}

/* Opens the pipe through which a waiting build says that it goes on. */
static int make_wait(struct place *place)
{
	char wait[128];

	snprintf(wait, sizeof(wait), "%s/wait", place->folder);
	CU_ASSERT_EQUAL_FATAL(mkfifo(wait, 0600), 0);
	setenv("TEST_WAIT", wait, 1);
	return 0;
}

/* Waits until the build has begun; what to wait for the end of everything in it with. */
static int await_begin(const struct place *place)
{
	char wait[128], text[16];
	int fd;

	snprintf(wait, sizeof(wait), "%s/wait", place->folder);
	fd = open(wait, O_RDONLY | O_CLOEXEC);
	CU_ASSERT(read(fd, text, sizeof(text)) > 0);
	return fd;
}

/* Whether every process of the build is gone. */
static bool is_over(int fd)
{
	char text[16];
	bool over = read(fd, text, sizeof(text)) == 0;

	close(fd);
	return over;
}

static void ends_when_interrupted(void)
{
	struct place place;
	int fd, status = -1;
	pid_t pid;

	if (!set_up(&place))
		return;
	make_wait(&place);
	want(&place, "base", "v-one", "", "");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (interrupt_open(&interrupt) < 0)
			_exit(1);
		_exit(make(&place) == -EINTR && interrupt.signal_number == SIGINT ? 42 : 1);
	}
	fd = await_begin(&place);
	kill(pid, SIGINT);
	waitpid(pid, &status, 0);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 42);
	CU_ASSERT(is_over(fd));
	CU_ASSERT(shell("cd %s; test ! -e */tree; test ! -e */program.json; test ! -e scratch-*",
			place.cache));
	tear_down(&place);
}

static void cleans_up_after_a_killed_runner(void)
{
	struct place place;
	char line[256], before[256], after[256];
	pid_t pid;
	int fd;

	if (!set_up(&place))
		return;
	CU_ASSERT(shell("echo '#define VERSION \"changed\"' >%s/apps/version.h; mkdir %s/results",
			place.root, place.root));
	answer(before, look_at_all, place.root);
	make_wait(&place);
	want(&place, "here", NULL, "-During=disabled", "");
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(make(&place) != 0);
	fd = await_begin(&place);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CU_ASSERT(is_over(fd));
	CU_ASSERT(shell("cd %s; test -e */tree; test -e scratch-%d", place.cache, (int)pid));
	answer(after, look_at_all, place.root);
	CU_ASSERT_STRING_EQUAL(before, after);

	/* the next start, though it wants another program */
	unsetenv("TEST_WAIT");
	place.experiment.build_count = 1;
	want(&place, "base", "v-one", "", "");
	CU_ASSERT_EQUAL_FATAL(make(&place), 0);
	CU_ASSERT_STRING_EQUAL(run_program(&place, 1, line), "one uring 1");
	give_up(&place);
	CU_ASSERT(shell("cd %s; test ! -e */tree; test ! -e */build; test ! -e scratch-%d",
			place.cache, (int)pid));
	tear_down(&place);
}

/* In a process of its own, where the cache's file system has this size. */
static _Noreturn void make_in_little_room(struct place *place, const char *options)
{
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    !shell("mkdir -p %s", place->cache) ||
	    mount("none", place->cache, "tmpfs", 0, options) < 0)
		_exit(77);
	if (make(place) == 0)
		_exit(1);
	if (!shell("cd %s; ! ls */tree; ! ls */build; ! ls */program.json", place->cache))
		_exit(2);
	_exit(strstr(place->error.text, "no room is left") ||
			      strstr(place->error.text, "No space left")
		      ? 0
		      : 3);
}

static void says_that_the_disk_is_full(void)
{
	static const char *const sizes[] = {"size=8k", "size=64k", "size=160k"};
	struct place place;
	int status = -1;
	pid_t pid;

	if (!set_up(&place))
		return;
	want(&place, "here", "HEAD", "", "");
	fflush(stdout);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		pid = fork();
		if (pid == 0)
			make_in_little_room(&place, sizes[i]);
		waitpid(pid, &status, 0);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			suite_skip("no file system can be mounted here");
		else
			CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	tear_down(&place);
}

static void knows_what_is_unfit(void)
{
	CU_ASSERT_PTR_NULL(build_judge("none", "3", ""));
	CU_ASSERT_PTR_NULL(build_judge("none", "2", "-march=native  -g"));
	CU_ASSERT_PTR_NULL(build_judge("none", "0", "-O2"));
	CU_ASSERT_PTR_NULL(build_judge("none", "0", "-O0 -Ofast"));
	CU_ASSERT_PTR_NOT_NULL(build_judge("none", "0", ""));
	CU_ASSERT_PTR_NOT_NULL(build_judge("none", "s", ""));
	CU_ASSERT_PTR_NOT_NULL(build_judge("address", "3", ""));
	CU_ASSERT_PTR_NOT_NULL(build_judge("none", "3", "-fsanitize=thread"));
	CU_ASSERT_PTR_NOT_NULL(build_judge("none", "3", "-O2 -Og"));
	CU_ASSERT_PTR_NOT_NULL(build_judge("none", "3", "-O"));
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
	{"a build with sanitizers or without optimization is unfit, whoever asked for it",
	 knows_what_is_unfit},
};

SUITE_MAIN("run builds", tests)
