#include "apps/run/experiment/setting.h"

#include "apps/common/json.h"
#include "apps/common/pipeline_flags.h"
#include "apps/common/stack.h"
#include "apps/load/client.h"
#include "apps/run/experiment/link.h"
#include "dataplane/core/limits.h"
#include "dataplane/core/units.h"
#include "dataplane/pipeline/delivery.h"
#include "dataplane/handlers/spec.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct setting {
	const char *name;
	enum setting_kind kind;
	bool needed;
	struct setting_value fallback; /* if not needed */
	const char *mark;	       /* stands before the value in a variant's name */
	uint32_t least, most;	       /* numbers */
	const char *const *words; /* those accepted, of numbers beside them, ended by NULL; or */
	int (*judge)(const char *word);	  /* words: 0 if accepted */
	const char *accepted;		  /* words and flags: what is, for messages; or */
	const char *(*accepted_of)(void); /* the same where it is made of a table */
	bool bytes;			  /* numbers: may be written with a unit, as "16KiB" */
	const char *zero;		  /* numbers: the word that 0 is another way to write */
	/* Words, or NULL: as `judge`, and says what is wrong with one; an empty text: no more. */
	int (*explain)(const char *word, struct tp_error *error);
};

static int judge_stack(const char *word)
{
	return link_find(word) ? 0 : -EINVAL;
}

static int judge_client_stack(const char *word)
{
	return strcmp(word, "same") == 0 ? 0 : judge_stack(word);
}

static int judge_client_wait(const char *word)
{
	return strcmp(word, "same") == 0 ? 0 : stack_wait_judge(word);
}

static const char *client_stack_usage(void)
{
	static char text[320];

	snprintf(text, sizeof(text), "same, %s", link_usage());
	return text;
}

static const char *client_wait_usage(void)
{
	static char text[160];

	snprintf(text, sizeof(text), "same, %s", stack_wait_usage);
	return text;
}

static int judge_delivery(const char *word)
{
	struct delivery ignored;

	return delivery_parse(word, &ignored);
}

/*
 * Files come by "server_config" and an upstream by "upstream", so that a result has them; what
 * options there are the handlers judge, and say.
 */
static int check_handler(const char *word, struct tp_error *error)
{
	const char *argument;
	const struct handler_ops *ops = spec_find(word, &argument);

	error->text[0] = '\0';
	if (!ops || ops->argument_is == HANDLER_PATH ||
	    (ops->takes_upstream && !spec_wants_upstream(word)))
		return -EINVAL;
	return spec_judge(word, error);
}

static int judge_handler(const char *word)
{
	struct tp_error ignored;

	return check_handler(word, &ignored);
}

/* The target of requests, as it stands in their first line and in a variant's name. */
static int judge_path(const char *word)
{
	size_t bytes = strlen(word);

	for (size_t i = 0; i < bytes; i++)
		if (!isgraph((unsigned char)word[i]) || word[i] == '#')
			return -EINVAL;
	return word[0] == '/' && bytes <= SETTING_PATH_BYTES ? 0 : -EINVAL;
}

static_assert(SETTING_PATH_BYTES == 128, "what is said to be accepted");

static const char *const protocol_words[] = {"framed", "http1", NULL};
static const char *const http_parser_words[] = {"views", "owned", NULL};
static const char *const workers_words[] = {"all", NULL};
static const char *const client_workers_words[] = {"same", "all", NULL};
static const char *const placement_words[] = {"same-node", "across-nodes", NULL};

