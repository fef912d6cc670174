#include "apps/common/tls_flags.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct tls_options options;
static struct flag server_table[] = {TLS_FLAGS(&options), TLS_SERVER_FLAGS(&options)};
static struct flag client_table[] = {TLS_FLAGS(&options), TLS_CLIENT_FLAGS(&options)};

/* What a client connects to, and is told to call it. */
static struct tp_addr server;
static const char *host;

/* Resolves a command line of words ended by NULL. */
static int resolve(bool is_server, const char *const *words, const char *alpn,
		   struct tp_error *error)
{
	struct flags flags = {.program = "weir try",
			      .about = "Tries.",
			      .table = is_server ? server_table : client_table,
			      .count = is_server ? COUNT(server_table) : COUNT(client_table)};
	char *argv[16] = {"try"};
	int argc = 1;

	options = (struct tls_options){.on = false};
	for (; words[argc - 1]; argc++)
		argv[argc] = (char *)words[argc - 1];
	CU_ASSERT_EQUAL_FATAL(flags_parse(&flags, argc, argv, error), FLAGS_OK);
	if (!is_server)
		tls_expect(&options, &flags, host, &server);
	return tls_resolve(&options, &flags, is_server, alpn, error);
}

#define RESOLVE(server, alpn, error, ...) \
	resolve(server, (const char *const[]){__VA_ARGS__, NULL}, alpn, error)

static void a_server_is_self_signed_with_tickets_unless_told(void)
{
	struct tp_error error;
	json_t *json;

	CU_ASSERT_EQUAL(RESOLVE(true, "http/1.1", &error, "--tls"), 0);
	CU_ASSERT_TRUE(options.config.server && options.config.resumption);
	CU_ASSERT_EQUAL(options.config.version_min, TLS_1_2);
	CU_ASSERT_EQUAL(options.config.version_max, TLS_1_3);
	CU_ASSERT_EQUAL(options.config.handshakes_max, TLS_HANDSHAKES_MAX);
	CU_ASSERT_EQUAL(options.config.handshake_timeout_ns, TLS_HANDSHAKE_NS);
	CU_ASSERT_STRING_EQUAL(options.config.alpn, "http/1.1");
	json = tls_options_to_json(&options);
	CU_ASSERT_TRUE(json_is_true(json_object_get(json, "on")));
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json, "provider")),
			       tls_provider());
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json, "certificate")),
			       "self-signed");
	CU_ASSERT_TRUE(json_is_null(json_object_get(json, "groups")));
	json_decref(json);
}

static void a_client_trusts_the_systems_authorities_unless_told(void)
{
	struct tp_error error;

	CU_ASSERT_EQUAL(RESOLVE(false, NULL, &error, "--tls", "--tls-no-tickets"), 0);
	CU_ASSERT_FALSE(options.config.server || options.config.insecure ||
			options.config.resumption);
	CU_ASSERT_PTR_NULL(options.config.authorities);
	CU_ASSERT_PTR_NULL(options.config.alpn);
	CU_ASSERT_EQUAL(RESOLVE(false, "http/1.1", &error, "--tls", "--tls-insecure", "--tls-alpn",
				"x", "--tls-max=1.2"),
			0);
	CU_ASSERT_TRUE(options.config.insecure);
	CU_ASSERT_STRING_EQUAL(options.config.alpn, "x");
	CU_ASSERT_EQUAL(options.config.version_max, TLS_1_2);
}

/* Of a server of HTTP/1.1; what a client offers is its own affair. */
static void a_server_offers_only_what_it_speaks(void)
{
	struct tp_error error = {""};

	CU_ASSERT_EQUAL(RESOLVE(true, "http/1.1", &error, "--tls", "--tls-alpn", "http/1.1"), 0);
	CU_ASSERT_EQUAL(RESOLVE(true, NULL, &error, "--tls", "--tls-alpn", "x"), 0);
	CU_ASSERT_EQUAL(RESOLVE(true, "http/1.1", &error, "--tls", "--tls-alpn", "h2"), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "promises what this server does not speak"));
}

