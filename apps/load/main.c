#include "apps/common/device.h"
#include "apps/common/exit.h"
#include "apps/common/file.h"
#include "apps/common/json.h"
#include "apps/common/pipeline_flags.h"
#include "apps/common/signals.h"
#include "apps/load/dialect.h"
#include "apps/load/digest.h"
#include "apps/load/follow.h"
#include "apps/load/lead.h"
#include "apps/load/neighbour.h"
#include "apps/weir/verbs.h"
#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"
#include "dataplane/pipeline/codec.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* By the index of codec_names. */
static const struct dialect *const dialects[] = {&dialect_framed, &dialect_http1};

/* One connection of one worker asks, whatever else was said. */
static void prepare_digest(struct load_options *options, struct flags *flags)
{
	static const char *const unused[] = {"refill", "warmup", "duration"};

	options->connections = options->stack.workers = options->stack.cpus.count = 1;
	flags_resolve(flags, "connections", "1");
	flags_resolve(flags, "workers", "1");
	for (unsigned i = 0; i < sizeof(unused) / sizeof(unused[0]); i++)
		flags_resolve(flags, unused[i], NULL);
}

/* What is said to the server, and what it is to answer. */
static int prepare_talk(struct load_options *options, struct tp_error *error)
{
	struct talk_config config = {.dialect = dialects[options->protocol],
				     .request_bytes = options->request_bytes,
				     .file = options->expect_file,
				     .method = options->method,
				     .path = options->path,
				     .host = options->host,
				     .server = &options->connect,
				     .status = (uint16_t)options->expect_status};
	int rc = follow_answer(options, &config, error);

	if (rc == 0)
		rc = talk_init(&options->talk, &config, error);
	if (rc < 0)
		return rc;
	options->send_bytes = client_send_bytes(options->depth, options->talk.request_bytes);
	if (options->send_bytes > 0)
		return 0;
	talk_fini(&options->talk);
	return tp_fail(error, -EINVAL,
		       "a window of --depth %u requests of --request-bytes %u is larger than any "
		       "connection's send memory; lower one of them",
		       options->depth, options->request_bytes);
}

/* TLS, and what means something to HTTP alone. */
static int prepare_protocol(struct load_options *options, struct flags *flags,
			    struct tp_error *error)
{
	static const char *const of_http[] = {"method", "path", "host", "expect-status"};
	bool http = options->protocol != 0;

	for (unsigned i = 0; !http && i < sizeof(of_http) / sizeof(of_http[0]); i++)
		if (flags_drop(flags, of_http[i], "--protocol http1", error) < 0)
			return -EINVAL;
	if (http) { /* what suits */
		flags_resolve(
			flags, "method",
			http1_method_name(talk_method(options->method, options->request_bytes)));
		options->scan = http1_choose(NULL);
	}
	tls_expect(&options->stack.tls, flags, options->host, &options->connect);
	return tls_resolve(&options->stack.tls, flags, false, http ? "http/1.1" : NULL, error);
}

/* Judges what flags say together, and makes what all workers share. */
static int prepare(struct load_options *options, struct flags *flags, char *connect,
		   struct tp_error *error)
{
	int rc = stack_resolve(&options->stack, flags, true, error);

	if (rc == 0)
		rc = stack_resolve_endpoint(&options->stack, flags, "connect", &options->connect,
					    connect, error);
	if (rc == 0)
		rc = prepare_protocol(options, flags, error);
	if (rc < 0)
		return rc;
	if (options->digest)
		prepare_digest(options, flags);
	if (options->connections < options->stack.workers)
		return tp_fail(error, -EINVAL, "--connections %u are too few for %u workers",
			       options->connections, options->stack.workers);
	if (options->connections > (uint64_t)LIMIT_CONN_MAX * options->stack.workers)
		return tp_fail(error, -EINVAL, "--connections %u are more than %u a worker",
			       options->connections, LIMIT_CONN_MAX);
	return prepare_talk(options, error);
}

/* Says before the run, not behind it, that a result could not be written. */
static int check_files(const struct load_options *options, struct tp_error *error)
{
	int rc = options->json ? file_check(options->json, error) : 0;

	return rc == 0 && options->hgrm ? file_check(options->hgrm, error) : rc;
}

static void block_signals(const struct load_options *options)
{
	sigset_t signals;

	signals_of_ending(&signals);
	if (options->hold)
		sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
}

/* Writes the files that were asked for. */
static int write_files(const struct load_options *options, const struct load_result *result,
		       const struct flags *flags, struct tp_error *error)
{
	json_t *object;
	int rc = 0;

	if (options->json) {
		object = load_result_to_json(options, result, flags_to_json(flags));
		rc = json_write_file(options->json, object, 0, error);
		json_decref(object);
	}
	if (rc == 0 && options->hgrm)
		rc = load_write_hgrm(options->hgrm, &result->measured->service, error);
	return rc;
}

