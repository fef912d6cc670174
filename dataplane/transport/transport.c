#include "dataplane/transport/transport.h"

#include <stdarg.h>
#include <stdio.h>

const char *tp_reason_name(enum tp_reason reason)
{
	static const char *const names[TP_REASON_COUNT] = {
		[TP_DONE] = "done",
		[TP_RESET] = "reset",
		[TP_REFUSED] = "refused",
		[TP_TIMEOUT] = "timeout",
		[TP_UNREACHABLE] = "unreachable",
		[TP_ABORTED] = "aborted",
		[TP_LINK_DOWN] = "link down",
		[TP_FAILED] = "failed",
	};

	return reason < TP_REASON_COUNT ? names[reason] : "unknown";
}

const char *tp_counter_name(enum tp_counter counter)
{
	static const char *const names[TP_COUNTER_COUNT] = {
#define X(name, meaning) #name,
		TP_COUNTERS(X)
#undef X
	};

	return counter < TP_COUNTER_COUNT ? names[counter] : "unknown";
}

int tp_fail(struct tp_error *error, int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return code;
}
