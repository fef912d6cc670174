/*
 * setting: what describes a cell of an experiment, one row a setting.
 *
 * The table says for each setting what it may be; reading, messages, variant names and JSON all
 * come from it. A cell is one value of every setting.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_SETTING_H
#define WEIR_RUN_SETTING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum setting_id {
	SETTING_STACK,
	SETTING_PROTOCOL,
	SETTING_TLS,
	SETTING_DELIVERY,
	SETTING_DEPTH,
	SETTING_CONNECTIONS,
	SETTING_WORKERS,
	SETTING_REQUEST_BYTES,
	SETTING_RESPONSE_BYTES,
	SETTING_REFILL,
	SETTING_WAIT,
	SETTING_HANDLER,
	SETTING_HUGEPAGES,
	SETTING_CLIENT_STACK,
	SETTING_CLIENT_WAIT,
	SETTING_BARE,
	SETTING_CLIENT_WORKERS,
	SETTING_PLACEMENT,
	SETTING_HTTP_PARSER,
	SETTING_PATH,
	SETTING_COUNT,
};

enum setting_kind {
	SETTING_IS_WORD,
	SETTING_IS_NUMBER,
	SETTING_IS_FLAG,
};

/* A word is lent by the JSON it was read from, or static. */
struct setting_value {
	const char *word; /* of a number: "all" or "same" in its place; else NULL */
	uint32_t number;  /* numbers, and flags as 0 and 1 */
};

struct cell {
	struct setting_value of[SETTING_COUNT];
};

enum {
	/* Room for the name of a value or of a joined variant, which is part of a folder's. */
	SETTING_TEXT_BYTES = 192,
	/* Longest path of a request. */
	SETTING_PATH_BYTES = 128,
};

enum setting_kind setting_kind(enum setting_id id);

const char *setting_name(enum setting_id id);

/* The setting of that name, or SETTING_COUNT. */
enum setting_id setting_find(const char *name);

/* All names, SETTING_COUNT of them. */
const char *const *setting_names(void);

/* What it is if the experiment does not say; false if it must say. */
bool setting_default(enum setting_id id, struct setting_value *value_out);

/*
 * Reads a value. 0; or -EINVAL with what is wrong and what is accepted in `why`, in words that
 * follow the key's name.
 */
int setting_read(enum setting_id id, const json_t *json, struct setting_value *value_out, char *why,
		 size_t why_bytes);

bool setting_equal(enum setting_id id, struct setting_value a, struct setting_value b);

/* Whether it is this word, which may stand in a number's place. */
bool setting_says(struct setting_value value, const char *word);

/* Whether the cell's programs speak HTTP/1.1; else they speak the framed protocol. */
bool cell_speaks_http(const struct cell *cell);

/* A new reference. */
json_t *setting_to_json(enum setting_id id, struct setting_value value);

/*
 * The value as a piece of a variant's name: only letters, digits and @ . _ - False if it is longer
 * than there is room for, and cut.
 */
bool setting_label(enum setting_id id, struct setting_value value, char text[SETTING_TEXT_BYTES]);

/*
 * All settings by name, null with the reason where one does not apply; those of HTTP alone only
 * where that is spoken. A new reference.
 */
json_t *cell_to_json(const struct cell *cell);

#endif
