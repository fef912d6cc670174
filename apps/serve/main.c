#include "apps/common/device.h"
#include "apps/common/exit.h"
#include "apps/common/json.h"
#include "apps/common/process.h"
#include "apps/common/signals.h"
#include "apps/serve/serve.h"
#include "apps/weir/verbs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

/* Longest time that a snapshot waits for a worker. */
#define ANSWER_NS (2 * CLOCK_SECOND_NS)

static void stop_workers(struct serve_worker *workers, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		worker_stop(&workers[i].worker);
	for (unsigned i = 0; i < count; i++)
		worker_join(&workers[i].worker);
}

/* Starts all workers one after the other; on failure none is left. */
static int start_workers(const struct serve_options *options, struct serve_worker *workers,
			 struct tp_error *error)
{
	for (unsigned i = 0; i < options->stack.workers; i++) {
		workers[i].options = options;
		if (worker_start(&workers[i].worker, serve_worker_run, (uint16_t)i,
				 options->stack.cpus.cpu[i], error) < 0) {
			stop_workers(workers, i);
			return -1;
		}
	}
	return 0;
}

/* Sums what every worker answers. False, and said on stderr, if one does not. */
static bool collect(const struct serve_options *options, struct serve_worker *workers,
		    struct serve_copy *sum)
{
	for (unsigned i = 0; i < options->stack.workers; i++)
		worker_ask(&workers[i].worker);
	for (unsigned i = 0; i < options->stack.workers; i++) {
		if (!worker_await(&workers[i].worker, ANSWER_NS)) {
			fprintf(stderr,
				"weir serve: worker %u did not answer within %llu s: no snapshot\n",
				i, (unsigned long long)(ANSWER_NS / CLOCK_SECOND_NS));
			return false;
		}
		serve_copy_add(sum, &workers[i].copy);
	}
	return true;
}

/*
 * Prints the accounts of all workers, or nothing: a sum that lacks one would look whole. The peak
 * of memory is that between two snapshots.
 */
static void print_snapshot(const struct serve_options *options, struct serve_worker *workers)
{
	struct serve_copy *sum = calloc(1, sizeof(*sum));
	struct serve_segments segments = {.code = 0};

	/* First of all: a client whose load is over will not keep its connections for long. */
	if (options->stack.stack->uses_descriptors)
		segments.code = segments_read(&segments.sum);
	if (!sum)
		fprintf(stderr, "weir serve: no memory for a snapshot\n");
	else if (collect(options, workers, sum))
		json_print_line(stdout, "snapshot",
				serve_snapshot_to_json(options, sum, workers, &segments));
	process_begin_peak();
	free(sum);
}

/* Serves signals until one asks for the end. */
static void wait_for_end(const struct serve_options *options, struct serve_worker *workers,
			 const sigset_t *signals)
{
	for (;;) {
		int signal_number = sigwaitinfo(signals, NULL);

		if (signal_number == SIGUSR1)
			print_snapshot(options, workers);
		else if (signal_number > 0)
			return;
	}
}

