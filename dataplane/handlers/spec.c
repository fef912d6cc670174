#include "dataplane/handlers/spec.h"

#include "dataplane/core/nearest.h"
#include "dataplane/core/units.h"
#include "dataplane/handlers/handlers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { UPSTREAM_BYTES = 2048 };

const char spec_usage[] =
	"respond, respond:BYTES, echo, spin:US, static:DIR, proxy, proxy:ADDR[,ADDR], cache or "
	"cache:ADDR[,ADDR]";

/* Every handler's ops, ended by NULL. */
static const struct handler_ops *const table[] = {&respond_ops, &echo_ops,  &spin_ops, &static_ops,
						  &proxy_ops,	&cache_ops, NULL};

const struct handler_ops *spec_find(const char *spec, const char **argument_out)
{
	size_t name_bytes = strcspn(spec, ":");

	*argument_out = spec[name_bytes] ? spec + name_bytes + 1 : NULL;
	for (unsigned i = 0; table[i]; i++) {
		const char *name = table[i]->name;

		if (strlen(name) == name_bytes && memcmp(name, spec, name_bytes) == 0)
			return table[i];
	}
	return NULL;
}

/* A text that names upstreams, with options of a handler that names none. */
static int join(const char *upstream, const char *options, char text_out[UPSTREAM_BYTES],
		struct tp_error *error)
{
	int bytes = snprintf(text_out, UPSTREAM_BYTES, "%s%s", upstream, options);

	return bytes < UPSTREAM_BYTES
		       ? 0
		       : tp_fail(error, -EINVAL, "'%.32s...%.32s' is too long", upstream, options);
}

static bool names_none(const char *argument)
{
	return !argument || argument[0] == ';';
}

/* Judges options that stand alone: behind any upstream they are right or wrong. */
static int judge_options(const struct handler_ops *ops, const char *options, struct tp_error *error)
{
	char text[UPSTREAM_BYTES];
	int rc = join("127.0.0.1:1", options, text, error);

	return rc == 0 ? ops->judge(text, error) : rc;
}

static int fail_unknown(const char *spec, struct tp_error *error)
{
	const char *names[sizeof(table) / sizeof(table[0])];
	char name[32], ask[NEAREST_TEXT];
	unsigned count = 0;

	for (; table[count]; count++)
		names[count] = table[count]->name;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(spec, ":"), spec);
	return tp_fail(error, -ENOENT, "'%s' is no handler; %sthere are %s", spec,
		       nearest_ask(name, names, count, "", ask), spec_usage);
}

/* As spec_judge_text; and says what was found. */
static int resolve_text(const char *spec, const struct handler_ops **ops_out,
			const char **argument_out, struct tp_error *error)
{
	const struct handler_ops *ops = spec_find(spec, argument_out);

	*ops_out = ops;
	if (!ops)
		return fail_unknown(spec, error);
	if (*argument_out && !ops->argument)
		return tp_fail(error, -EINVAL, "'%s': nothing may follow '%s'", spec, ops->name);
	if (!*argument_out && ops->argument_needed)
		return tp_fail(error, -EINVAL, "'%s': write %s:%s", spec, ops->name, ops->argument);
	if (ops->takes_upstream && names_none(*argument_out))
		return *argument_out ? judge_options(ops, *argument_out, error) : 0;
	if (ops->argument_is == HANDLER_PATH)
		return 0;
	return ops->judge ? ops->judge(*argument_out, error) : 0;
}

/* As spec_judge; and says what was found. */
static int resolve(const char *spec, const struct handler_ops **ops_out, const char **argument_out,
		   struct tp_error *error)
{
	int rc = resolve_text(spec, ops_out, argument_out, error);

	if (rc < 0 || (*ops_out)->argument_is != HANDLER_PATH)
		return rc;
	return (*ops_out)->judge(*argument_out, error);
}

int spec_judge_text(const char *spec, struct tp_error *error)
{
	const struct handler_ops *ops;
	const char *argument;

	return resolve_text(spec, &ops, &argument, error);
}

uint32_t spec_fill_bytes(const char *spec, uint32_t bytes)
{
	const char *argument;
	const struct handler_ops *ops = spec_find(spec, &argument);
	uint64_t own;

	if (!argument || ops->argument_is != HANDLER_BYTES ||
	    units_parse_bytes(argument, UINT32_MAX, &own) < 0)
		return bytes;
	return (uint32_t)own;
}

int spec_judge(const char *spec, struct tp_error *error)
{
	const struct handler_ops *ops;
	const char *argument;

	return resolve(spec, &ops, &argument, error);
}

bool spec_wants_upstream(const char *spec)
{
	const char *argument;
	const struct handler_ops *ops = spec_find(spec, &argument);

	return ops && ops->takes_upstream && names_none(argument);
}

/* Of one handler. */
static uint32_t count_conns(const char *spec, const char *upstream)
{
	const char *argument;
	const struct handler_ops *ops = spec_find(spec, &argument);
	char text[UPSTREAM_BYTES];
	struct tp_error ignored;

	if (!ops || !ops->count_conns)
		return 0;
	if (!names_none(argument))
		return ops->count_conns(argument);
	if (!upstream || join(upstream, argument ? argument : "", text, &ignored) < 0)
		return 0;
	return ops->count_conns(text);
}

uint64_t spec_count_conns(const struct route *routes, unsigned count, const char *upstream)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < count; i++) {
		unsigned same = 0;

		while (strcmp(routes[same].handler, routes[i].handler) != 0)
			same++;
		if (same == i)
			sum += count_conns(routes[i].handler, upstream);
	}
	return sum;
}

int spec_create(const char *spec, const struct handler_config *config, struct handler **handler_out,
		struct tp_error *error)
{
	const struct handler_ops *ops;
	const char *argument;
	char text[UPSTREAM_BYTES];
	int rc = resolve(spec, &ops, &argument, error);

	if (rc < 0)
		return rc;
	if (ops->takes_upstream && names_none(argument)) {
		if (!config->upstream)
			return tp_fail(error, -EINVAL,
				       "'%s' has no upstream: name one for the server, or write "
				       "%s:%s",
				       spec, ops->name, ops->argument);
		rc = join(config->upstream, argument ? argument : "", text, error);
		if (rc < 0)
			return rc;
		argument = text;
	}
	return ops->create(argument, config, handler_out, error);
}
