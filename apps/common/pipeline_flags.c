#include "apps/common/pipeline_flags.h"

#include "dataplane/pipeline/delivery.h"
#include "dataplane/pipeline/handler.h"

static int parse_delivery(const struct flag *flag, const char *text)
{
	return delivery_parse(text, flag->value);
}

static int parse_handler(const struct flag *flag, const char *text)
{
	struct tp_error ignored;
	int rc = handler_check(text, &ignored);

	if (rc == 0)
		*(const char **)flag->value = text;
	return rc;
}

const struct flag_kind flag_delivery = {.metavar = "immediate|coalesce|flush-at:N (N to 32KiB)",
					.accepts = delivery_usage,
					.parse = parse_delivery};
const struct flag_kind flag_handler = {.metavar = "respond[:BYTES]|echo|spin:US",
				       .accepts = handler_usage,
				       .parse = parse_handler};
