#include "apps/run/plan/answers.h"

#include "dataplane/handlers/handler.h"

#include <errno.h>

/* With routes the handler is what the client expects of the path that it asks for. */
static int judge_routes(const char *handler, struct tp_error *error)
{
	const char *argument;

	if (handler_find(handler, &argument)->answers != HANDLER_ANSWERS_ANY)
		return 0;
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

	if (!handler_find(handler, &argument)->takes_upstream)
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
	const char *handler = cell->cell.of[SETTING_HANDLER].word;
	int code = judge_upstream(cell, experiment, error);

	if (code == 0)
		code = experiment->has_routes ? judge_routes(handler, error)
					      : judge_passing(cell, experiment, error);
	return code;
}
