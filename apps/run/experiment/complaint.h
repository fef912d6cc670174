/*
 * complaint: a problem with a value of an experiment, said with its place.
 *
 * Whoever judges a part of the file says where the value stands; from that come file, line and
 * column, or the flag of the command line that put it there.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_COMPLAINT_H
#define WEIR_RUN_COMPLAINT_H

#include "apps/run/experiment/experiment.h"
#include "apps/common/place.h"

/* The way to the value being judged: at most variants / NAME / set / KEY. */
struct way {
	struct place_step steps[4];
	unsigned count;
};

struct judge {
	struct experiment *experiment;
	const struct experiment_changes *changes;
	struct problems *problems;
};

enum { COMPLAINT_PLACE_BYTES = 160 };

struct way way_key(const char *key);

/* A step further: to a key, or if that is NULL, to the element at an index. */
struct way way_down(struct way way, const char *key, size_t index);

/* Whether the command line says what this key of "fixed", "factors" or the top is. */
bool judge_is_changed(const struct judge *judge, const char *key);

/* Adds a problem with the value, or with its key if `at_key`. */
void complain(const struct judge *judge, struct way way, bool at_key, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* That no `noun` has this name; names the one that may be meant. */
void complain_unknown(const struct judge *judge, struct way way, const char *noun, const char *name,
		      const char *const *names, unsigned count);

/* Where a value stands, for a message about another: "in line 3" or "by --set depth=8". */
const char *complaint_place(const struct judge *judge, struct way way,
			    char text[COMPLAINT_PLACE_BYTES]);

/*
 * The value at a top key if it is there and of the type, else NULL; a wrong type, or a lack where
 * needed, is a problem.
 */
const json_t *judge_top(const struct judge *judge, const char *key, json_type type, bool needed,
			const char *accepted);

/* That the value at the way is none of the accepted. */
void complain_value(const struct judge *judge, struct way way, const char *name,
		    const json_t *value, const char *accepted);

#endif
