#include "apps/common/exit.h"
#include "apps/provenance/build_info.h"
#include "apps/weir/verbs.h"
#include "dataplane/core/nearest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

struct verb {
	const char *name;
	const char *about;
	int (*run)(int argc, char **argv);
};

static const struct verb verbs[] = {
	{.name = "doctor",
	 .about = "what this host can measure, and how to mend what it cannot",
	 .run = verb_doctor},
	{.name = "host", .about = "what this host is and how it is set up", .run = verb_host},
	{.name = "stacks",
	 .about = "every stack and what it can do, or why it is absent",
	 .run = verb_stacks},
	{.name = "serve", .about = "serve requests over a stack", .run = verb_serve},
	{.name = "load",
	 .about = "load a server in a closed loop, verify every answer",
	 .run = verb_load},
	{.name = "plan",
	 .about = "show what an experiment would do, without building or running",
	 .run = verb_plan},
	{.name = "run",
	 .about = "carry out an experiment into a result directory",
	 .run = verb_run},
	{.name = "ceiling",
	 .about = "what share of its stack's bare echo the pipeline reaches",
	 .run = verb_ceiling},
	{.name = "report",
	 .about = "make tables, figures and a report from a result directory",
	 .run = verb_report},
	{.name = "compare", .about = "set two results beside each other", .run = verb_compare},
	{.name = "trend", .about = "the history over many results", .run = verb_trend},
	{.name = "calibrate",
	 .about = "what differences this host shows where there are none",
	 .run = verb_calibrate},
	{.name = "reproduce",
	 .about = "repeat a result, and say whether what it showed is shown again",
	 .run = verb_reproduce},
	{.name = "verify",
	 .about = "check that a result directory is what its run wrote, and adds up",
	 .run = verb_verify},
	{.name = "sim",
	 .about = "run utcp against itself on a simulated wire, by seeds",
	 .run = verb_sim},
	{.name = "agent",
	 .about = "internal: what `weir run` starts on other hosts",
	 .run = verb_agent},
};

enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]) };

static void print_help(FILE *to)
{
	fprintf(to, "usage: weir VERB [--FLAG VALUE]...\n\n");
	for (unsigned i = 0; i < VERB_COUNT; i++)
		fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].about);
	fprintf(to,
		"\n`weir VERB --help` or `weir help VERB` lists a verb's flags; `weir --version` "
		"prints the version.\n"
		"`./weir test` builds and runs the tests (`./weir test --help`).\n"
		"Exit status: 0 pass, 3 invalid or failed samples, 4 usage or refusal; of verbs "
		"that judge also\n1 what they judge is not so, e.g. the gate failed, 2 the samples "
		"do not decide it\n(docs/results.md).\n");
}

static int refuse_verb(const char *name)
{
	const char *names[VERB_COUNT];
	char ask[NEAREST_TEXT];

	for (unsigned i = 0; i < VERB_COUNT; i++)
		names[i] = verbs[i].name;
	fprintf(stderr, "weir: unknown verb '%s'; %s`weir --help` lists all\n", name,
		nearest_ask(name, names, VERB_COUNT, "", ask));
	return EXIT_USAGE;
}

static bool asks_for_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

static int run_named(const char *name, int argc, char **argv)
{
	for (unsigned i = 0; i < VERB_COUNT; i++)
		if (strcmp(verbs[i].name, name) == 0)
			return verbs[i].run(argc, argv);
	return refuse_verb(name);
}

/* `weir help VERB` is `weir VERB --help`. */
static int help_with(char *name)
{
	char flag[] = "--help";
	char *argv[] = {name, flag, NULL};

	return run_named(name, 2, argv);
}

static int run_verb(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "help") == 0 && !asks_for_help(argv[2]))
		return help_with(argv[2]);
	if (argc < 2 || asks_for_help(argv[1])) {
		print_help(argc < 2 ? stderr : stdout);
		return argc < 2 ? EXIT_USAGE : EXIT_PASS;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("weir %s\n", build_version());
		return EXIT_PASS;
	}
	return run_named(argv[1], argc - 1, argv + 1);
}

/* Whether nobody is left to read what we print: a closed pipe or terminal. */
static bool reader_is_gone(void)
{
	struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

/*
 * Output that is lost on a full disk must not read as success; that a reader went away is its own
 * affair. A verb's failure keeps its status.
 */
static int judge_output(int status)
{
	bool flushed, whole;
	int code;

	errno = 0;
	flushed = fflush(stdout) == 0;
	code = flushed || errno == 0 ? EIO : errno;
	whole = flushed && !ferror(stdout);
	if (whole || code == EPIPE || reader_is_gone())
		return status;
	fprintf(stderr,
		"weir: what was printed could not be written whole: %s; send the output to "
		"a place with room\n",
		strerror(code));
	return status == EXIT_PASS ? EXIT_USAGE : status;
}

/*
 * Takes the places of input, output and errors where they are closed: the next file that is opened
 * would come to stand there, and get what is printed.
 */
static void fill_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	fill_standard_files();
	/* Those whom we start know us as /proc/self/exe, and the kernel would call us `exe`. */
	prctl(PR_SET_NAME, "weir");
	/* A file at its size limit and a reader that went away are errors that write returns. */
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	return judge_output(run_verb(argc, argv));
}
