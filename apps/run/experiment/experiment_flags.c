#include "apps/run/experiment/experiment_flags.h"

#include "apps/common/exit.h"
#include "apps/run/experiment/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse_override(const struct flag *flag, const char *text)
{
	struct experiment_changes *changes = flag->value;

	if (!strchr(text, '=') || changes->override_count == EXPERIMENT_OVERRIDES_MAX)
		return -EINVAL;
	changes->overrides[changes->override_count++] = text;
	return 0;
}

static int add_variant(struct experiment_changes *changes, const char *text)
{
	const char *sign = strchr(text, '=');

	if (!sign || sign == text || !sign[1] || changes->variant_count == EXPERIMENT_VARIANTS_MAX)
		return -EINVAL;
	changes->variants[changes->variant_count++] = text;
	return 0;
}

static int parse_variant(const struct flag *flag, const char *text)
{
	return add_variant(flag->value, text);
}

const struct flag_kind flag_override = {
	.metavar = "KEY=VALUE",
	.accepts = "a key of the experiment and its value, like duration=1s or depth=8; at most 32 "
		   "times",
	.repeats = true,
	.parse = parse_override,
};

const struct flag_kind flag_variant = {
	.metavar = "NAME=COMMIT",
	.accepts = "a name and a commit, branch or tag, like base=HEAD~1; at most 16 times",
	.repeats = true,
	.parse = parse_variant,
};

const char *experiment_flags_profiles(void)
{
	static char text[256];

	snprintf(text, sizeof(text), "these profiles in place of the experiment's, A,B: %s",
		 profile_usage());
	return text;
}

/* Takes over what the environment says. 0, or -EINVAL with `error` filled. */
static int begin(struct experiment_changes *changes, char words[EXPERIMENT_FLAGS_WORDS],
		 struct tp_error *error)
{
	const char *said = getenv("VARIANTS");
	char *rest = words, *word;

	if (!said)
		return 0;
	if (strlen(said) >= EXPERIMENT_FLAGS_WORDS)
		return tp_fail(error, -EINVAL, "VARIANTS in the environment is too long");
	strcpy(words, said);
	while ((word = strsep(&rest, " \t\n")))
		if (*word && add_variant(changes, word) < 0)
			return tp_fail(error, -EINVAL,
				       "VARIANTS in the environment: '%.60s' is not accepted; "
				       "wanted: %s",
				       word, flag_variant.accepts);
	return 0;
}

bool experiment_flags_accept(struct flags *flags, struct experiment_changes *changes,
			     char words[EXPERIMENT_FLAGS_WORDS], int argc, char **argv,
			     int *status_out)
{
	struct tp_error error;

	if (begin(changes, words, &error) == 0)
		return flags_accept(flags, argc, argv, status_out);
	*status_out = exit_with(EXIT_USAGE, flags->program, &error);
	return false;
}
