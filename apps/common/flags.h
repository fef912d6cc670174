/*
 * flags: a verb's command line as a table.
 *
 * Each row names a flag, the kind of value it takes, where the value goes and its default in
 * the same words. From the table come the parsing, the help, the messages and the record of the
 * effective configuration, so none of them can disagree. A flag is `--name VALUE` or
 * `--name=VALUE`; one that is unknown, wrong or given twice is an error that says what would be
 * right.
 *
 * The table is the verb's; values and texts that parsing stores are lent from argv. Plane: setup.
 */
#ifndef WEIR_APPS_FLAGS_H
#define WEIR_APPS_FLAGS_H

#include "dataplane/transport/transport.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct flag;

/* A kind of value; verbs may have kinds of their own. */
struct flag_kind {
	const char *metavar; /* in the help: "IP:PORT"; NULL: the row's choices */
	/* In messages: "an IPv4 address and a port"; NULL: the row's range or choices. */
	const char *accepts;
	bool number;  /* printed as a number in JSON */
	bool repeats; /* may be given more than once: parse is called for each */
	/* Reads `text` into flag->value. 0, or -EINVAL with the value untouched. */
	int (*parse)(const struct flag *flag, const char *text);
};

struct flag {
	const char *name; /* without the dashes */
	const struct flag_kind *kind;
	void *value;	     /* of the type that the kind names */
	const char *initial; /* the default; NULL if unset means absent */
	const char *about;   /* one line */
	uint64_t min;	     /* for numbers */
	uint64_t max;
	const char *const *choices; /* for flag_choice, ended by NULL */
	/* Written by flags_parse and flags_resolve. */
	const char *text; /* the effective value; NULL if absent */
	bool given;
};

extern const struct flag_kind flag_text;     /* const char *: lent */
extern const struct flag_kind flag_count;    /* uint32_t in [min, max] */
extern const struct flag_kind flag_bytes;    /* uint32_t in [min, max]; KiB, MiB, GiB may follow */
extern const struct flag_kind flag_duration; /* uint64_t, ns, in [min, max] */
extern const struct flag_kind flag_choice;   /* unsigned: the index in choices */
extern const struct flag_kind flag_cpus;     /* struct cpus */
extern const struct flag_kind flag_endpoint; /* struct tp_addr */
extern const struct flag_kind flag_subnet;   /* struct subnet */
extern const struct flag_kind flag_switch;   /* bool; takes no value */

struct flags {
	const char *program; /* "weir serve" */
	const char *about;   /* a sentence for the help */
	/*
	 * What must stand beside the flags, e.g. "DIR", and where it goes, lent from argv; NULL if
	 * nothing may.
	 */
	const char *operand;
	const char **operand_value;
	struct flag *table;
	unsigned count;
};

enum flags_outcome {
	FLAGS_OK,
	FLAGS_HELP,  /* --help was given: the help is what is wanted */
	FLAGS_WRONG, /* error is filled */
};

/* Sets every default, then reads argv[1] to argv[argc - 1]. */
enum flags_outcome flags_parse(struct flags *flags, int argc, char **argv, struct tp_error *error);

/*
 * The same for a verb's beginning: prints the help or the error. True to go on; else `status_out`
 * is the verb's exit status.
 */
bool flags_accept(struct flags *flags, int argc, char **argv, int *status_out);

void flags_print_help(const struct flags *flags, FILE *to);

/* The row of a name that the table has (CHECK). */
struct flag *flags_find(const struct flags *flags, const char *name);

/*
 * Says what a value left to the program became ("default" -> "block", NULL for a flag without
 * effect); `text` is lent. Its source stays as it was.
 */
void flags_resolve(const struct flags *flags, const char *name, const char *text);

/* One line a flag: config KEY=VALUE (default|flag). Absent values are left out. */
void flags_print_config(const struct flags *flags, FILE *to);

/*
 * All effective values, dashes in names as underscores; absent ones are null. Owned by the
 * caller.
 */
json_t *flags_to_json(const struct flags *flags);

#endif
