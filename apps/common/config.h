/*
 * config: a verb's flags as files say them.
 *
 * Each file is a JSON object whose keys are the flags' names with underscores. They are layers: the
 * defaults of the table, then weir.json if the current folder has one, then each file that was
 * named, in order, then the command line; whoever says a value last has it, and every value keeps
 * the name of where it comes from (flags.h). docs/configuration.md tells what may stand in a file.
 *
 * Owned by the verb; flags lend what they hold from it. Plane: setup.
 */
#ifndef WEIR_APPS_CONFIG_H
#define WEIR_APPS_CONFIG_H

#include "apps/common/flags.h"
#include "apps/common/problems.h"

#include <limits.h>

#define CONFIG_SCHEMA "weir.config/1"

enum { CONFIG_FILES_MAX = 8 };

/* Zeroed before its flag is parsed. */
struct config {
	const char *names[CONFIG_FILES_MAX]; /* as given: a path, or the name of a shipped file */
	unsigned count;
	/* by config_read */
	json_t *kept;	   /* the texts that flags lend */
	const char *files; /* all that were read, as their sources, with ',' between; NULL: none */
};

extern const struct flag_kind flag_config; /* struct config */

/*
 * Reads the files and takes over what they say, behind flags_parse. 0; or -EINVAL with everything
 * that is wrong in `problems`.
 */
int config_read(struct config *config, struct flags *flags, struct problems *problems);

/* The same for a verb: what is wrong is printed, and `status_out` is its exit status. */
bool config_take(struct config *config, struct flags *flags, int *status_out);

/* Frees what flags lend. */
void config_fini(struct config *config);

#endif
