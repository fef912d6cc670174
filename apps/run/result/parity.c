#include "apps/run/result/parity.h"

#include "apps/common/json.h"
#include "apps/run/sample/ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the answer depends on, and what a server is told beside that. */
static const enum setting_id of_request[] = {SETTING_PROTOCOL,	     SETTING_TLS,
					     SETTING_HANDLER,	     SETTING_REQUEST_BYTES,
					     SETTING_RESPONSE_BYTES, SETTING_PATH};
static const enum setting_id of_server[] = {SETTING_STACK,	SETTING_DELIVERY, SETTING_WORKERS,
					    SETTING_WAIT,	SETTING_BARE,	  SETTING_HUGEPAGES,
					    SETTING_HTTP_PARSER};

/* Of a mismatch, which is told as an error; and of it, of what a client said. */
enum { MISMATCH_BYTES = sizeof(((struct tp_error *)NULL)->text), WRONG_BYTES = 240 };

/* A check that is being made. */
struct check {
	const struct plan *plan;
	struct directory *directory;
	struct interrupt *interrupt;
	const char *when;
	unsigned asked; /* servers, so far */
	bool unknown;	/* of one there is no digest */
	bool apart;	/* the experiment has hosts, and servers on them are not asked */
	char mismatch[MISMATCH_BYTES];
};

/* These settings of a cell, by name; a new reference. */
static json_t *choose(const struct plan_cell *cell, const enum setting_id *ids, unsigned count)
{
	json_t *all = cell_to_json(&cell->cell), *chosen = json_object();

	for (unsigned i = 0; i < count; i++)
		json_object_set(chosen, setting_name(ids[i]),
				json_object_get(all, setting_name(ids[i])));
	json_decref(all);
	return chosen;
}

static json_t *request_of(const struct plan_cell *cell)
{
	return choose(cell, of_request, sizeof(of_request) / sizeof(of_request[0]));
}

/* What tells a server from another of the same group. */
static bool same_server(const struct plan_cell *one, const struct plan_cell *other)
{
	unsigned count = sizeof(of_server) / sizeof(of_server[0]);

	if (one->program != other->program)
		return false;
	for (unsigned i = 0; i < count; i++)
		if (!setting_equal(of_server[i], one->cell.of[of_server[i]],
				   other->cell.of[of_server[i]]))
			return false;
	return true;
}

static bool same_request(const struct plan_cell *one, const struct plan_cell *other)
{
	for (unsigned i = 0; i < sizeof(of_request) / sizeof(of_request[0]); i++)
		if (!setting_equal(of_request[i], one->cell.of[of_request[i]],
				   other->cell.of[of_request[i]]))
			return false;
	return true;
}

/* The first sample of a cell; every cell has one. */
static const struct plan_sample *sample_of(const struct plan *plan, const struct plan_cell *cell)
{
	for (unsigned i = 0; i < plan->sample_count; i++)
		if (plan->samples[i].cell == cell)
			return &plan->samples[i];
	return NULL;
}

/* Whether no cell before it asks for the same, or for the same of the same server. */
static bool is_first(const struct plan *plan, unsigned index, bool of_its_server)
{
	const struct plan_cell *cell = &plan->cells[index];

	for (unsigned i = 0; i < index; i++)
		if (same_request(&plan->cells[i], cell) &&
		    (!of_its_server || same_server(&plan->cells[i], cell)))
			return false;
	return true;
}

unsigned parity_count(const struct plan *plan)
{
	unsigned count = 0;

	if (plan->cell_count < 2 || json_object_get(plan->experiment->json, "hosts"))
		return 0;
	for (unsigned i = 0; i < plan->cell_count; i++)
		count += is_first(plan, i, true);
	return count;
}

static json_t *server_to_json(const struct plan_cell *cell, const struct answer *answer)
{
	json_t *server = json_object();

	json_object_set_new(server, "variant", json_text(cell->variant));
	if (!answer->hex[0]) {
		json_set_unknown(server, "digest", answer->failure);
		json_set_unknown(server, "bytes", answer->failure);
		json_set_unknown(server, "verified", answer->failure);
		return server;
	}
	json_object_set_new(server, "digest", json_text(answer->hex));
	json_object_set_new(server, "bytes", json_count(answer->bytes));
	json_object_set_new(server, "verified", json_boolean(answer->verified));
	if (!answer->verified)
		json_object_set_new(server, "wrong", json_text(answer->failure));
	return server;
}

/* The text of what was asked: "handler respond, request_bytes 256, ..." */
static void print_request(const json_t *request, char *text, size_t text_bytes)
{
	const char *name;
	size_t used = 0;
	json_t *value;

	text[0] = '\0';
	json_object_foreach((json_t *)request, name, value)
	{
		char *shown = json_dumps(value, JSON_ENCODE_ANY);

		if (shown && !json_is_null(value) && !strstr(name, "_reason") && used < text_bytes)
			used += (size_t)snprintf(text + used, text_bytes - used, "%s%s %s",
						 used ? ", " : "", name, shown);
		free(shown);
	}
}

/* Has a text of `bytes` that was cut by snprintf to `text_bytes` end with a word and "...". */
static void end_with_word(char *text, size_t text_bytes, int bytes)
{
	char *end = text + text_bytes - sizeof(" ...");

	if (bytes < (int)text_bytes)
		return;
	while (end > text && *end != ' ')
		end--;
	strcpy(end, " ...");
}