/* Says how the run went; the exit status. */
static int conclude(const struct load_options *options, const struct load_result *result,
		    const struct flags *flags)
{
	struct tp_error error;

	if (result->interrupted) {
		fprintf(stderr, "%s: interrupted by SIG%s; nothing is written\n", flags->program,
			sigabbrev_np(result->signal_number));
		return EXIT_INVALID;
	}
	load_print_summary(options, result);
	load_print_failures(result);
	if (write_files(options, result, flags, &error) < 0)
		return exit_with(EXIT_USAGE, flags->program, &error);
	return failures_total(&result->failures) ? EXIT_INVALID : EXIT_PASS;
}

/* Says, before it measures, if a server is on one of our CPUs. */
static void look_around(struct load_options *options, const char *program)
{
	char text[CPUS_TEXT_BYTES];
	struct cpus shared;
	pid_t pid = neighbour_find(&options->stack.cpus, &shared);

	if (pid == 0)
		return;
	snprintf(options->warning, sizeof(options->warning),
		 "a weir server (pid %d) is pinned to CPU %.100s as this client is: they take it "
		 "from each other; --cpus keeps them apart",
		 (int)pid, cpus_print(&shared, text));
	fprintf(stderr, "%s: warning: %s\n", program, options->warning);
}

/* What is nobody else's while this process lives. */
static struct device_claim claim = {.fd = -1};

/* Goes to where the server can be reached from. */
static int enter_link(const struct load_options *options, struct tp_error *error)
{
	return options->stack.veth_id[0] ? veth_enter_client(options->stack.veth_id, error)
					 : device_take(&claim, &options->stack, error);
}

/* Prints what the server answered as a hash; the exit status. */
static int print_digest(const struct load_options *options, const char *program)
{
	struct load_result result = {.before = NULL};
	struct digest digest;
	struct tp_error error;

	block_signals(options);
	clock_start();
	if (enter_link(options, &error) < 0 || cpus_bind(&options->stack.cpus, &error) < 0 ||
	    digest_run(options, &digest, &error) < 0)
		return exit_with(EXIT_USAGE, program, &error);
	if (digest.signal_number) {
		fprintf(stderr, "%s: interrupted by SIG%s\n", program,
			sigabbrev_np(digest.signal_number));
		return EXIT_INVALID;
	}
	if (digest.hex[0])
		printf("digest %s %llu\n", digest.hex, (unsigned long long)digest.bytes);
	fflush(stdout);
	result.failures = digest.failures;
	load_print_failures(&result);
	return failures_total(&digest.failures) ? EXIT_INVALID : EXIT_PASS;
}

static int load(struct load_options *options, const struct flags *flags)
{
	struct load_result result = {0};
	struct progress progress;
	struct tp_error error, metrics_error;
	int status;

	block_signals(options);
	clock_start();
	look_around(options, flags->program);
	options->memory = membind_apply(options->stack.membind, &options->stack.cpus);
	if (enter_link(options, &error) < 0 || cpus_bind(&options->stack.cpus, &error) < 0 ||
	    check_files(options, &error) < 0 ||
	    stack_check_descriptors(&options->stack, false, options->connections,
				    options->metrics != NULL, &error) < 0 ||
	    progress_open(&progress, options->metrics, &error) < 0)
		return exit_with(EXIT_USAGE, flags->program, &error);
	if (lead_run(options, &progress, &result, &error) < 0)
		status = exit_with(EXIT_USAGE, flags->program, &error);
	else
		status = conclude(options, &result, flags);
	if (progress_close(&progress, &metrics_error) < 0 && status != EXIT_USAGE)
		status = exit_with(EXIT_USAGE, flags->program, &metrics_error);
	load_result_fini(&result);
	return status;
}

/* How long a request is, which a bare server has to be told and which HTTP's address is part of. */
static void print_request(const struct load_options *options)
{
	uint32_t bytes = options->talk.request_bytes;

	printf("request of %u bytes (a bare server: --request-bytes %u)\n", bytes,
	       options->protocol ? bytes : options->request_bytes);
	fflush(stdout);
}

static const char suitable[] = "suitable";

static int parse_method(const struct flag *flag, const char *text)
{
	unsigned method = 0;

	while (method < HTTP1_METHOD_COUNT && strcmp(http1_method_name(method), text) != 0)
		method++;
	if (method == HTTP1_METHOD_COUNT && strcmp(text, suitable) != 0)
		return -EINVAL;
	*(unsigned *)flag->value = method;
	return 0;
}

_Static_assert((int)TALK_METHOD_SUITABLE == (int)HTTP1_METHOD_COUNT,
	       "behind all methods stands suitable");

/* unsigned: as load_options has it */
static const struct flag_kind flag_method = {
	.metavar = "METHOD",
	.accepts = "suitable, or a method in capitals like GET, HEAD, POST or PUT",
	.parse = parse_method};

/* What the command line says; the table below writes it. */
static struct load_options options;

