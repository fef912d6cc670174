#include "apps/run/request.h"

#include "apps/run/store/origin.h"
#include "dataplane/core/clock.h"

#include <errno.h>
#include <stdio.h>

/* Carries out an experiment from its beginning. */
static int run_experiment(const struct request *request)
{
	struct problems problems = {0};
	struct experiment *experiment;
	int status;

	if (experiment_read(request->operand, &request->changes, &experiment, &problems) < 0)
		return conduct_refuse(request->conduct.program, &problems);
	status = conduct(&request->conduct, experiment);
	experiment_free(experiment);
	return status;
}

/* Goes on with a result directory or repeats it, as the experiment that it measured. */
static int run_origin(const struct request *request, struct origin *origin,
		      const struct experiment *experiment)
{
	struct conduct with_origin = request->conduct;

	with_origin.origin = origin;
	return conduct(&with_origin, experiment);
}

/* The operand is a result directory. */
static int run_result(const struct request *request)
{
	struct problems problems = {0};
	struct experiment *experiment = NULL;
	struct origin origin;
	int status;

	if (request->changes.override_count || request->changes.variant_count ||
	    request->changes.profiles)
		problems_add(&problems,
			     "%s is a result, and its plan is carried out as it is; --set, "
			     "--variant, $VARIANTS and --profile go with an experiment",
			     request->operand);
	if (request->resume && request->conduct.port)
		problems_add(&problems, "--port: a run is gone on with on the port of before");
	if (problems.count ||
	    origin_open(&origin, request->operand, request->resume, &problems) < 0)
		return conduct_refuse(request->conduct.program, &problems);
	if (origin_experiment(&origin, &experiment, &problems) < 0)
		status = conduct_refuse(request->conduct.program, &problems);
	else
		status = run_origin(request, &origin, experiment);
	experiment_free(experiment);
	origin_close(&origin);
	return status;
}

/* Finds and reads the newest partial result of the experiment. As origin_open. */
static int open_newest(const struct request *request, const struct experiment *experiment,
		       struct origin *origin, struct problems *problems)
{
	char output[PATH_MAX + 16], path[PATH_MAX];
	struct tp_error error;

	if (origin_find(request->conduct.output ? request->conduct.output
						: conduct_default_output(output),
			experiment->name, path, &error) < 0) {
		problems_add(problems, "%s", error.text);
		return -EINVAL;
	}
	printf("going on with %s\n", path);
	return origin_open(origin, path, true, problems);
}

/* The operand is an experiment, and the newest partial result of it is to be gone on with. */
static int resume_experiment(const struct request *request)
{
	struct problems problems = {0};
	struct experiment *experiment;
	struct origin origin;
	int status;

	if (experiment_read(request->operand, &request->changes, &experiment, &problems) < 0)
		return conduct_refuse(request->conduct.program, &problems);
	if (open_newest(request, experiment, &origin, &problems) < 0) {
		status = conduct_refuse(request->conduct.program, &problems);
	} else {
		status = origin_fits(&origin, experiment, &problems)
				 ? run_origin(request, &origin, experiment)
				 : conduct_refuse(request->conduct.program, &problems);
		origin_close(&origin);
	}
	experiment_free(experiment);
	return status;
}

int request_carry_out(const struct request *request)
{
	clock_start();
	if (origin_is_result(request->operand))
		return run_result(request);
	return request->resume ? resume_experiment(request) : run_experiment(request);
}