static const struct setting settings[SETTING_COUNT] = {
	[SETTING_STACK] = {"stack", SETTING_IS_WORD, .needed = true, .mark = "",
			   .judge = judge_stack, .accepted_of = link_usage},
	[SETTING_PROTOCOL] = {"protocol", SETTING_IS_WORD, .fallback.word = "framed", .mark = "",
			      .words = protocol_words, .accepted = "framed or http1"},
	[SETTING_TLS] = {"tls", SETTING_IS_FLAG, .mark = "tls-", .most = 1,
			 .accepted = "true or false"},
	[SETTING_DELIVERY] = {"delivery", SETTING_IS_WORD, .fallback.word = "immediate", .mark = "",
			      .judge = judge_delivery, .accepted = delivery_usage},
	[SETTING_DEPTH] = {"depth", SETTING_IS_NUMBER, .fallback.number = 1, .mark = "d",
			   .least = 1, .most = LIMIT_DEPTH_MAX},
	[SETTING_CONNECTIONS] = {"connections", SETTING_IS_NUMBER, .fallback.number = 1,
				 .mark = "c", .least = 1, .most = LIMIT_CONN_MAX},
	[SETTING_WORKERS] = {"workers", SETTING_IS_NUMBER, .fallback.number = 1, .mark = "w",
			     .least = 1, .most = STACK_WORKERS_MAX, .words = workers_words,
			     .accepted = ", or \"all\""},
	[SETTING_REQUEST_BYTES] = {"request_bytes", SETTING_IS_NUMBER, .fallback.number = 256,
				   .mark = "q", .least = 0, .most = BODY_BYTES_MAX, .bytes = true},
	[SETTING_RESPONSE_BYTES] = {"response_bytes", SETTING_IS_NUMBER, .fallback.number = 64,
				    .mark = "a", .least = 0, .most = BODY_BYTES_MAX, .bytes = true},
	[SETTING_REFILL] = {"refill", SETTING_IS_WORD, .fallback.word = "window", .mark = "",
			    .words = client_refill_names, .accepted = "each or window"},
	[SETTING_WAIT] = {"wait", SETTING_IS_WORD, .fallback.word = "default", .mark = "",
			  .judge = stack_wait_judge, .accepted = stack_wait_usage},
	[SETTING_HANDLER] = {"handler", SETTING_IS_WORD, .fallback.word = "respond", .mark = "",
			     .judge = judge_handler, .explain = check_handler,
			     .accepted = "respond, respond:BYTES, echo, spin:US, proxy or cache, "
					 "these two also with options, as in cache:;ttl=60s"},
	[SETTING_HUGEPAGES] = {"hugepages", SETTING_IS_WORD, .fallback.word = "auto",
			       .mark = "huge-", .words = stack_hugepages_names,
			       .accepted = "auto, yes or no"},
	[SETTING_CLIENT_STACK] = {"client_stack", SETTING_IS_WORD, .fallback.word = "same",
				  .mark = "client-", .judge = judge_client_stack,
				  .accepted_of = client_stack_usage},
	[SETTING_CLIENT_WAIT] = {"client_wait", SETTING_IS_WORD, .fallback.word = "same",
				 .mark = "client-", .judge = judge_client_wait,
				 .accepted_of = client_wait_usage},
	[SETTING_BARE] = {"bare", SETTING_IS_FLAG, .mark = "bare-", .most = 1,
			  .accepted = "true or false"},
	[SETTING_CLIENT_WORKERS] = {"client_workers", SETTING_IS_NUMBER, .fallback.word = "same",
				    .mark = "client-w", .least = 0, .most = STACK_WORKERS_MAX,
				    .words = client_workers_words, .zero = "all",
				    .accepted = ", or \"same\" or \"all\""},
	[SETTING_PLACEMENT] = {"placement", SETTING_IS_WORD, .fallback.word = "same-node",
			       .mark = "", .words = placement_words,
			       .accepted = "same-node or across-nodes"},
	[SETTING_HTTP_PARSER] = {"http_parser", SETTING_IS_WORD, .fallback.word = "views",
				 .mark = "", .words = http_parser_words,
				 .accepted = "views or owned"},
	[SETTING_PATH] = {"path", SETTING_IS_WORD, .fallback.word = "/", .mark = "at",
			  .judge = judge_path,
			  .accepted = "a path, which begins with '/' and has at most 128 printable "
				      "characters, without blanks and '#'"},
};

enum setting_kind setting_kind(enum setting_id id)
{
	return settings[id].kind;
}

const char *setting_name(enum setting_id id)
{
	return settings[id].name;
}

enum setting_id setting_find(const char *name)
{
	unsigned id = 0;

	while (id < SETTING_COUNT && strcmp(settings[id].name, name) != 0)
		id++;
	return id;
}

const char *const *setting_names(void)
{
	static const char *names[SETTING_COUNT];

	for (unsigned i = 0; i < SETTING_COUNT; i++)
		names[i] = settings[i].name;
	return names;
}

bool setting_default(enum setting_id id, struct setting_value *value_out)
{
	if (settings[id].needed)
		return false;
	*value_out = settings[id].fallback;
	return true;
}

/* Says what was given where something else is accepted. */
static int refuse(const struct setting *setting, const json_t *json, char *why, size_t why_bytes)
{
	char *given = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT);
	const char *shown = given ? given : "(unprintable)";
	struct tp_error error = {.text = ""};

	if (setting->explain && json_is_string(json))
		setting->explain(json_string_value(json), &error);
	if (setting->kind == SETTING_IS_NUMBER)
		snprintf(why, why_bytes,
			 "is %.60s, but a whole number from %u to %u is accepted%s%s", shown,
			 setting->least, setting->most,
			 setting->bytes ? ", or one with its unit, like \"16KiB\"" : "",
			 setting->accepted ? setting->accepted : "");
	else
		snprintf(why, why_bytes, "is %.60s%s%.200s; accepted: %s", shown,
			 error.text[0] ? ": " : "", error.text,
			 setting->accepted_of ? setting->accepted_of() : setting->accepted);
	free(given);
	return -EINVAL;
}

