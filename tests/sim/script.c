#include "tests/sim/script.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char flag_letters[] = "FSRPAUEC"; /* from the lowest bit */

/* A file being read, and the words of its line. */
struct reader {
	const char *path;
	unsigned line;
	char *rest;
};

static void __attribute__((format(printf, 2, 3), noreturn))
refuse(const struct reader *reader, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s:%u: ", reader->path, reader->line);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(4);
}

/* The next word, or NULL. */
static char *next_word(struct reader *reader)
{
	return strtok_r(NULL, " \t", &reader->rest);
}

static char *need_word(struct reader *reader)
{
	char *word = next_word(reader);

	if (!word)
		refuse(reader, "something is missing at the end");
	return word;
}

/* A decimal number, which may be negative: one before the initial number. */
static uint64_t number_of(const struct reader *reader, const char *word)
{
	char *end;
	int64_t number;

	errno = 0;
	number = strtoll(word, &end, 0);
	if (*word == '\0' || *end != '\0' || errno != 0)
		refuse(reader, "'%s' is no number", word);
	return (uint64_t)number;
}

static uint64_t need_number(struct reader *reader)
{
	return number_of(reader, need_word(reader));
}

static void need_name(struct reader *reader, struct script_step *step)
{
	snprintf(step->name, sizeof(step->name), "%s", need_word(reader));
}

/* --- segments -------------------------------------------------------------------------------- */

static void parse_flags(struct reader *reader, struct script_segment *segment)
{
	const char *word = need_word(reader);

	for (const char *at = word; *at != '\0' && strcmp(word, "-") != 0; at++) {
		const char *letter = strchr(flag_letters, *at);

		if (!letter)
			refuse(reader, "'%c' is no flag", *at);
		segment->flags |= (uint8_t)(1u << (letter - flag_letters));
	}
}

static void parse_sack(struct reader *reader, struct script_segment *segment)
{
	char *word = need_word(reader), *rest = NULL;

	segment->fields |= FIELD_SACK;
	if (strcmp(word, "none") == 0)
		return;
	for (char *pair = strtok_r(word, ",", &rest); pair; pair = strtok_r(NULL, ",", &rest)) {
		char *dash = strchr(pair + 1, '-');

		if (!dash || segment->sack_count == SCRIPT_SACK_MAX)
			refuse(reader, "'%s' is no block, or one too many", pair);
		*dash = '\0';
		segment->sack[segment->sack_count].begin = (uint32_t)number_of(reader, pair);
		segment->sack[segment->sack_count++].end = (uint32_t)number_of(reader, dash + 1);
	}
}

static void parse_raw(struct reader *reader, struct script_segment *segment)
{
	const char *word = need_word(reader);
	unsigned byte;

	segment->fields |= FIELD_RAW;
	for (; *word != '\0'; word += 2) {
		if (segment->raw_bytes == SCRIPT_OPTIONS_BYTES || sscanf(word, "%2x", &byte) != 1 ||
		    word[1] == '\0')
			refuse(reader, "'%s' is no even number of hex digits", word);
		segment->raw[segment->raw_bytes++] = (uint8_t)byte;
	}
}

/* A field that is one number; false if `word` names none. */
static bool parse_number_field(struct reader *reader, const char *word,
			       struct script_segment *segment)
{
	static const struct {
		const char *name;
		unsigned field;
	} names[] = {
		{"seq", FIELD_SEQ},	 {"ack", FIELD_ACK},   {"win", FIELD_WINDOW},
		{"len", FIELD_BYTES},	 {"fill", FIELD_FILL}, {"mss", FIELD_MSS},
		{"wscale", FIELD_SCALE}, {"urgent", 0},
	};
	unsigned i = 0;
	uint64_t number;

	while (i < sizeof(names) / sizeof(names[0]) && strcmp(names[i].name, word) != 0)
		i++;
	if (i == sizeof(names) / sizeof(names[0]))
		return false;
	number = need_number(reader);
	segment->fields |= names[i].field;
	switch (names[i].field) {
	case FIELD_SEQ:
		segment->seq = (uint32_t)number;
		break;
	case FIELD_ACK:
		segment->ack = (uint32_t)number;
		break;
	case FIELD_WINDOW:
		segment->window = (uint16_t)number;
		break;
	case FIELD_BYTES:
		segment->bytes = (uint32_t)number;
		break;
	case FIELD_FILL:
		segment->fill = (uint8_t)number;
		break;
	case FIELD_MSS:
		segment->mss = (uint16_t)number;
		break;
	case FIELD_SCALE:
		segment->scale = (uint8_t)number;
		break;
	default:
		segment->urgent = (uint16_t)number;
		break;
	}
	return true;
}