static struct flag table[] = {
	STACK_FLAGS(&options.stack),
	{.name = "from-config",
	 .kind = &flag_config,
	 .value = &options.from,
	 .about = "be the client of a server with this --config; may be repeated"},
	{.name = "connect",
	 .kind = &flag_endpoint,
	 .value = &options.connect,
	 .initial = "127.0.0.1:7878",
	 .about = "the server"},
	{.name = "connections",
	 .kind = &flag_count,
	 .value = &options.connections,
	 .initial = "64",
	 .min = 1,
	 .max = STACK_WORKERS_MAX * LIMIT_CONN_MAX,
	 .about = "connections, shared among the workers"},
	{.name = "depth",
	 .kind = &flag_count,
	 .value = &options.depth,
	 .initial = "1",
	 .min = 1,
	 .max = LIMIT_DEPTH_MAX,
	 .about = "requests outstanding on each connection"},
	{.name = "request-bytes",
	 .kind = &flag_bytes,
	 .value = &options.request_bytes,
	 .initial = "256",
	 .max = BODY_BYTES_MAX,
	 .about = "body bytes of each request"},
	{.name = "expect-file",
	 .kind = &flag_path,
	 .value = &options.expect_file,
	 .about = "expect every response to be this file (to 64MiB), whatever the handler"},
	{.name = "expect-status",
	 .kind = &flag_count,
	 .value = &options.expect_status,
	 .initial = "200",
	 .min = 200,
	 .max = 599,
	 .about = "http1: the status that every response must have; its body is judged as any"},
	PIPELINE_FLAGS(&options),
	TLS_FLAGS(&options.stack.tls),
	TLS_CLIENT_FLAGS(&options.stack.tls),
	{.name = "method",
	 .kind = &flag_method,
	 .value = &options.method,
	 .initial = "suitable",
	 .about = "http1: how it is asked for; suitable: POST with a body, else GET"},
	{.name = "path",
	 .kind = &flag_text,
	 .value = &options.path,
	 .initial = "/",
	 .about = "http1: what is asked for"},
	{.name = "host",
	 .kind = &flag_text,
	 .value = &options.host,
	 .about = "http1: the field Host; default: the server's address"},
	{.name = "refill",
	 .kind = &flag_choice,
	 .value = &options.refill,
	 .choices = client_refill_names,
	 .initial = "window",
	 .about = "write a request for each response, or a window when all are answered"},
	{.name = "warmup",
	 .kind = &flag_duration,
	 .value = &options.warmup_ns,
	 .initial = "1s",
	 .max = 600 * CLOCK_SECOND_NS,
	 .about = "time before the measured window"},
	{.name = "duration",
	 .kind = &flag_duration,
	 .value = &options.duration_ns,
	 .initial = "3s",
	 .min = 10 * CLOCK_MS_NS,
	 .max = 86400 * CLOCK_SECOND_NS,
	 .about = "length of the measured window"},
	{.name = "connect-timeout",
	 .kind = &flag_duration,
	 .value = &options.connect_timeout_ns,
	 .initial = "5s",
	 .min = CLOCK_MS_NS,
	 .max = 600 * CLOCK_SECOND_NS,
	 .about = "time for all connections to come about"},
	{.name = "stall-timeout",
	 .kind = &flag_duration,
	 .value = &options.stall_timeout_ns,
	 .initial = "5s",
	 .min = CLOCK_MS_NS,
	 .max = 600 * CLOCK_SECOND_NS,
	 .about = "time without any response after which the run has failed"},
	{.name = "hold",
	 .kind = &flag_switch,
	 .value = &options.hold,
	 .about = "once connected, print `phase connected` and wait for SIGUSR1, so that several "
		  "begin at once"},
	{.name = "json",
	 .kind = &flag_path,
	 .value = &options.json,
	 .about = "write the result to this file"},
	{.name = "metrics",
	 .kind = &flag_path,
	 .value = &options.metrics,
	 .about = "append a line of JSON each 0.5 s to this file"},
	{.name = "hgrm",
	 .kind = &flag_path,
	 .value = &options.hgrm,
	 .about = "write the service time's percentile spectrum (HdrHistogram's text) to "
		  "this file"},
	{.name = "digest",
	 .kind = &flag_count,
	 .value = &options.digest,
	 .min = 1,
	 .max = 1000 * 1000,
	 .about = "instead of a load: send so many fixed requests on one connection and print "
		  "the SHA-256 of all that is answered"},
};

int verb_load(int argc, char **argv)
{
	struct flags flags = {.program = "weir load",
			      .about = "Loads a server in a closed loop and verifies every "
				       "response to its last byte.",
			      .table = table,
			      .count = sizeof(table) / sizeof(table[0])};
	char connect[TP_ADDR_TEXT];
	struct tp_error error;
	int status;

	if (!flags_accept(&flags, argc, argv, &status) || !follow_server(&options, &flags, &status))
		return status;
	if (prepare(&options, &flags, connect, &error) < 0)
		return exit_with(EXIT_USAGE, flags.program, &error);
	flags_print_config(&flags, stdout);
	print_request(&options);
	options.sources = flags_sources_to_json(&flags);
	status = options.digest ? print_digest(&options, flags.program) : load(&options, &flags);
	json_decref(options.sources);
	json_decref(options.memory);
	config_fini(&options.from);
	talk_fini(&options.talk);
	device_drop(&claim);
	return status;
}