/* The word as the table has it, which outlives any JSON; NULL if it is none of them. */
static const char *find_word(const struct setting *setting, const char *word)
{
	for (const char *const *known = setting->words; known && word && *known; known++)
		if (strcmp(*known, word) == 0)
			return *known;
	return NULL;
}

static bool is_word_accepted(const struct setting *setting, const char *word)
{
	return setting->judge ? setting->judge(word) == 0 : find_word(setting, word) != NULL;
}

/*
 * A number, a size in words, or a word that leaves the number to the program. False if it is none
 * of them, or out of bounds.
 */
static bool read_number(const struct setting *setting, const json_t *json,
			struct setting_value *value_out)
{
	uint64_t number = (uint64_t)json_integer_value(json);
	const char *text = json_string_value(json);

	value_out->word = find_word(setting, text);
	if (value_out->word)
		return true;
	if (json_is_integer(json) && json_integer_value(json) < 0)
		return false;
	if (!json_is_integer(json) &&
	    (!setting->bytes || !text || units_parse_bytes(text, setting->most, &number) < 0))
		return false;
	value_out->number = (uint32_t)number;
	value_out->word = number == 0 ? setting->zero : NULL;
	return number >= setting->least && number <= setting->most;
}

int setting_read(enum setting_id id, const json_t *json, struct setting_value *value_out, char *why,
		 size_t why_bytes)
{
	const struct setting *setting = &settings[id];
	struct setting_value value = {0};
	bool accepted = false;

	switch (setting->kind) {
	case SETTING_IS_WORD:
		value.word = json_string_value(json);
		accepted = value.word && is_word_accepted(setting, value.word);
		break;
	case SETTING_IS_NUMBER:
		accepted = read_number(setting, json, &value);
		break;
	case SETTING_IS_FLAG:
		value.number = json_is_true(json);
		accepted = json_is_boolean(json) && value.number <= setting->most;
		break;
	}
	if (!accepted)
		return refuse(setting, json, why, why_bytes);
	*value_out = value;
	return 0;
}

bool setting_equal(enum setting_id id, struct setting_value a, struct setting_value b)
{
	if (settings[id].kind == SETTING_IS_FLAG || (!a.word && !b.word))
		return a.number == b.number;
	return a.word && b.word && strcmp(a.word, b.word) == 0;
}

bool setting_says(struct setting_value value, const char *word)
{
	return value.word && strcmp(value.word, word) == 0;
}

json_t *setting_to_json(enum setting_id id, struct setting_value value)
{
	switch (settings[id].kind) {
	case SETTING_IS_WORD:
		return json_string(value.word);
	case SETTING_IS_NUMBER:
		return value.word ? json_string(value.word) : json_integer(value.number);
	case SETTING_IS_FLAG:
		return json_boolean(value.number);
	}
	return NULL;
}

bool setting_label(enum setting_id id, struct setting_value value, char text[SETTING_TEXT_BYTES])
{
	const struct setting *setting = &settings[id];
	int length;

	if (setting->kind != SETTING_IS_FLAG && value.word)
		length = snprintf(text, SETTING_TEXT_BYTES, "%s%s%s", setting->mark,
				  setting->kind == SETTING_IS_NUMBER ? "-" : "", value.word);
	else if (setting->kind == SETTING_IS_NUMBER)
		length = snprintf(text, SETTING_TEXT_BYTES, "%s%u", setting->mark, value.number);
	else
		length = snprintf(text, SETTING_TEXT_BYTES, "%s%s", setting->mark,
				  value.number ? "on" : "off");
	for (char *at = text; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("@._-", *at))
			*at = '-';
	return length < SETTING_TEXT_BYTES;
}

bool cell_speaks_http(const struct cell *cell)
{
	return setting_says(cell->of[SETTING_PROTOCOL], "http1");
}

/* Whether a setting is of HTTP alone. */
static bool is_of_http(enum setting_id id)
{
	return id == SETTING_HTTP_PARSER || id == SETTING_PATH;
}

json_t *cell_to_json(const struct cell *cell)
{
	bool http = cell_speaks_http(cell);
	json_t *json = json_object();

	for (unsigned id = 0; id < SETTING_COUNT; id++)
		if (http || !is_of_http(id))
			json_object_set_new(json, settings[id].name,
					    setting_to_json(id, cell->of[id]));
	if (cell->of[SETTING_BARE].number)
		json_set_unknown(json, settings[SETTING_DELIVERY].name,
				 "a bare server has no delivery policy");
	return json;
}
