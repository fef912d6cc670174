/*
 * flags: a verb's command line as a table.
 *
 * Each row names a flag, the kind of value it takes, where the value goes and its default in
 * the same words. From the table come the parsing, the help, the messages and the record of the
 * effective configuration, so none of them can disagree. A flag is `--name VALUE` or
 * `--name=VALUE`, a switch `--name` or `--no-name`; one that is unknown, wrong or given twice is
 * an error that says what would be right. Between the defaults and the command line there may be
 * files that say the same (config.h).
 *
 * The table is the verb's; values and texts that parsing stores are lent from argv. Plane: setup.
 */
#ifndef WEIR_APPS_FLAGS_H
#define WEIR_APPS_FLAGS_H

#include "apps/common/place.h"
#include "dataplane/transport/transport.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
	FLAGS_MAX = 64, /* rows of a table */
	FLAGS_ACCEPTS_BYTES = 256,
	FLAGS_KEY_BYTES = 64,
};

struct flag;

/* What is wrong within a value that has parts, and where. */
struct flag_fault {
	unsigned skip; /* faults to be passed over first; what is left of it when there is none */
	struct place_step steps[3];
	unsigned step_count;
	bool at_key;		   /* the last step's key, not what it leads to */
	char key[FLAGS_KEY_BYTES]; /* room for one that a step lends */
	char text[512];
};

/* A kind of value; verbs may have kinds of their own. */
struct flag_kind {
	const char *metavar; /* in the help: "IP:PORT"; NULL: the row's choices */
	/* In messages: "an IPv4 address and a port"; NULL: the row's range or choices. */
	const char *accepts;
	bool number;  /* a number in JSON */
	bool units;   /* which in files may also be a text with its unit */
	bool json;    /* its text is JSON */
	bool repeats; /* may be given more than once: parse is called for each */
	/* Reads `text` into flag->value. 0, or -EINVAL with the value untouched. */
	int (*parse)(const struct flag *flag, const char *text);
	/*
	 * Says more of a text that parse refuses than what is accepted; or NULL. Fills the fault
	 * behind the first `skip`, which the caller sets and all else of it is zero; false if there
	 * are no more.
	 */
	bool (*explain)(const char *text, struct flag_fault *fault);
	/*
	 * A file's value with each relative path in it led on from that file's folder; owned by the
	 * caller. NULL: there are no paths in it.
	 */
	json_t *(*locate)(const json_t *value, const char *folder);
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
	bool command_line;	    /* no file may say it */
	/* Written by flags_parse, flags_take and flags_resolve. */
	const char *text;   /* the effective value; NULL if absent */
	bool given;	    /* it is not the default */
	const char *source; /* "default", "flag" or the file that says it; lent */
	unsigned layer;	    /* the higher goes before; 0: default */
};

/* The layer of the command line. */
#define FLAGS_COMMAND_LINE UINT32_MAX

extern const struct flag_kind flag_text;     /* const char *: lent */
extern const struct flag_kind flag_path;     /* const char *: lent */
extern const struct flag_kind flag_count;    /* uint32_t in [min, max] */
extern const struct flag_kind flag_bytes;    /* uint32_t in [min, max]; KiB, MiB, GiB may follow */
extern const struct flag_kind flag_ring;     /* uint32_t, a power of two in [min, max] */
extern const struct flag_kind flag_duration; /* uint64_t, ns, in [min, max] */
extern const struct flag_kind flag_timeout;  /* uint64_t, ns, in [min, max]; "off" is 0 */
extern const struct flag_kind flag_choice;   /* unsigned: the index in choices */
extern const struct flag_kind flag_cpus;     /* struct cpus */
extern const struct flag_kind flag_endpoint; /* struct tp_addr */
extern const struct flag_kind flag_subnet;   /* struct subnet */
extern const struct flag_kind flag_switch;   /* bool; takes no value, its text is yes or no */

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

/* The row of a key, which is a name with underscores for its dashes; NULL if there is none. */
struct flag *flags_find_key(const struct flags *flags, const char *key);

/* A flag's name as a key; returns `key`. */
const char *flags_key(const struct flag *flag, char key[FLAGS_KEY_BYTES]);

/* What a flag accepts, in words. */
const char *flags_accepts(const struct flag *flag, char text[FLAGS_ACCEPTS_BYTES]);

/*
 * What a file says of a flag that is on no higher layer; of one that is, the text is judged alone.
 * Text and source are lent. 0, or -EINVAL.
 */
int flags_take(struct flag *flag, const char *text, const char *source, unsigned layer);

/* A relative path from `folder` on ("" for the current one), behind the text's first bytes. */
json_t *flags_locate(const char *text, size_t path_at, const char *folder);

/*
 * Says what a value left to the program became ("default" -> "block", NULL for a flag without
 * effect); `text` is lent. Its source stays as it was.
 */
void flags_resolve(const struct flags *flags, const char *name, const char *text);

/*
 * Drops the values of all flags whose names begin with `prefix`, which mean nothing without
 * `needed`, a flag with its dashes. One of them on the command line, or said by a file that goes
 * before all who say that flag, is a mistake: -EINVAL with `error` filled.
 */
int flags_drop(struct flags *flags, const char *prefix, const char *needed, struct tp_error *error);

/* One line a flag: config KEY=VALUE (SOURCE). Absent values are left out. */
void flags_print_config(const struct flags *flags, FILE *to);

/*
 * All effective values, dashes in names as underscores; absent ones are null. Owned by the
 * caller.
 */
json_t *flags_to_json(const struct flags *flags);

/* The source of each value that there is, by the same names. Owned by the caller. */
json_t *flags_sources_to_json(const struct flags *flags);

#endif
