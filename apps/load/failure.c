#include "apps/load/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void failures_note(struct failures *failures, enum failure_kind kind, uint64_t count,
		   const char *format, ...)
{
	va_list arguments;

	if (failures->count[kind] == 0) {
		va_start(arguments, format);
		vsnprintf(failures->text[kind], FAILURE_TEXT_BYTES, format, arguments);
		va_end(arguments);
	}
	failures->count[kind] += count;
}

void failures_add(struct failures *sum, const struct failures *failures)
{
	for (unsigned i = 0; i < FAILURE_KIND_COUNT; i++) {
		if (sum->count[i] == 0)
			memcpy(sum->text[i], failures->text[i], FAILURE_TEXT_BYTES);
		sum->count[i] += failures->count[i];
	}
}

uint64_t failures_total(const struct failures *failures)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < FAILURE_KIND_COUNT; i++)
		total += failures->count[i];
	return total;
}

const char *failure_name(enum failure_kind kind)
{
	static const char *const names[FAILURE_KIND_COUNT] = {
#define X(name, meaning) #name,
		FAILURE_KINDS(X)
#undef X
	};

	return names[kind];
}
