#include "tests/unit/run/builds/builds_rig.h"

#include "apps/common/command.h"
#include "tests/support/suite.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct interrupt rig_interrupt = {.fd = -1};

bool rig_shell(const char *format, ...)
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

const char *rig_answer(char line[256], const char *format, ...)
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
	"mkdir apps; cat > apps/meson.build <<'END'\n"
	"stall = custom_target('stall', output: 'stall.h', command: ['sh', '-c',\n"
	"  '[ -z \"$TEST_STALL\" ] || { exec 3>\"$TEST_STALL\"; echo going >&3; sleep 600; }; '\n"
	"  + ': >\"$0\"', '@OUTPUT@'])\n"
	"executable('weir', 'weir.c', stall)\n"
	"END\n"
	"cat > apps/weir.c <<'END'\n"
	"#include <stdio.h>\n"
	"#include \"version.h\"\n"
	"#if __has_include(<elsewhere.h>)\n"
	"#include <elsewhere.h>\n"
	"#endif\n"
	"int main(void) { printf(\"%%s uring %%d\\n\", VERSION, URING); return 0; }\n"
	"END\n"
	"echo results/ >.gitignore; echo '#define VERSION \"one\"' >apps/version.h\n"
	"git add .; git commit -qm one; git tag v-one\n"
	"echo '#define VERSION \"two\"' >apps/version.h; git commit -qam two\n"
	"printf 'exit 1\\n' >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout\n";

bool rig_set_up(struct rig *rig)
{
	*rig = (struct rig){.experiment = {.build_count = 1}};
	if (!rig_shell("command -v git && command -v meson && command -v ninja")) {
		suite_skip("git, meson or ninja is not installed");
		return false;
	}
	strcpy(rig->folder, "/tmp/weir-builds-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(rig->folder));
	snprintf(rig->root, sizeof(rig->root), "%s/root", rig->folder);
	snprintf(rig->cache, sizeof(rig->cache), "%s/results/.builds", rig->root);
	CU_ASSERT_FATAL(rig_shell(make_repository, rig->folder));
	setenv("WEIR_ROOT", rig->root, 1);
	/* these would lead to another repository */
	setenv("GIT_DIR", "/nowhere", 1);
	setenv("GIT_INDEX_FILE", "/nowhere/index", 1);
	return true;
}

void rig_tear_down(struct rig *rig)
{
	unsetenv("WEIR_ROOT");
	unsetenv("GIT_DIR");
	unsetenv("GIT_INDEX_FILE");
	unsetenv("TEST_COUNT");
	unsetenv("TEST_WAIT");
	unsetenv("TEST_STALL");
	CU_ASSERT(rig_shell("rm -rf %s", rig->folder));
}

void rig_want(struct rig *rig, const char *variant, const char *commit, const char *options,
	      const char *c_args)
{
	struct experiment *experiment = &rig->experiment;

	experiment->builds[experiment->build_count++] =
		(struct build){variant, commit, options, c_args};
}

int rig_make(struct rig *rig)
{
	int code = builds_make(&rig->experiment, rig->commits, rig->cache, &rig_interrupt,
			       rig->programs, &rig->error);

	if (code < 0)
		printf("# %s\n", rig->error.text);
	fflush(stdout);
	return code;
}

void rig_give_up(struct rig *rig)
{
	builds_fini(&rig->experiment, rig->programs);
}

const char *rig_run(const struct rig *rig, unsigned index, char line[256])
{
	return rig_answer(line, "%s", rig->programs[index].path);
}

const char *rig_fact(const struct rig *rig, unsigned index, const char *name)
{
	const char *text = json_string_value(json_object_get(rig->programs[index].build, name));

	return text ? text : "not a text";
}
