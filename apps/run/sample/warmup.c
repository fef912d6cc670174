#include "apps/run/sample/warmup.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The line behind this one, or the end. */
static const char *next_line(const char *line)
{
	return line + strcspn(line, "\n") + (strchr(line, '\n') != NULL);
}

static bool begins(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

static void print_phases(const char *log, FILE *to)
{
	bool within = false;

	for (const char *line = log; *line; line = next_line(line)) {
		within |= begins(line, "phase connect\n");
		if (begins(line, "phase measure\n"))
			return;
		if (within)
			fprintf(to, "%.*s\n", (int)strcspn(line, "\n"), line);
	}
}

static void print_metrics(const char *metrics, FILE *to)
{
	static const char phase[] = "\"phase\":\"warmup\"";

	for (const char *line = metrics; *line; line = next_line(line)) {
		const char *found = strstr(line, phase);

		if (found && found < next_line(line))
			fprintf(to, "%.*s\n", (int)strcspn(line, "\n"), line);
	}
}

char *warmup_make(const char *log, const char *metrics, size_t *bytes_out)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, bytes_out);

	if (!to)
		return NULL;
	if (log)
		print_phases(log, to);
	if (metrics)
		print_metrics(metrics, to);
	fclose(to);
	return text;
}
