/*
 * option: what a stack can be told beyond its device.
 *
 * A stack declares a constant table of options (tp_ops.options). A user writes them behind the
 * device, `uring@loopback,sqpoll=on,zero-copy-bytes=16KiB`; the text becomes an array of numbers in
 * the table's order, which open takes (tp_config.options). So one word in an experiment carries a
 * stack with all that it was told, and what it was told is printed and recorded in full.
 *
 * Plane: setup.
 */
#ifndef WEIR_TRANSPORT_OPTION_H
#define WEIR_TRANSPORT_OPTION_H

#include "dataplane/core/units.h"

#include <stdint.h>

struct tp_error;
struct tp_ops;

enum {
	TP_OPTIONS_MAX = 24,	     /* of one stack */
	TP_OPTION_TEXT = UNITS_TEXT, /* a printed value and its end */
};

/* How a value is written. */
enum tp_option_kind {
	TP_OPTION_SWITCH,   /* on or off: 1 or 0 */
	TP_OPTION_COUNT,    /* 64, or the word that stands for the most */
	TP_OPTION_BYTES,    /* 16384, 16KiB */
	TP_OPTION_DURATION, /* 50us: nanoseconds; "0" is 0 */
	TP_OPTION_CHOICE,   /* one of `choices`, by its index */
};

struct tp_option {
	const char *name; /* words joined by hyphens */
	enum tp_option_kind kind;
	uint64_t initial; /* the value if none is given */
	uint64_t min;
	uint64_t max; /* a switch and a choice have none */
	/* A count: how `max` is written, e.g. "worker"; a duration: how 0 is, "off"; or NULL. */
	const char *word;
	const char *const *choices; /* ended by NULL */
	const char *about;	    /* one line */
};

/*
 * Reads "KEY=VALUE,KEY=VALUE" ("" for none) into `values_out`, one for each option of the stack.
 * 0; or -EINVAL with `error` naming the option, what was given and what is accepted.
 */
int tp_options_parse(const struct tp_ops *ops, const char *text,
		     uint64_t values_out[TP_OPTIONS_MAX], struct tp_error *error);

/* The value as it is written; returns `text`. */
const char *tp_option_print(const struct tp_option *option, uint64_t value,
			    char text[TP_OPTION_TEXT]);

/* What may be written, e.g. "on or off", "0 to 65536 bytes"; returns `text`. */
const char *tp_option_accepted(const struct tp_option *option, char text[128]);

#endif