/* The kernel forgets a thread's moves and waits with the thread, and all workers have ended. */
static json_t *final_to_json(const struct serve_options *options, const struct serve_copy *sum)
{
	static const char *const lost[] = {"migrations", "runqueue_wait_us"};
	json_t *final = serve_copy_to_json(options, sum);

	for (unsigned i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
		json_set_unknown(json_object_get(final, "process"), lost[i],
				 "the workers have ended, and their counts with them");
	return final;
}

static void print_final(const struct serve_options *options, const struct serve_worker *workers)
{
	struct serve_copy *sum = calloc(1, sizeof(*sum));

	if (!sum) {
		fprintf(stderr, "weir serve: no memory for the final accounts\n");
		return;
	}
	for (unsigned i = 0; i < options->stack.workers; i++) {
		serve_copy_add(sum, &workers[i].copy);
		if (!workers[i].drained)
			fprintf(stderr,
				"weir serve: worker %u reset connections that did not end in "
				"time\n",
				i);
	}
	serve_print_summary(options, sum);
	json_print_line(stdout, "final", final_to_json(options, sum));
	free(sum);
}

/* Says once if the workers ended for want of a device; the exit status. */
static int judge_end(const struct serve_options *options, const struct serve_worker *workers)
{
	for (unsigned i = 0; i < options->stack.workers; i++) {
		if (!workers[i].gone_part)
			continue;
		fprintf(stderr,
			"weir serve: the %s of %s was removed: its connections are closed "
			"as link down; put it back and start again\n",
			workers[i].gone_part, options->stack.spec);
		return EXIT_INVALID;
	}
	return EXIT_PASS;
}

/*
 * Serves until one of the blocked signals asks for the end; the exit status, or -1 with `error`
 * filled.
 */
static int serve(struct serve_options *options, const sigset_t *signals, struct tp_error *error)
{
	struct serve_worker *workers = calloc(options->stack.workers, sizeof(*workers));
	int status;

	if (!workers)
		return tp_fail(error, -ENOMEM, "no memory for %u workers", options->stack.workers);
	clock_start();
	options->memory = membind_apply(options->stack.membind, &options->stack.cpus);
	if (cpus_bind(&options->stack.cpus, error) < 0 ||
	    start_workers(options, workers, error) < 0) {
		json_decref(options->memory);
		free(workers);
		return -1;
	}
	json_print_line(stdout, "ready", serve_ready_to_json(options, workers));
	wait_for_end(options, workers, signals);
	stop_workers(workers, options->stack.workers);
	print_final(options, workers);
	status = judge_end(options, workers);
	json_decref(options->memory);
	free(workers);
	return status;
}

/* The same within the server's end of a veth pair, which it makes before and removes behind. */
static int serve_over_veth(struct serve_options *options, const sigset_t *signals,
			   struct tp_error *error)
{
	struct tp_error remove_error;
	struct veth veth;
	int status;

	if (veth_make(&veth, options->stack.veth_id, error) < 0)
		return -1;
	status = serve(options, signals, error);
	if (veth_remove(&veth, &remove_error) < 0)
		fprintf(stderr, "weir serve: the veth pair '%s' is left behind: %s\n", veth.id,
			remove_error.text);
	return status;
}

/* On its link, while the device that it runs over is no other process's. */
static int serve_on_link(struct serve_options *options, const sigset_t *signals,
			 struct tp_error *error)
{
	struct device_claim claim;
	int status;

	if (options->stack.veth_id[0])
		return serve_over_veth(options, signals, error);
	if (device_take(&claim, &options->stack, error) < 0)
		return -1;
	status = serve(options, signals, error);
	device_drop(&claim);
	return status;
}

/* Blocks the signals first, so that none of them breaks off the making of the link. */
static int run(struct serve_options *options, struct tp_error *error)
{
	sigset_t signals;

	signals_of_ending(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	return serve_on_link(options, &signals, error);
}

/* Says, before it serves, what is going to bound it. */
static void print_notes(const struct serve_options *options, const char *program)
{
	struct tp_error error;

	if (stack_check_descriptors(&options->stack, true,
				    (uint64_t)options->conn_max * options->stack.workers,
				    options->stack.veth_id[0] ? VETH_DESCRIPTORS : 0, &error) < 0)
		fprintf(stderr, "%s: note: %s\n", program, error.text);
	if (serve_polls_itself(options))
		fprintf(stderr,
			"%s: note: the kernel's thread of sqpoll=on is on a CPU where a worker "
			"spins, and they take it from each other: give the thread a CPU of its "
			"own with sqpoll-cpu=N, or let the worker --wait block\n",
			program);
}

int verb_serve(int argc, char **argv)
{
	struct serve_options *options;
	struct flags flags = serve_flags(&options);
	struct tp_error error;
	int status;

	if (!flags_accept(&flags, argc, argv, &status) ||
	    !config_take(&options->config, &flags, &status))
		return status;
	if (serve_resolve(options, &flags, &error) < 0)
		return exit_with(EXIT_USAGE, flags.program, &error);
	flags_print_config(&flags, stdout);
	if (options->check)
		return EXIT_PASS;
	options->effective = flags_to_json(&flags);
	options->sources = flags_sources_to_json(&flags);
	print_notes(options, flags.program);
	status = run(options, &error);
	json_decref(options->effective);
	json_decref(options->sources);
	routes_fini(&options->routes);
	config_fini(&options->config);
	return status < 0 ? exit_with(EXIT_USAGE, flags.program, &error) : status;
}
