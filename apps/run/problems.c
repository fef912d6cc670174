#include "apps/run/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void problems_add(struct problems *problems, const char *format, ...)
{
	size_t used = strlen(problems->text);
	size_t room = sizeof(problems->text) - used;
	va_list arguments;
	int bytes;

	problems->count++;
	va_start(arguments, format);
	bytes = vsnprintf(problems->text + used, room, format, arguments);
	va_end(arguments);
	if (bytes < 0 || (size_t)bytes + 1 >= room) {
		problems->text[used] = '\0';
		return;
	}
	problems->text[used + (size_t)bytes] = '\n';
	problems->text[used + (size_t)bytes + 1] = '\0';
}
