#include "apps/load/follow.h"

#include "apps/common/exit.h"
#include "apps/common/pipeline_flags.h"
#include "apps/serve/serve.h"

#include <errno.h>
#include <string.h>

/* What both sides must agree on, by the names of the server's flags and the client's. */
static const struct pair {
	const char *server;
	const char *client;
} pairs[] = {
	{"listen", "connect"},
	{"protocol", "protocol"},
	{"handler", "handler"},
	{"response-bytes", "response-bytes"},
	{"tls", "tls"},
	{"tls-min", "tls-min"},
	{"tls-max", "tls-max"},
	{"tls-ciphers", "tls-ciphers"},
	{"tls-ciphersuites", "tls-ciphersuites"},
	{"tls-groups", "tls-groups"},
	{"tls-alpn", "tls-alpn"},
	{"tls-no-tickets", "tls-no-tickets"},
};

static int take(struct flags *flags, const char *name, const char *text, const struct flag *from,
		struct tp_error *error)
{
	struct flag *to = flags_find(flags, name);
	char accepts[FLAGS_ACCEPTS_BYTES];

	if (flags_take(to, text, from->source, from->layer) == 0)
		return 0;
	return tp_fail(error, -EINVAL,
		       "%s: the server's '%s' is %.100s, which a client's --%s cannot be; "
		       "accepted there: %s",
		       from->source, from->name, text, name, flags_accepts(to, accepts));
}

static int take_pairs(struct flags *flags, const struct flags *server, struct tp_error *error)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const struct flag *from = flags_find(server, pairs[i].server);

		if (from->given && from->text)
			rc = take(flags, pairs[i].client, from->text, from, error);
	}
	return rc;
}

/* The handler of the route that the client asks for. */
static int take_route(const struct load_options *options, struct flags *flags,
		      const struct serve_options *server, const struct flags *server_flags,
		      struct tp_error *error)
{
	const struct flag *routes = flags_find(server_flags, "routes");
	enum http1_method method = talk_method(options->method, options->request_bytes);
	const char *path = options->protocol ? options->path : "/";
	const char *handler;

	if (!routes->text)
		return 0;
	if (path[0] != '/')
		return tp_fail(error, -EINVAL, "--path '%.100s' does not begin with '/'", path);
	handler = routes_find(&server->routes, path, method);
	if (!handler)
		return tp_fail(error, -EINVAL, "no route of %s answers %s %s; %s", routes->source,
			       http1_method_name(method), path,
			       options->protocol ? "choose one with --path, and --method or "
						   "--request-bytes 0"
						 : "frames ask for nothing else");
	return take(flags, "handler", handler, routes, error);
}

/* A certificate that its server made at start is known to nobody. */
static int judge_trust(const struct load_options *options, const struct serve_options *server,
		       struct tp_error *error)
{
	const struct tls_options *tls = &options->stack.tls;

	if (!tls->on || server->stack.tls.config.certificate || tls->config.insecure ||
	    tls->config.authorities)
		return 0;
	return tp_fail(error, -EINVAL,
		       "the server's certificate is self-signed, and nobody vouches for it: take "
		       "it with --tls-insecure, or give the server one with tls_cert and tls_key");
}

static int follow(struct load_options *options, struct flags *flags, struct serve_options *server,
		  struct flags *server_flags, struct tp_error *error)
{
	int rc = serve_resolve_answer(server, server_flags, error);

	if (rc == 0)
		rc = take_pairs(flags, server_flags, error);
	if (rc == 0)
		rc = take_route(options, flags, server, server_flags, error);
	return rc < 0 ? rc : judge_trust(options, server, error);
}

bool follow_server(struct load_options *options, struct flags *flags, int *status_out)
{
	struct serve_options *server;
	struct flags server_flags = serve_flags(&server);
	char *none[] = {"serve"};
	struct tp_error error;

	if (options->from.count == 0)
		return true;
	server_flags.program = flags->program;
	if (flags_parse(&server_flags, 1, none, &error) == FLAGS_OK &&
	    !config_take(&options->from, &server_flags, status_out))
		return false;
	flags_resolve(flags, "from-config", options->from.files);
	if (follow(options, flags, server, &server_flags, &error) == 0)
		return true;
	*status_out = exit_with(EXIT_USAGE, flags->program, &error);
	return false;
}

int follow_answer(const struct load_options *options, struct talk_config *config,
		  struct tp_error *error)
{
	const char *argument;

	config->answer = TALK_FILE;
	if (options->expect_file)
		return 0;
	config->answer = TALK_FILL;
	config->response_bytes = spec_fill_bytes(options->handler, options->response_bytes);
	switch (spec_find(options->handler, &argument)->answers) {
	case HANDLER_ANSWERS_ECHO:
		config->answer = TALK_ECHO;
		return 0;
	case HANDLER_ANSWERS_FILL:
		return 0;
	case HANDLER_ANSWERS_ANY:
		break;
	}
	return tp_fail(error, -EINVAL,
		       "what '%.100s' answers is not known here: give the same bytes with "
		       "--expect-file",
		       options->handler);
}
