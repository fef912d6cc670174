#include "apps/common/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void problems_add(struct problems *problems, const char *format, ...)
{
	static const char cut[] = "...";
	size_t used = strlen(problems->text);
	size_t room = sizeof(problems->text) - used;
	va_list arguments;
	int bytes;

	problems->count++;
	if (room < sizeof(cut) + 1)
		return;
	va_start(arguments, format);
	bytes = vsnprintf(problems->text + used, room, format, arguments);
	va_end(arguments);
	if (bytes < 0) {
		problems->text[used] = '\0';
		return;
	}
	if ((size_t)bytes + 1 >= room) {
		bytes = (int)(room - 2);
		memcpy(problems->text + used + room - 1 - sizeof(cut), cut, sizeof(cut) - 1);
	}
	problems->text[used + (size_t)bytes] = '\n';
	problems->text[used + (size_t)bytes + 1] = '\0';
}

void problems_join(struct problems *problems, const struct problems *others)
{
	for (const char *line = others->text; *line; line += strcspn(line, "\n") + 1)
		problems_add(problems, "%.*s", (int)strcspn(line, "\n"), line);
}
