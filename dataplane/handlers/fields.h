/*
 * fields: a message's fields, looked at by name and written anew.
 *
 * Plane: turn. Nothing allocates; names that are asked for are in lower case.
 */
#ifndef WEIR_HANDLERS_FIELDS_H
#define WEIR_HANDLERS_FIELDS_H

#include "dataplane/core/span.h"
#include "dataplane/proto/http1.h"

#include <stdbool.h>
#include <stdint.h>

/* A walk over the fields of one name. */
struct fields_walk {
	const struct http1_field *field;
	unsigned left;
};

/* The fields of a request or response. */
#define FIELDS_WALK(message) ((struct fields_walk){(message)->fields, (message)->field_count})

/* The value of the next field of this name; false if there is none. */
bool fields_next(struct fields_walk *walk, const char *name, struct span *value_out);

/* Whether there is a field of this name. */
bool fields_have(struct fields_walk walk, const char *name);

/* Takes the next member off a list that is parted by commas; false at its end. */
bool fields_member(struct span *list, struct span *member_out);

/* Whether `text` is `lower`, in whatever case. */
bool fields_same(struct span text, const char *lower);

/* The same, for two that come from outside. */
bool fields_alike(struct span a, struct span b);

/* Reads decimal digits alone, and nothing above `max`. */
bool fields_number(struct span text, uint64_t max, uint64_t *number_out);

/*
 * The date of the only field of this name; one that is no date, or one of several, counts as none.
 */
bool fields_date(struct fields_walk walk, const char *name, int64_t *seconds_out);

/* Lines that are being written; what does not fit is not written at all, and remembered. */
struct fields_text {
	uint8_t *base;
	size_t bytes;
	size_t room;
	bool full; /* something did not fit */
};

void fields_put(struct fields_text *text, struct span piece);
/* In lower case. */
void fields_put_lower(struct fields_text *text, struct span piece);

void fields_put_text(struct fields_text *text, const char *piece);
void fields_put_number(struct fields_text *text, uint64_t number);

/* A whole line with its CRLF. */
void fields_put_line(struct fields_text *text, struct span name, struct span value);

/* What has been written. */
static inline struct span fields_written(const struct fields_text *text)
{
	return (struct span){text->base, text->bytes};
}

#endif
