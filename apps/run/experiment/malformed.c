#include "apps/run/experiment/malformed.h"

#include "apps/run/experiment/experiment_judge.h"
#include "apps/common/place.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The words in which the text has something where a value should be; `end` is behind it. */
struct token {
	const char *begin;
	const char *end;
};

static bool is_of_token(char c)
{
	return isalnum((unsigned char)c) || c == '+' || c == '-' || c == '.';
}

/* The word around a place in the text; empty if there is none. */
static struct token find_token(const struct experiment *experiment, size_t position)
{
	const char *text = experiment->text, *stop = text + experiment->text_bytes;
	struct token token = {text + position, text + position};

	while (token.begin > text && is_of_token(token.begin[-1]))
		token.begin--;
	while (token.end < stop && is_of_token(*token.end))
		token.end++;
	return token;
}

/* The experiment with the word as a text in its place, so that it can be judged; NULL if not. */
static struct experiment *quote_token(const struct experiment *experiment, struct token token)
{
	struct experiment *quoted = calloc(1, sizeof(*quoted));
	size_t bytes = experiment->text_bytes + 3,
	       before = (size_t)(token.begin - experiment->text);

	if (quoted)
		quoted->text = malloc(bytes);
	if (!quoted || !quoted->text) {
		experiment_free(quoted);
		return NULL;
	}
	quoted->text_bytes = (size_t)snprintf(quoted->text, bytes, "%.*s\"%.*s\"%s", (int)before,
					      experiment->text, (int)(token.end - token.begin),
					      token.begin, token.end);
	snprintf(quoted->path, sizeof(quoted->path), "%s", experiment->path);
	quoted->json = json_loadb(quoted->text, quoted->text_bytes, JSON_REJECT_DUPLICATES, NULL);
	if (json_is_object(quoted->json))
		return quoted;
	experiment_free(quoted);
	return NULL;
}

/* Copies what is said of a place, "PATH:LINE:COLUMN: ", to `said`, which is empty if nothing is. */
static void copy_said(const struct problems *problems, const char *of, char said[600])
{
	const char *found = strstr(problems->text, of);

	said[0] = '\0';
	if (!found)
		return;
	found += strlen(of);
	snprintf(said, 600, "%.*s", (int)strcspn(found, "\n"), found);
}

/* What would be said of the word if it were a text: it names what is accepted there. */
static void judge_token(const struct experiment *experiment, struct token token, const char *of,
			char said[600])
{
	static const struct experiment_changes none;
	struct experiment *quoted = quote_token(experiment, token);
	struct problems *problems = calloc(1, sizeof(*problems));

	said[0] = '\0';
	if (quoted && problems) {
		experiment_judge(quoted, &none, problems);
		copy_said(problems, of, said);
	}
	free(problems);
	experiment_free(quoted);
}

/* Whether it could be said of the word at the error what is accepted there. */
static bool say_token(const struct experiment *experiment, const json_error_t *error,
		      struct problems *problems)
{
	struct token token = find_token(experiment, (size_t)error->position);
	struct place place = place_of(experiment->text, token.begin);
	char of[PATH_MAX + 32], said[600];

	if (token.begin == token.end)
		return false;
	snprintf(of, sizeof(of), "%s:%u:%u: ", experiment->path, place.line, place.column);
	judge_token(experiment, token, of, said);
	if (said[0])
		problems_add(problems, "%s%.*s is no value in JSON: %s", of,
			     (int)(token.end - token.begin), token.begin, said);
	return said[0] != '\0';
}

static bool say_twin(const struct experiment *experiment, const json_error_t *error,
		     struct problems *problems)
{
	struct place first, second;
	char key[64];

	if (!place_find_twin(experiment->text, (size_t)error->position, key, sizeof(key), &first,
			     &second))
		return false;
	problems_add(problems,
		     "%s:%u:%u: the key '%s' stands twice in one object: here, and before in line "
		     "%u, column %u",
		     experiment->path, second.line, second.column, key, first.line, first.column);
	return true;
}

void malformed_say(const struct experiment *experiment, const json_error_t *error,
		   struct problems *problems)
{
	enum json_error_code code = json_error_code(error);
	char words[JSON_ERROR_TEXT_LENGTH];

	if (code == json_error_duplicate_key && say_twin(experiment, error, problems))
		return;
	if ((code == json_error_invalid_syntax || code == json_error_numeric_overflow) &&
	    say_token(experiment, error, problems))
		return;
	/* The parser quotes the text near the fault, line ends and all. */
	snprintf(words, sizeof(words), "%.*s", (int)strcspn(error->text, "\r\n"), error->text);
	problems_add(problems, "%s:%d:%d: %s", experiment->path, error->line, error->column, words);
}
