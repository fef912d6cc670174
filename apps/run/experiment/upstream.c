#include "apps/run/experiment/upstream.h"

#include "apps/run/experiment/axis_judge.h"
#include "apps/run/experiment/complaint.h"
#include "dataplane/handlers/spec.h"

#include <stdio.h>
#include <string.h>

static const char key[] = "upstream";

/* What an upstream may be told; all else about it is fixed. */
static const enum setting_id known[] = {SETTING_HANDLER, SETTING_RESPONSE_BYTES, SETTING_WORKERS};

enum { KNOWN = sizeof(known) / sizeof(known[0]) };

/* The place of a setting among those, or KNOWN. */
static unsigned find(const char *name)
{
	unsigned i = 0;

	while (i < KNOWN && strcmp(setting_name(known[i]), name) != 0)
		i++;
	return i;
}

static void complain_key(const struct judge *judge, struct way way, const char *name)
{
	const char *names[KNOWN];

	for (unsigned i = 0; i < KNOWN; i++)
		names[i] = setting_name(known[i]);
	complain_unknown(judge, way, "key", name, names, KNOWN);
}

/* What may be a server's, but not of one that has none behind it and CPUs of its own. */
static void judge_value(const struct judge *judge, struct way way, enum setting_id id,
			const json_t *json, struct setting_value value)
{
	const char *argument;

	if (id == SETTING_HANDLER && spec_find(value.word, &argument)->takes_upstream)
		complain_value(judge, way, setting_name(id), json,
			       "a handler that answers by itself, like \"respond\"");
	else if (id == SETTING_WORKERS && value.word)
		complain_value(judge, way, setting_name(id), json, "a number");
}

void upstream_judge(const struct judge *judge)
{
	const json_t *object = judge_top(judge, key, JSON_OBJECT, false,
					 "an object, like {\"handler\": \"respond\", "
					 "\"response_bytes\": 1024, \"workers\": 1}");
	struct setting_value values[KNOWN];
	const char *name;
	json_t *json;

	for (unsigned i = 0; i < KNOWN; i++)
		setting_default(known[i], &values[i]);
	json_object_foreach((json_t *)object, name, json)
	{
		struct way way = way_down(way_key(key), name, 0);
		unsigned i = find(name);

		if (i == KNOWN)
			complain_key(judge, way, name);
		else if (axis_judge_value(judge, way, known[i], json, &values[i]))
			judge_value(judge, way, known[i], json, values[i]);
	}
	judge->experiment->upstream = (struct upstream){.wanted = object != NULL,
							.handler = values[0].word,
							.response_bytes = values[1].number,
							.workers = values[2].number};
}
