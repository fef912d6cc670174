#include "apps/run/experiment/kind_judge.h"

#include "dataplane/core/check.h"

#include <stdio.h>
#include <string.h>

enum { KEYS_MAX = 16, LIST_BYTES = 512 };

/* "a, b or c" */
static const char *list(const char *const *words, unsigned count, char text[LIST_BYTES])
{
	size_t used = 0;

	for (unsigned i = 0; i < count && used < LIST_BYTES; i++)
		used += (size_t)snprintf(text + used, LIST_BYTES - used, "%s%s",
					 i == 0		  ? ""
					 : i == count - 1 ? " or "
							  : ", ",
					 words[i]);
	return text;
}

unsigned kind_judge_word(const struct judge *judge, struct way way, const json_t *object,
			 const char *key, const char *const *words, unsigned count)
{
	const json_t *value = json_object_get(object, key);
	const char *word = json_string_value(value);
	char accepted[LIST_BYTES];

	for (unsigned i = 0; word && i < count; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	list(words, count, accepted);
	if (value)
		complain_value(judge, way_down(way, key, 0), key, value, accepted);
	else
		complain(judge, way, false, "'%s' is missing; accepted: %s", key, accepted);
	return count;
}

static void judge_key(const struct judge *judge, struct way way, const char *key,
		      const struct kind_key *keys, unsigned count, unsigned kind, const char *name)
{
	const char *names[KEYS_MAX];
	unsigned fitting = 0;

	CHECK(count <= KEYS_MAX);
	for (unsigned i = 0; i < count; i++) {
		bool fits = keys[i].kinds & 1u << kind;

		if (fits)
			names[fitting++] = keys[i].name;
		if (strcmp(keys[i].name, key) != 0)
			continue;
		if (!fits)
			complain(judge, way, true, "'%s' does not go with the kind \"%s\"", key,
				 name);
		return;
	}
	complain_unknown(judge, way, "key", key, names, fitting);
}

void kind_judge_keys(const struct judge *judge, struct way way, const json_t *object,
		     const struct kind_key *keys, unsigned count, unsigned kind, const char *name)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		judge_key(judge, way_down(way, key, 0), key, keys, count, kind, name);
	}
}

bool kind_judge_number(const struct judge *judge, struct way way, const json_t *object,
		       const char *key, double least, double most, const char *accepted)
{
	const json_t *value = json_object_get(object, key);
	double number = json_number_value(value);

	if (value && (!json_is_number(value) || number < least || number > most))
		complain_value(judge, way_down(way, key, 0), key, value, accepted);
	return value != NULL;
}
