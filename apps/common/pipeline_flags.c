#include "apps/common/pipeline_flags.h"

#include "apps/common/routes.h"
#include "dataplane/pipeline/delivery.h"
#include "dataplane/handlers/spec.h"

#include <errno.h>

static int parse_delivery(const struct flag *flag, const char *text)
{
	return delivery_parse(text, flag->value);
}

static int parse_handler(const struct flag *flag, const char *text)
{
	struct tp_error ignored;
	int rc = spec_judge_text(text, &ignored);

	if (rc == 0)
		*(const char **)flag->value = text;
	return rc;
}

/* As spec_judge of a proxy to it. */
static int check_upstream(const char *text, struct tp_error *error)
{
	char spec[1024];

	if (text[0] == ';')
		return tp_fail(error, -EINVAL, "'%.32s' names no upstream", text);
	if (snprintf(spec, sizeof(spec), "proxy:%s", text) >= (int)sizeof(spec))
		return tp_fail(error, -EINVAL, "'%.32s...' is too long", text);
	return spec_judge(spec, error);
}

static int parse_upstream(const struct flag *flag, const char *text)
{
	struct tp_error ignored;
	int rc = check_upstream(text, &ignored);

	if (rc == 0)
		*(const char **)flag->value = text;
	return rc;
}

/* Tells the one fault that a text has. */
static bool tell(int code, const struct tp_error *error, struct flag_fault *fault)
{
	if (code == 0 || fault->skip > 0)
		return false;
	snprintf(fault->text, sizeof(fault->text), "%s", error->text);
	return true;
}

static bool explain_upstream(const char *text, struct flag_fault *fault)
{
	struct tp_error error;

	return tell(check_upstream(text, &error), &error, fault);
}

static bool explain_handler(const char *text, struct flag_fault *fault)
{
	struct tp_error error;

	return tell(spec_judge_text(text, &error), &error, fault);
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
				       .accepts = spec_usage,
				       .parse = parse_handler,
				       .explain = explain_handler,
				       .locate = locate_handler};
const struct flag_kind flag_upstream = {.metavar = "ADDR[,ADDR]",
					.accepts = "addresses with ports, like 10.0.0.1:80",
					.parse = parse_upstream,
					.explain = explain_upstream};