static void parse_segment(struct reader *reader, struct script_segment *segment)
{
	const char *word;

	parse_flags(reader, segment);
	while ((word = next_word(reader))) {
		if (parse_number_field(reader, word, segment))
			continue;
		if (strcmp(word, "sackok") == 0) {
			segment->fields |= FIELD_SACK_OK;
		} else if (strcmp(word, "ts") == 0) {
			segment->fields |= FIELD_TIMES;
			segment->time = (uint32_t)need_number(reader);
			segment->echo = (uint32_t)need_number(reader);
		} else if (strcmp(word, "sack") == 0) {
			parse_sack(reader, segment);
		} else if (strcmp(word, "raw") == 0) {
			parse_raw(reader, segment);
		} else {
			refuse(reader, "a segment has no '%s'", word);
		}
	}
}

/* --- steps ----------------------------------------------------------------------------------- */

/* "20ms" behind the plus. */
static uint64_t duration_of(const struct reader *reader, const char *word)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	char *end;
	uint64_t number = strtoull(word, &end, 10);

	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]) && end != word; i++)
		if (strcmp(end, units[i].unit) == 0)
			return number * units[i].ns;
	refuse(reader, "'%s' is no time: a number and ns, us, ms or s", word);
}

static void parse_read(struct reader *reader, struct script_step *step)
{
	const char *word;

	step->number = need_number(reader);
	word = next_word(reader);
	step->any = word && strcmp(word, "any") == 0;
}

static void parse_step(struct reader *reader, const char *word, struct script_step *step)
{
	static const struct {
		const char *word;
		enum script_step_kind kind;
		bool name, number;
	} words[] = {
		{"config", STEP_CONFIG, true, true}, {"do", STEP_DO, true, false},
		{"port", STEP_PORT, false, true},    {"connect", STEP_CONNECT, false, false},
		{"write", STEP_WRITE, false, true},  {"finish", STEP_FINISH, false, false},
		{"abort", STEP_ABORT, false, false}, {"drain", STEP_DRAIN, false, false},
		{"is", STEP_STATE, true, false},     {"end", STEP_END, true, false},
		{"count", STEP_COUNT, true, true},
	};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].word, word) != 0)
			continue;
		step->kind = words[i].kind;
		if (words[i].name)
			need_name(reader, step);
		if (words[i].number)
			step->number = need_number(reader);
		return;
	}
	if (strcmp(word, "<") == 0 || strcmp(word, ">") == 0) {
		step->kind = *word == '<' ? STEP_SEND : STEP_EXPECT;
		parse_segment(reader, &step->segment);
	} else if (strcmp(word, "read") == 0) {
		step->kind = STEP_READ;
		parse_read(reader, step);
	} else if (*word == '+') {
		step->kind = STEP_WAIT;
		step->number = duration_of(reader, word + 1);
	} else {
		refuse(reader, "there is no step '%s'", word);
	}
}

static struct script *begin_script(const struct reader *reader, struct script_book *book,
				   const char *text)
{
	struct script *script = &book->scripts[book->count];
	const char *bar = strstr(text, " | ");

	if (book->count == SCRIPT_BOOK_MAX)
		refuse(reader, "more than %d scripts", SCRIPT_BOOK_MAX);
	book->count++;
	script->path = reader->path;
	script->block = *text == ':';
	text += 3;
	if (!script->block && !bar)
		refuse(reader, "a title has ' | ' and its source behind it");
	snprintf(script->title, sizeof(script->title), "%.*s",
		 bar ? (int)(bar - text) : (int)strlen(text), text);
	snprintf(script->source, sizeof(script->source), "%s", bar ? bar + 3 : "");
	return script;
}

static void read_step(struct reader *reader, struct script *script, char *text)
{
	struct script_step *step;
	const char *word;

	if (!script || script->step_count == SCRIPT_STEPS_MAX)
		refuse(reader, "a step without a script, or one too many for it");
	step = &script->steps[script->step_count++];
	step->line = reader->line;
	snprintf(step->text, sizeof(step->text), "%s", text);
	word = strtok_r(text, " \t", &reader->rest);
	parse_step(reader, word, step);
	word = next_word(reader);
	if (word)
		refuse(reader, "'%s' is one word too many", word);
}

void script_read(struct script_book *book, const char *path)
{
	struct reader reader = {.path = path};
	struct script *script = NULL;
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;

	if (!file)
		refuse(&reader, "%s", strerror(errno));
	while (getline(&line, &room, file) >= 0) {
		char *text = line + strspn(line, " \t");

		reader.line++;
		text[strcspn(text, "#\n")] = '\0';
		if (text[strspn(text, " \t")] == '\0')
			continue;
		if (strncmp(text, "== ", 3) == 0 || strncmp(text, ":: ", 3) == 0)
			script = begin_script(&reader, book, text);
		else
			read_step(&reader, script, text);
	}
	free(line);
	fclose(file);
}

const struct script *script_block(const struct script_book *book, const char *name)
{
	for (unsigned i = 0; i < book->count; i++)
		if (book->scripts[i].block && strcmp(book->scripts[i].title, name) == 0)
			return &book->scripts[i];
	return NULL;
}

const char *script_flags(uint8_t flags, char text[9])
{
	unsigned count = 0;

	for (unsigned i = 0; i < 8; i++)
		if (flags & 1u << i)
			text[count++] = flag_letters[i];
	if (count == 0)
		text[count++] = '-';
	text[count] = '\0';
	return text;
}
