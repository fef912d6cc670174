/*
 * experiment_flags: the flags by which a command line changes an experiment.
 *
 * The same for every verb that reads one. Plane: setup.
 */
#ifndef WEIR_RUN_EXPERIMENT_FLAGS_H
#define WEIR_RUN_EXPERIMENT_FLAGS_H

#include "apps/common/flags.h"
#include "apps/run/experiment/experiment_changes.h"

enum { EXPERIMENT_FLAGS_WORDS = 4096 };

extern const struct flag_kind flag_override;
extern const struct flag_kind flag_variant;

/* The rows of a verb's table; `changes` is a struct experiment_changes *. */
#define EXPERIMENT_FLAGS(changes)                                                          \
	{.name = "set",                                                                    \
	 .kind = &flag_override,                                                           \
	 .value = (changes),                                                               \
	 .about = "override a value of the experiment; a factor gets this one level, or "  \
		  "those of a list [...]"},                                                \
		{.name = "variant",                                                        \
		 .kind = &flag_variant,                                                    \
		 .value = (changes),                                                       \
		 .about = "make this variant, built from a commit, or put it in place of " \
			  "the one of that name; as $VARIANTS does, \"NAME=COMMIT ...\""}, \
	{                                                                                  \
		.name = "profile", .kind = &flag_text, .value = &(changes)->profiles,      \
		.about = experiment_flags_profiles()                                       \
	}

/* What --profile is, with the names that there are. */
const char *experiment_flags_profiles(void);

/*
 * As flags_accept, for a verb with these flags: begins with what the environment's VARIANTS says,
 * so that flags go before it. Its words lie in `words`, which outlives the changes.
 */
bool experiment_flags_accept(struct flags *flags, struct experiment_changes *changes,
			     char words[EXPERIMENT_FLAGS_WORDS], int argc, char **argv,
			     int *status_out);

#endif