/* With --tls-name, --host or neither; as the address of either family. */
static void a_client_knows_whose_certificate_it_expects(void)
{
	struct tp_error error;

	CU_ASSERT_EQUAL(tp_addr_parse("192.0.2.7:443", &server), 0);
	CU_ASSERT_EQUAL(RESOLVE(false, NULL, &error, "--tls"), 0);
	CU_ASSERT_STRING_EQUAL(options.config.server_name, "192.0.2.7");
	CU_ASSERT_EQUAL(tp_addr_parse("[2001:db8::7]:443", &server), 0);
	CU_ASSERT_EQUAL(RESOLVE(false, NULL, &error, "--tls"), 0);
	CU_ASSERT_STRING_EQUAL(options.config.server_name, "2001:db8::7");
	host = "a.test:8443";
	CU_ASSERT_EQUAL(RESOLVE(false, NULL, &error, "--tls"), 0);
	CU_ASSERT_STRING_EQUAL(options.config.server_name, "a.test");
	host = "[::1]:8443";
	CU_ASSERT_EQUAL(RESOLVE(false, NULL, &error, "--tls"), 0);
	CU_ASSERT_STRING_EQUAL(options.config.server_name, "::1");
	CU_ASSERT_EQUAL(RESOLVE(false, NULL, &error, "--tls", "--tls-name", "b.test"), 0);
	CU_ASSERT_STRING_EQUAL(options.config.server_name, "b.test");
	host = NULL;
}

static void a_client_without_a_name_is_refused(void)
{
	struct tp_error error = {""};
	char name[300];

	CU_ASSERT_EQUAL(tp_addr_parse("unix:/run/a.sock", &server), 0);
	CU_ASSERT_EQUAL(RESOLVE(false, NULL, &error, "--tls"), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "--tls-name"));
	CU_ASSERT_EQUAL(RESOLVE(false, NULL, &error, "--tls", "--tls-insecure"), 0);
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	CU_ASSERT_EQUAL(RESOLVE(false, NULL, &error, "--tls", "--tls-name", name), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "299"));
	CU_ASSERT_EQUAL(RESOLVE(false, NULL, &error, "--tls", "--tls-insecure", "--tls-name", name),
			-EINVAL);
	server = (struct tp_addr){.family = TP_IPV4};
}

static void without_tls_nothing_is_said_of_it(void)
{
	struct tp_error error = {""};
	json_t *json;

	CU_ASSERT_EQUAL(RESOLVE(true, "http/1.1", &error, "--no-tls"), 0);
	json = tls_options_to_json(&options);
	CU_ASSERT_EQUAL(json_object_size(json), 1);
	json_decref(json);
	CU_ASSERT_EQUAL(RESOLVE(false, NULL, &error, "--tls-insecure"), -EINVAL);
	CU_ASSERT_STRING_EQUAL(error.text, "--tls-insecure has no effect without --tls");
}

/* Each line is a side, its words, and a part of what must be said about them. */
static void what_does_not_go_together_is_refused(void)
{
	static const struct {
		bool server;
		const char *words[6];
		const char *says;
	} rows[] = {
		{true, {"--tls", "--tls-min=1.3", "--tls-max=1.2"}, "is above --tls-max 1.2"},
		{true, {"--tls", "--tls-key", "a.key"}, "--tls-cert is missing"},
		{true, {"--tls", "--tls-cert", "a.pem"}, "--tls-key is missing"},
		{true, {"--tls", "--tls-cert=gone.pem", "--tls-key=gone.key"}, "gone."},
		{true, {"--tls", "--tls-ciphers", "NONSUCH"}, "NONSUCH"},
		{true, {"--tls", "--tls-ciphersuites", "NONSUCH"}, "NONSUCH"},
		{false, {"--tls", "--tls-groups", "NONSUCH"}, "NONSUCH"},
		{false, {"--tls", "--tls-insecure", "--tls-ca", "a.pem"}, "leave out one"},
		{false, {"--tls", "--tls-ca", "gone.pem"}, "gone.pem"},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tp_error error = {""};

		CU_ASSERT_TRUE(resolve(rows[i].server, rows[i].words, NULL, &error) < 0);
		if (!strstr(error.text, rows[i].says)) {
			printf("# wanted '%s' in '%s'\n", rows[i].says, error.text);
			CU_FAIL("a message does not say what is wrong");
		}
	}
}

static const struct suite_test tests[] = {
	{"a server is self-signed, with tickets, unless it is told otherwise",
	 a_server_is_self_signed_with_tickets_unless_told},
	{"a client trusts the system's authorities unless it is told otherwise",
	 a_client_trusts_the_systems_authorities_unless_told},
	{"a server offers only what it speaks", a_server_offers_only_what_it_speaks},
	{"a client knows whose certificate it expects",
	 a_client_knows_whose_certificate_it_expects},
	{"a client that verifies and has no name, or too long a one, is refused",
	 a_client_without_a_name_is_refused},
	{"without TLS nothing is said of it", without_tls_nothing_is_said_of_it},
	{"what does not go together is refused", what_does_not_go_together_is_refused},
};

SUITE_MAIN("tls flags", tests)
