#include "apps/agent/agent.h"

#include "apps/common/exit.h"
#include "apps/weir/verbs.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
	"usage: weir agent run\n"
	"       weir agent keep FOLDER\n\n"
	"What `weir run` starts on other hosts (docs/hosts.md); nobody needs to start it by hand.\n"
	"run: carries out the process that the first line on stdin describes, and ends with it.\n"
	"keep: answers questions about this host, and removes FOLDER at the end of stdin. It is "
	"to\n"
	"be a run's folder that holds this very program; any other is refused and stays.\n";

int verb_agent(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "run") == 0)
		return agent_run();
	if (argc == 3 && strcmp(argv[1], "keep") == 0 && argv[2][0] == '/')
		return agent_keep(argv[2]);
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(usage, stdout);
		return EXIT_PASS;
	}
	fputs(usage, stderr);
	return EXIT_USAGE;
}
