#include "apps/common/document.h"

#include "apps/common/file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char byte_order_mark[] = "\xef\xbb\xbf";

/* The words in which the text has something where a value should be; `end` is behind it. */
struct token {
	const char *begin;
	const char *end;
};

const char *document_tried(const char *path, char text[DOCUMENT_TRIED_BYTES])
{
	char here[PATH_MAX];

	text[0] = '\0';
	if (path[0] != '/' && getcwd(here, sizeof(here)))
		snprintf(text, DOCUMENT_TRIED_BYTES, " (%s/%s)", here, path);
	return text;
}

int document_load(struct document *document, struct problems *problems)
{
	const char *path = document->path;
	char tried[DOCUMENT_TRIED_BYTES];
	struct tp_error error;
	struct stat about;

	/* What is not a regular file could block, and is refused before it is opened. */
	if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
		problems_add(problems, "%s: %s", path,
			     S_ISDIR(about.st_mode)
				     ? "not a regular file but a folder; name a file in it"
				     : "not a regular file");
		return -EINVAL;
	}
	if (file_read(path, DOCUMENT_BYTES_MAX, &document->text, &document->text_bytes, &error) ==
	    0)
		return 0;
	problems_add(problems, "%s%s", error.text, document_tried(path, tried));
	return -EINVAL;
}

void document_fini(struct document *document)
{
	json_decref(document->json);
	free(document->text);
}

static bool is_of_token(char c)
{
	return isalnum((unsigned char)c) || c == '+' || c == '-' || c == '.';
}

/* The word around a place in the text; empty if there is none. */
static struct token find_token(const struct document *document, size_t position)
{
	const char *text = document->text, *stop = text + document->text_bytes;
	struct token token = {text + position, text + position};

	while (token.begin > text && is_of_token(token.begin[-1]))
		token.begin--;
	while (token.end < stop && is_of_token(*token.end))
		token.end++;
	return token;
}

/* The document with the word as a text in its place, so that it can be judged. False if not. */
static bool quote_token(const struct document *document, struct token token,
			struct document *quoted)
{
	size_t bytes = document->text_bytes + 3, before = (size_t)(token.begin - document->text);

	*quoted = *document;
	quoted->json = NULL;
	quoted->text = malloc(bytes);
	if (!quoted->text)
		return false;
	quoted->text_bytes =
		(size_t)snprintf(quoted->text, bytes, "%.*s\"%.*s\"%s", (int)before, document->text,
				 (int)(token.end - token.begin), token.begin, token.end);
	quoted->json = json_loadb(quoted->text, quoted->text_bytes, JSON_REJECT_DUPLICATES, NULL);
	return json_is_object(quoted->json);
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

/* Whether it could be said of the word at the error what is accepted there. */
static bool say_token(const struct document *document, const json_error_t *error,
		      struct problems *problems)
{
	struct token token = find_token(document, (size_t)error->position);
	struct place place = place_of(document->text, token.begin);
	struct problems *others = calloc(1, sizeof(*others));
	char of[PATH_MAX + 32], said[600] = "";
	struct document quoted;

	snprintf(of, sizeof(of), "%s:%u:%u: ", document->path, place.line, place.column);
	if (others && token.begin < token.end) {
		if (quote_token(document, token, &quoted)) {
			quoted.judge(&quoted, others);
			copy_said(others, of, said);
		}
		document_fini(&quoted);
	}
	free(others);
	if (said[0])
		problems_add(problems, "%s%.*s is no value in JSON: %s", of,
			     (int)(token.end - token.begin), token.begin, said);
	return said[0] != '\0';
}

static bool say_twin(const struct document *document, const json_error_t *error,
		     struct problems *problems)
{
	struct place first, second;
	char key[64];

	if (!place_find_twin(document->text, (size_t)error->position, key, sizeof(key), &first,
			     &second))
		return false;
	problems_add(problems,
		     "%s:%u:%u: the key '%s' stands twice in one object: here, and before in line "
		     "%u, column %u",
		     document->path, second.line, second.column, key, first.line, first.column);
	return true;
}

/* What is allowed elsewhere and taken for JSON, by the parser's words for it. */
static const char *ask_malformed(const char *words)
{
	if (strstr(words, "near '/"))
		return "; JSON has no comments";
	if (strcmp(words, "string or '}' expected near '}'") == 0 ||
	    strcmp(words, "unexpected token near ']'") == 0)
		return "; no comma stands behind the last of a list in JSON";
	return "";
}

static void say_malformed(const struct document *document, const json_error_t *error,
			  struct problems *problems)
{
	enum json_error_code code = json_error_code(error);
	char words[JSON_ERROR_TEXT_LENGTH];

	if (code == json_error_duplicate_key && say_twin(document, error, problems))
		return;
	if ((code == json_error_invalid_syntax || code == json_error_numeric_overflow) &&
	    say_token(document, error, problems))
		return;
	/* The parser quotes the text near the fault, line ends and all. */
	snprintf(words, sizeof(words), "%.*s", (int)strcspn(error->text, "\r\n"), error->text);
	problems_add(problems, "%s:%d:%d: %s%s", document->path, error->line,
		     error->column > 0 ? error->column : 1, words, ask_malformed(words));
}

/* What the parser has no good words for; NULL if it is to try. */
static const char *find_obstacle(const struct document *document)
{
	size_t mark_bytes = sizeof(byte_order_mark) - 1;

	if (document->text_bytes == 0)
		return "the file is empty; an object {...} is expected";
	if (document->text_bytes >= mark_bytes &&
	    memcmp(document->text, byte_order_mark, mark_bytes) == 0)
		return "the file begins with a byte order mark; save it as UTF-8 without one";
	return NULL;
}

int document_parse(struct document *document, struct problems *problems)
{
	const char *obstacle = find_obstacle(document);
	json_error_t error;

	if (!obstacle) {
		document->json = json_loadb(document->text, document->text_bytes,
					    JSON_REJECT_DUPLICATES, &error);
		if (json_is_object(document->json))
			return 0;
		if (document->json)
			obstacle = "an object {...} is expected";
	}
	if (obstacle)
		problems_add(problems, "%s:1:1: %s", document->path, obstacle);
	else
		say_malformed(document, &error, problems);
	return -EINVAL;
}
