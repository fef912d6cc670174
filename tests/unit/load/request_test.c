#include "apps/load/request.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tp_addr ipv4 = {.ip = 0x7f000001, .port = 8080};

static void expect_head(const struct request_config *config, const char *wanted)
{
	struct tp_error error;
	uint32_t bytes;
	char *head;

	CU_ASSERT_EQUAL_FATAL(request_head(config, &head, &bytes, &error), 0);
	if (bytes != strlen(wanted) || memcmp(head, wanted, bytes) != 0) {
		printf("# wanted '%s', got '%s'\n", wanted, head);
		CU_FAIL("another head");
	}
	free(head);
}

static void test_methods(void)
{
	struct request_config config = {.method = HTTP1_GET, .path = "/x?y=1", .server = &ipv4};

	expect_head(&config, "GET /x?y=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n");
	config.method = HTTP1_HEAD;
	expect_head(&config, "HEAD /x?y=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n");
	config.method = HTTP1_POST;
	expect_head(&config, "POST /x?y=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"
			     "Content-Length: 0\r\n\r\n");
	config.method = HTTP1_DELETE;
	config.body_bytes = 16777196;
	expect_head(&config, "DELETE /x?y=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"
			     "Content-Length: 16777196\r\n\r\n");
	config = (struct request_config){.method = HTTP1_OPTIONS, .path = "*", .server = &ipv4};
	expect_head(&config, "OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n");
}

static void test_hosts(void)
{
	struct tp_addr local = {.family = TP_UNIX, .path = "/run/a b.sock"};
	struct tp_addr ipv6 = {.family = TP_IPV6, .port = 80, .ip6 = {[0] = 0xfe, 0x80, [15] = 1}};
	struct request_config config = {.method = HTTP1_GET, .path = "/", .server = &local};

	expect_head(&config, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
	ipv6.interface = if_nametoindex("lo");
	config.server = &ipv6;
	expect_head(&config, "GET / HTTP/1.1\r\nHost: [fe80::1]:80\r\n\r\n");
	config.host = "example.org";
	expect_head(&config, "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
}

static void test_refused(void)
{
	static const struct {
		struct request_config config;
		const char *says;
	} rows[] = {
		{{.method = HTTP1_CONNECT, .path = "/"}, "CONNECT"},
		{{.method = HTTP1_TRACE, .path = "/", .body_bytes = 1}, "--request-bytes 0"},
		{{.path = ""}, "does not begin with '/'"},
		{{.path = "x"}, "does not begin with '/'"},
		{{.path = "*"}, "does not begin with '/'"},
		{{.path = "/a b"}, "a request line cannot have"},
		{{.path = "/a\r\nX: y"}, "a request line cannot have"},
		{{.path = "/\x7f"}, "a request line cannot have"},
		{{.path = "/\xc3\xa4"}, "a request line cannot have"},
		{{.path = "/a#b"}, "a request line cannot have"},
		{{.path = "/", .host = ""}, "host ''"},
		{{.path = "/", .host = "a\r\nX: y"}, "host 'a"},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct request_config config = rows[i].config;
		struct tp_error error = {.text = ""};
		uint32_t bytes = 7;
		char *head = NULL;

		config.server = &ipv4;
		CU_ASSERT_EQUAL(request_head(&config, &head, &bytes, &error), -EINVAL);
		CU_ASSERT_PTR_NULL(head);
		CU_ASSERT_EQUAL(bytes, 7);
		if (!strstr(error.text, rows[i].says)) {
			printf("# row %u: wanted '%s' in '%s'\n", i, rows[i].says, error.text);
			CU_FAIL("a refusal does not say why");
		}
	}
}

static const struct suite_test tests[] = {
	{"a request says its length where a body has a meaning", test_methods},
	{"Host is the server's address without its zone unless another is given", test_hosts},
	{"what cannot stand in a request is refused", test_refused},
};

SUITE_MAIN("request", tests)
