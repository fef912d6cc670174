#include "dataplane/proto/http1_target.h"
#include "dataplane/proto/http1_head.h"
#include "dataplane/proto/http1_run.h"

#include <arpa/inet.h>
#include <string.h>

static bool is_hex(uint8_t c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* A percent sign and two digits that do not make a NUL. */
static bool is_encoded(const uint8_t *at, const uint8_t *end)
{
	return end - at >= 3 && is_hex(at[1]) && is_hex(at[2]) && !(at[1] == '0' && at[2] == '0');
}

/* Splits what stands from '/' on, or nothing, into path and query. */
static bool split_path(struct http1_request *request, const uint8_t *begin, const uint8_t *end)
{
	const uint8_t *at = begin;

	request->query = (struct span){0};
	if (begin == end || *begin == '?')
		request->path = (struct span){(const uint8_t *)"/", 1};
	for (;; at += 3) {
		at = http1_run_scalar(&http1_set_path, request->target.base, at, end);
		if (at == end || *at == '?')
			break;
		if (!is_encoded(at, end))
			return false;
	}
	if (at > begin)
		request->path = (struct span){begin, (size_t)(at - begin)};
	if (at < end)
		request->query = (struct span){at + 1, (size_t)(end - at) - 1};
	return true;
}

/* "http://host:port/path?query"; another scheme is not ours to serve. */
static bool split_absolute(struct http1_request *request)
{
	const uint8_t *at = request->target.base, *end = at + request->target.bytes, *host;
	static const size_t short_bytes = sizeof("http://") - 1;

	request->form = HTTP1_ABSOLUTE;
	if (request->target.bytes > short_bytes &&
	    http1_is_word((struct span){at, short_bytes}, "http://"))
		host = at + short_bytes;
	else if (request->target.bytes > short_bytes + 1 &&
		 http1_is_word((struct span){at, short_bytes + 1}, "https://"))
		host = at + short_bytes + 1;
	else
		return false;
	for (at = host; at < end && *at != '/' && *at != '?'; at++)
		;
	request->host = (struct span){host, (size_t)(at - host)};
	return http1_is_host(request->host, false) && split_path(request, at, end);
}

bool http1_split_target(struct http1_request *request)
{
	const uint8_t *at = request->target.base;

	request->path = request->query = request->host = (struct span){0};
	if (request->method == HTTP1_CONNECT) {
		request->form = HTTP1_AUTHORITY;
		request->host = request->target;
		return http1_is_host(request->target, true);
	}
	if (*at == '/') {
		request->form = HTTP1_ORIGIN;
		return split_path(request, at, at + request->target.bytes);
	}
	if (*at == '*') {
		request->form = HTTP1_ASTERISK;
		return request->method == HTTP1_OPTIONS && request->target.bytes == 1;
	}
	return split_absolute(request);
}

/* The end of an IPv6 address in brackets (RFC 3986 section 3.2.2), or NULL. */
static const uint8_t *skip_address(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *begin = ++at;
	char text[INET6_ADDRSTRLEN] = "";
	struct in6_addr address;

	while (at < end && (is_hex(*at) || *at == ':' || *at == '.'))
		at++;
	if (at == end || *at != ']' || at - begin >= INET6_ADDRSTRLEN)
		return NULL;
	memcpy(text, begin, (size_t)(at - begin));
	return inet_pton(AF_INET6, text, &address) == 1 ? at + 1 : NULL;
}

static const uint8_t *skip_name(const uint8_t *base, const uint8_t *end)
{
	const uint8_t *at = base;

	for (;; at += 3) {
		at = http1_run_scalar(&http1_set_host, base, at, end);
		if (at == end || *at != '%')
			return at;
		if (!is_encoded(at, end))
			return NULL;
	}
}

bool http1_is_host(struct span host, bool needs_port)
{
	const uint8_t *end = host.base + host.bytes, *at, *behind;

	if (host.bytes == 0)
		return false;
	at = *host.base == '[' ? skip_address(host.base, end) : skip_name(host.base, end);
	if (!at || at == host.base)
		return false;
	behind = http1_skip_port(at, end);
	return behind == end && (behind > at + 1 || !needs_port);
}
