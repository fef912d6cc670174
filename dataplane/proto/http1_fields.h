/*
 * http1_fields: the field lines of requests' and responses' heads, for one way to scan.
 *
 * Private to http1: a part of http1_read.h.
 *
 * Plane: turn.
 */
#ifndef WEIR_PROTO_HTTP1_FIELDS_H
#define WEIR_PROTO_HTTP1_FIELDS_H

#include "dataplane/core/span.h"
#include "dataplane/proto/http1_head.h"
#include "dataplane/proto/http1_run.h"
#include "dataplane/proto/http1_target.h"

#include <string.h>

#define HTTP1_INLINE static inline __attribute__((always_inline))

/*
 * Reads one field line; tabs around its value are left. A line that begins with white space
 * (obs-fold) has no name.
 */
HTTP1_INLINE enum http1_status http1_read_field(struct http1_walk *walk, struct http1_field *field,
						http1_run_function *run)
{
	const uint8_t *name_end = walk->mark, *value_end, *from = walk->from;
	int ended;

	if (!name_end) {
		name_end = run(&http1_set_token, walk->base, from, walk->end);
		if (name_end == walk->end)
			return http1_walk_out(walk, name_end);
		if (*name_end != ':' || name_end == walk->line)
			return HTTP1_BAD_FIELD;
		/* A vector has the name's bytes at hand, and need not wait for where it ends. */
		if (run == http1_run_scalar)
			from = name_end + 1;
	}
	value_end = run(&http1_set_value, walk->base, from, walk->end);
	ended = http1_line_end(value_end, walk->end);
	if (ended < 0) {
		walk->mark = name_end;
		return http1_walk_out(walk, value_end);
	}
	if (ended == 0)
		return HTTP1_BAD_FIELD;
	field->name = (struct span){walk->line, (size_t)(name_end - walk->line)};
	field->value = http1_trim_spaces(name_end + 1, value_end);
	http1_walk_next(walk, value_end + 2);
	return HTTP1_OK;
}

/*
 * Reads a field line that is "Host: " and a name, with or without a port, by one run; whether it is
 * such a one. Any other Host, and one that is not there whole, is for http1_read_field to read.
 */
HTTP1_INLINE bool http1_read_plain_host(struct http1_walk *walk, struct http1_field *field,
					http1_run_function *run)
{
	const uint8_t *name = walk->line, *host = name + sizeof("Host: ") - 1, *at;

	if ((walk->seen & HTTP1_SEEN_HOST) || !walk->is_request || walk->from != name)
		return false;
	if (walk->end <= host || !http1_is_host_name(name) || memcmp(name + 4, ": ", 2) != 0)
		return false;
	at = run(&http1_set_host, walk->base, host, walk->end);
	if (at == host)
		return false;
	at = http1_skip_port(at, walk->end);
	if (http1_line_end(at, walk->end) <= 0)
		return false;
	field->name = (struct span){name, sizeof("Host") - 1};
	field->value = (struct span){host, (size_t)(at - host)};
	walk->seen |= HTTP1_SEEN_HOST;
	walk->host = field;
	http1_walk_next(walk, at + 2);
	return true;
}

/* Reads one field line, and judges what it says. */
HTTP1_INLINE enum http1_status http1_take_field(struct http1_walk *walk, struct http1_field *field,
						http1_run_function *run)
{
	enum http1_status status;

	if (http1_read_plain_host(walk, field, run))
		return HTTP1_OK;
	status = http1_read_field(walk, field, run);
	if (status == HTTP1_OK && http1_may_matter(field->name.bytes))
		status = http1_judge_field(walk, field);
	if (status == HTTP1_OK && http1_has_tab_at_end(field->value))
		field->value = http1_trim(field->value);
	return status;
}

/* Reads field lines and the empty line behind them; then walk->line is the head's end. */
HTTP1_INLINE enum http1_status http1_read_fields(struct http1_walk *walk, http1_run_function *run)
{
	while (walk->line < walk->end) {
		enum http1_status status;

		if (*walk->line == '\r') {
			int ended = http1_line_end(walk->line, walk->end);

			if (ended < 0)
				return http1_walk_out(walk, walk->line);
			if (ended == 0)
				return HTTP1_BAD_FIELD;
			http1_walk_next(walk, walk->line + 2);
			return HTTP1_OK;
		}
		if (walk->field_count == walk->limits->fields)
			return HTTP1_HEAD_TOO_LARGE;
		status = http1_take_field(walk, &walk->fields[walk->field_count], run);
		if (status != HTTP1_OK)
			return status;
		walk->field_count++;
	}
	return http1_walk_out(walk, walk->line);
}

#endif
