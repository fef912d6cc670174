#include "apps/run/plan/answers.h"

#include "dataplane/handlers/spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Whether the route's answers have the bytes that the client expects. */
static int judge_bytes(const struct cell *cell, const struct experiment *experiment,
		       const char *path, const char *handler, struct tp_error *error)
{
	uint32_t expected = cell->of[SETTING_RESPONSE_BYTES].number, bytes = expected;
	const char *argument;

	switch (spec_find(handler, &argument)->answers) {
	case HANDLER_ANSWERS_ECHO:
		bytes = cell->of[SETTING_REQUEST_BYTES].number;
		break;
	case HANDLER_ANSWERS_FILL:
		bytes = spec_fill_bytes(handler, expected);
		break;
	case HANDLER_ANSWERS_ANY: /* a file's or an upstream's: only asking tells */
		break;
	}
	if (bytes == expected)
		return 0;
	return tp_fail(error, -EINVAL,
		       "%.100s: its route for %s is `%.60s`, which answers %u bytes, and "
		       "\"response_bytes\" is %u; set that to %u%s, or exclude it",
		       experiment->server_config, path, handler, bytes, expected, bytes,
		       setting_says(cell->of[SETTING_HANDLER], "echo")
			       ? ", with \"handler\" `respond`"
			       : "");
}

/* Whether a route answers what the cell's client asks for, and with as many bytes. */
static int judge_path(const struct cell *cell, const struct experiment *experiment,
		      struct tp_error *error)
{
	enum http1_method method =
		cell->of[SETTING_REQUEST_BYTES].number > 0 ? HTTP1_POST : HTTP1_GET;
	char path[SETTING_PATH_BYTES + 1] = "/";
	const char *handler;

	if (cell_speaks_http(cell))
		snprintf(path, sizeof(path), "%.*s", (int)strcspn(cell->of[SETTING_PATH].word, "?"),
			 cell->of[SETTING_PATH].word);
	else
		method = HTTP1_POST;
	handler = routes_find(&experiment->routes, path, method);
	if (handler)
		return judge_bytes(cell, experiment, path, handler, error);
	return tp_fail(error, -EINVAL,
		       "no route of \"server_config\" answers %s %s; change \"path\", or "
		       "\"request_bytes\" (0: GET, else POST), or exclude it",
		       http1_method_name(method), path);
}

/* With routes the handler is what the client expects of the path that it asks for. */
static int judge_routes(const struct cell *cell, const struct experiment *experiment,
			struct tp_error *error)
{
	const char *handler = cell->of[SETTING_HANDLER].word, *argument;

	if (spec_find(handler, &argument)->answers != HANDLER_ANSWERS_ANY)
		return judge_path(cell, experiment, error);
	return tp_fail(
		error, -EINVAL,
		"the routes of \"server_config\" say what answers, and `%s` is no answer that "
		"a client can expect; set \"handler\" to \"respond\" or \"echo\", or leave it "
		"out",
		handler);
}

/* A handler that passes requests on. */
static int judge_passing(const struct plan_cell *cell, const struct experiment *experiment,
			 struct tp_error *error)
{
	const char *handler = cell->cell.of[SETTING_HANDLER].word, *argument;

	if (!spec_find(handler, &argument)->takes_upstream)
		return 0;
	if (!cell_speaks_http(&cell->cell))
		return tp_fail(
			error, -EINVAL,
			"the handler `%s` is for HTTP alone; set \"protocol\" to \"http1\", or "
			"exclude it",
			handler);
	if (experiment->upstream.wanted)
		return 0;
	return tp_fail(error, -EINVAL,
		       "the handler `%s` passes requests on, and the experiment has no "
		       "\"upstream\"; give one, or exclude it",
		       handler);
}

/* Whether the server can reach an upstream on the loopback. */
static int judge_upstream(const struct plan_cell *cell, const struct experiment *experiment,
			  struct tp_error *error)
{
	if (!experiment->upstream.wanted || cell->link->kind == LINK_LOOPBACK ||
	    cell->link->kind == LINK_UNIX)
		return 0;
	return tp_fail(error, -EINVAL,
		       "an upstream is on the loopback, which a server of %s does not reach; set "
		       "\"stack\" to one on loopback or unix, or exclude it",
		       cell->cell.of[SETTING_STACK].word);
}

int answers_judge(const struct plan_cell *cell, const struct experiment *experiment,
		  struct tp_error *error)
{
	int code = judge_upstream(cell, experiment, error);

	if (code == 0)
		code = experiment->routes.count ? judge_routes(&cell->cell, experiment, error)
						: judge_passing(cell, experiment, error);
	return code;
}
