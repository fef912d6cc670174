#include "apps/common/place.h"

#include <string.h>

/* Containers within each other that are kept apart; the parser takes no more. */
enum { DEPTH_MAX = 2048 };

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* Behind the string that begins at `at`. */
static const char *skip_string(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		if (*at == '\\' && at[1])
			at++;
	return *at ? at + 1 : at;
}

/*
 * Behind the value that begins at `at`; brackets are counted, since the text is known to be
 * well-formed.
 */
static const char *skip_value(const char *at)
{
	unsigned open = 0;

	do {
		if (*at == '"') {
			at = skip_string(at);
			continue;
		}
		if (*at == '{' || *at == '[')
			open++;
		else if (*at == '}' || *at == ']')
			open--;
		else if (open == 0)
			return at + strcspn(at, " \t\r\n,]}");
		at++;
	} while (*at && open > 0);
	return at;
}

static bool is_key(const char *at, const char *key)
{
	size_t bytes = strlen(key);

	return strncmp(at + 1, key, bytes) == 0 && at[1 + bytes] == '"';
}

/* To the next member or element of the same container, or NULL at its end. */
static const char *next_sibling(const char *value)
{
	const char *at = skip_blanks(skip_value(value));

	return *at == ',' ? skip_blanks(at + 1) : NULL;
}

/* The value that a member's key at `key` belongs to. */
static const char *value_of(const char *key)
{
	const char *at = skip_blanks(skip_string(key));

	return *at == ':' ? skip_blanks(at + 1) : at;
}

/* Where the step leads from the container at `at` (to the key in an object), or NULL. */
static const char *descend(const char *at, const struct place_step *step)
{
	bool object = *at == '{';
	size_t index = 0;

	if (!(object && step->key) && !(*at == '[' && !step->key))
		return NULL;
	at = skip_blanks(at + 1);
	if (*at == '}' || *at == ']')
		return NULL;
	while (at && !(object ? is_key(at, step->key) : index++ == step->index))
		at = next_sibling(object ? value_of(at) : at);
	return at;
}

struct place place_of(const char *text, const char *end)
{
	struct place place = {1, 1};

	for (const char *at = text; at < end; at++) {
		if (*at == '\n') {
			place.line++;
			place.column = 1;
		} else if (((unsigned char)*at & 0xC0) != 0x80) {
			place.column++;
		}
	}
	return place;
}

struct place place_find(const char *text, const struct place_step *steps, unsigned count,
			bool want_key)
{
	const char *at = skip_blanks(text);
	const char *found = at;

	for (unsigned i = 0; i < count; i++) {
		found = descend(at, &steps[i]);
		if (!found)
			break;
		at = steps[i].key ? value_of(found) : found;
	}
	return place_of(text, found && want_key ? found : at);
}

/*
 * The string that ends at `end`, in the object that `object_out` is set to; NULL if there is none
 * such.
 */
static const char *find_string(const char *text, const char *end, const char **object_out)
{
	const char *open[DEPTH_MAX], *at = text, *begin;
	unsigned depth = 0;

	while (*at && at < end) {
		if (*at == '"') {
			begin = at;
			at = skip_string(at);
			if (at == end && depth > 0) {
				*object_out = open[depth - 1];
				return begin;
			}
			continue;
		}
		if ((*at == '{' || *at == '[') && depth < DEPTH_MAX)
			open[depth++] = at;
		else if ((*at == '}' || *at == ']') && depth > 0)
			depth--;
		at++;
	}
	return NULL;
}

bool place_find_twin(const char *text, size_t end, char *key, size_t key_bytes,
		     struct place *first_out, struct place *second_out)
{
	const char *object, *at, *twin = find_string(text, text + end, &object);
	size_t bytes;

	if (!twin || *object != '{')
		return false;
	bytes = (size_t)(text + end - twin);
	at = skip_blanks(object + 1);
	/* As they are written: one with an escape in it is not found. */
	while (at && at < twin && strncmp(at, twin, bytes) != 0)
		at = next_sibling(value_of(at));
	if (!at || at >= twin || bytes < 2 || bytes - 2 >= key_bytes)
		return false;
	memcpy(key, twin + 1, bytes - 2);
	key[bytes - 2] = '\0';
	*first_out = place_of(text, at);
	*second_out = place_of(text, twin);
	return true;
}
