#include "apps/common/pipeline_flags.h"

#include "apps/common/routes.h"
#include "dataplane/pipeline/delivery.h"
#include "dataplane/handlers/handler.h"

#include <errno.h>

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

/* As handler_check of a proxy to it. */
static int check_upstream(const char *text, struct tp_error *error)
{
	char spec[1024];

	if (text[0] == ';')
		return tp_fail(error, -EINVAL, "'%.32s' names no upstream", text);
	if (snprintf(spec, sizeof(spec), "proxy:%s", text) >= (int)sizeof(spec))
		return tp_fail(error, -EINVAL, "'%.32s...' is too long", text);
	return handler_check(spec, error);
}

static int parse_upstream(const struct flag *flag, const char *text)
{
	struct tp_error ignored;
	int rc = check_upstream(text, &ignored);

	if (rc == 0)
		*(const char **)flag->value = text;
	return rc;
}

static void explain_upstream(const char *text, struct flag_fault *fault_out)
{
	struct tp_error error = {""};

	check_upstream(text, &error);
	*fault_out = (struct flag_fault){.step_count = 0};
	snprintf(fault_out->text, sizeof(fault_out->text), "%s", error.text);
}

static void explain_handler(const char *text, struct flag_fault *fault_out)
{
	struct tp_error error = {""};

	handler_check(text, &error);
	*fault_out = (struct flag_fault){.step_count = 0};
	snprintf(fault_out->text, sizeof(fault_out->text), "%s", error.text);
}

static json_t *locate_handler(const json_t *value, const char *folder)
{
	const char *text = json_string_value(value);

	return flags_locate(text, routes_handler_path(text), folder);
}

const struct flag_kind flag_delivery = {.metavar = "immediate|coalesce|flush-at:N (N to 32KiB)",
					.accepts = delivery_usage,
					.parse = parse_delivery};
const struct flag_kind flag_handler = {.metavar = "NAME[:ARGUMENT]",
				       .accepts = handler_usage,
				       .parse = parse_handler,
				       .explain = explain_handler,
				       .locate = locate_handler};
const struct flag_kind flag_upstream = {.metavar = "ADDR[,ADDR]",
					.accepts = "addresses with ports, like 10.0.0.1:80",
					.parse = parse_upstream,
					.explain = explain_upstream};