/* Says what differs, if nothing did before; the first of a group is what others are held to. */
static void note_mismatch(struct check *check, const json_t *request, const json_t *first,
			  const json_t *other)
{
	const char *digest = json_string_value(json_object_get(other, "digest"));
	const char *said = json_string_value(json_object_get(other, "wrong"));
	char text[400], wrong[WRONG_BYTES];
	int bytes;

	if (check->mismatch[0])
		return;
	print_request(request, text, sizeof(text));
	end_with_word(wrong, sizeof(wrong), snprintf(wrong, sizeof(wrong), "%s", said ? said : ""));
	if (first == other)
		bytes = snprintf(check->mismatch, sizeof(check->mismatch),
				 "the answers of %.120s are wrong: %s; asked for: %s",
				 json_string_value(json_object_get(other, "variant")), wrong, text);
	else
		bytes = snprintf(check->mismatch, sizeof(check->mismatch),
				 "the answers of %.120s (SHA-256 %s) and %.120s (SHA-256 %s) "
				 "differ; asked for: %s",
				 json_string_value(json_object_get(first, "variant")),
				 json_string_value(json_object_get(first, "digest")),
				 json_string_value(json_object_get(other, "variant")), digest,
				 text);
	end_with_word(check->mismatch, sizeof(check->mismatch), bytes);
}

/* Whether all of a group that gave a digest gave the same, and right answers. */
static bool compare(struct check *check, const json_t *request, const json_t *servers)
{
	const json_t *first = NULL;
	bool equal = true;
	size_t index;
	json_t *server;

	json_array_foreach((json_t *)servers, index, server)
	{
		const json_t *digest = json_object_get(server, "digest");

		if (!json_is_string(digest))
			continue;
		first = first ? first : server;
		if (json_equal((json_t *)digest, json_object_get(first, "digest")))
			continue;
		note_mismatch(check, request, first, server);
		equal = false;
	}
	json_array_foreach((json_t *)servers, index, server)
	{
		if (!json_is_false(json_object_get(server, "verified")))
			continue;
		note_mismatch(check, request, server, server);
		equal = false;
	}
	return equal;
}

/* Asks the server of one cell and adds what it answered. 0 or why the check cannot go on. */
static int add_server(struct check *check, const struct plan_cell *cell, json_t *servers)
{
	char prefix[ASK_PREFIX_BYTES];
	struct answer answer;
	int code;

	snprintf(prefix, sizeof(prefix), "parity/%.20s-%02u", check->when, ++check->asked);
	code = ask_server(sample_of(check->plan, cell), check->directory, check->interrupt, prefix,
			  &answer);
	if (code < 0)
		return code;
	check->unknown |= answer.hex[0] == '\0';
	json_array_append_new(servers, server_to_json(cell, &answer));
	return 0;
}

/* Asks every distinct server of the group that a cell is the first of. */
static int add_group(struct check *check, unsigned first, json_t *groups)
{
	const struct plan *plan = check->plan;
	json_t *servers = json_array(), *request = request_of(&plan->cells[first]);
	json_t *group = json_object();
	int code = 0;

	for (unsigned i = first; i < plan->cell_count && code == 0; i++)
		if (same_request(&plan->cells[first], &plan->cells[i]) && is_first(plan, i, true))
			code = add_server(check, &plan->cells[i], servers);
	if (code == 0)
		json_object_set_new(group, "equal", json_boolean(compare(check, request, servers)));
	json_object_set_new(group, "request", request);
	json_object_set_new(group, "servers", servers);
	json_array_append_new(groups, group);
	return code;
}

static json_t *check_to_json(const struct check *check, json_t *groups)
{
	json_t *parity = json_object();

	json_object_set_new(parity, "when", json_text(check->when));
	if (check->apart)
		json_set_unknown(parity, "equal", "servers on other hosts are not asked");
	else if (check->mismatch[0])
		json_object_set_new(parity, "equal", json_false());
	else if (check->unknown)
		json_set_unknown(parity, "equal", "a server could not be asked: see its digest");
	else
		json_object_set_new(parity, "equal", json_true());
	json_object_set_new(parity, "mismatch",
			    json_text(check->mismatch[0] ? check->mismatch : NULL));
	json_object_set_new(parity, "groups", groups);
	return parity;
}

int parity_check(const struct plan *plan, struct directory *directory, struct interrupt *interrupt,
		 const char *when, json_t **parity_out)
{
	struct check check = {
		.plan = plan, .directory = directory, .interrupt = interrupt, .when = when};
	json_t *groups = json_array();
	int code = directory_folder(directory, "parity");

	check.apart = json_object_get(plan->experiment->json, "hosts") != NULL;
	for (unsigned i = 0; !check.apart && i < plan->cell_count && code == 0; i++)
		if (is_first(plan, i, false))
			code = add_group(&check, i, groups);
	if (code < 0)
		json_decref(groups);
	else
		*parity_out = check_to_json(&check, groups);
	return code;
}

int parity_keep(const struct plan *plan, struct directory *directory, struct interrupt *interrupt,
		bool after, json_t *parity)
{
	const char *when = after ? "after" : "before", *mismatch;
	json_t *found = NULL;
	int code = parity_check(plan, directory, interrupt, when, &found);

	if (code < 0)
		return code;
	json_object_set_new(parity, "schema", json_string(PARITY_SCHEMA));
	json_object_set_new(parity, when, found);
	code = directory_write_json(directory, "parity.json", parity);
	mismatch = parity_mismatch(found);
	if (code < 0 || after || !mismatch)
		return code;
	return directory_refuse(directory, -EBADMSG, "%s", mismatch);
}

const char *parity_mismatch(const json_t *parity)
{
	return json_string_value(json_object_get(parity, "mismatch"));
}
