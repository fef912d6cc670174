#include "apps/load/dialect.h"
#include "apps/load/request.h"

#include <stdio.h>
#include <string.h>

/* Interim responses (1xx) that may come before a response. */
enum { INTERIM_MAX = 16 };

static int prepare(struct talk *talk, const struct talk_config *config, struct tp_error *error)
{
	struct request_config request = {.method =
						 talk_method(config->method, config->request_bytes),
					 .path = config->path,
					 .host = config->host,
					 .server = config->server,
					 .body_bytes = config->request_bytes};
	int rc;

	rc = request_head(&request, &talk->head, &talk->head_bytes, error);
	if (rc < 0)
		return rc;
	talk->request_bytes = talk->head_bytes + config->request_bytes;
	talk->status = config->status;
	talk->bodiless = request.method == HTTP1_HEAD;
	if (config->status == 204 || config->status == 304)
		talk->response_bytes = 0;
	return 0;
}

static void put_request(const struct talk *talk, uint64_t id, struct room_writer *writer)
{
	room_writer_put(writer, (const uint8_t *)talk->head, talk->head_bytes);
	room_writer_put(writer, bodies_at(&talk->bodies, id), talk->bodies.body_bytes);
}

/* --- heads ------------------------------------------------------------------------------------ */

static enum verify_result wrong_head(const struct verifier *verifier, unsigned who,
				     const char *what)
{
	failures_note(verifier->failures, FAILURE_wrong_head, 1, "connection %u: a response %s",
		      who, what);
	return VERIFY_WRONG;
}

static enum verify_result malformed(const struct verifier *verifier, unsigned who,
				    enum http1_status status)
{
	failures_note(verifier->failures, FAILURE_wrong_head, 1,
		      "connection %u: a malformed response: %s%s", who, http1_status_text(status),
		      status == HTTP1_BAD_LINE ? "; does the server speak HTTP/1.1 there?" : "");
	return VERIFY_WRONG;
}

/* Another status than was asked for: what the server has to say about it follows. */
static enum verify_result begin_error(struct verify *verify, const struct http1_response *response)
{
	int bytes = snprintf(verify->status_text, sizeof(verify->status_text), "%u%s",
			     response->status, response->reason.bytes ? " " : "");

	verify_print(verify->status_text + bytes, sizeof(verify->status_text) - (size_t)bytes,
		     response->reason.base, response->reason.bytes);
	verify->is_error = true;
	return VERIFY_MORE;
}

/* Whether the body is as long as it should be, as far as the head says. */
static bool has_right_length(const struct talk *talk, const struct reply *reply,
			     const struct http1_framing *framing)
{
	if (framing->chunked)
		return true;
	if (talk->bodiless)
		return !framing->has_length || framing->length_bytes == talk->response_bytes;
	return reply->left == talk->response_bytes;
}

/* What to ask of a server that closes behind a response: one that did not before is ending. */
static const char *ask_close(const struct verifier *verifier)
{
	if (verifier->known_bytes > 0)
		return "behind which the server closes the connection; was it told to end, or "
		       "does it bound the requests of one?";
	return "behind which the server closes the connection; does it bound the requests of one, "
	       "or speak HTTP/1.0, or was it told to end?";
}

/* Judges what a final response's head says. */
static enum verify_result judge_head(const struct verifier *verifier, struct verify *verify,
				     unsigned who)
{
	const struct http1_response *response = &verifier->scratch.response;
	const struct http1_framing *framing = &response->framing;
	const struct talk *talk = verifier->talk;

	if (response->status != talk->status)
		return begin_error(verify, response);
	if (!framing->keep_alive)
		return wrong_head(verifier, who, ask_close(verifier));
	if (verify->reply.until_close)
		return wrong_head(verifier, who, "without a length");
	if (!has_right_length(talk, &verify->reply, framing))
		return verify_wrong_length(verifier, who, framing->length_bytes);
	return VERIFY_MORE;
}

/* Keeps a head that was right, so that it is known when it comes again. */
static void remember(struct verifier *verifier, const struct reply *reply, struct span head)
{
	if (head.bytes > VERIFY_KNOWN_BYTES)
		return;
	memcpy(verifier->known, head.base, head.bytes);
	verifier->known_bytes = (uint32_t)head.bytes;
	verifier->known_chunked = reply->chunked;
	verifier->known_left = reply->left;
}

/*
 * Passes over a head of the very bytes that were right before: they mean the same again. Servers
 * renew their Date once a second, and until then all their heads are alike.
 */
static bool take_known(struct verifier *verifier, struct verify *verify, struct span_reader *reader)
{
	uint32_t bytes = verifier->known_bytes;

	if (bytes == 0 || reader->left < bytes ||
	    memcmp(span_reader_peek(reader, verifier->scratch.bytes, bytes), verifier->known,
		   bytes) != 0)
		return false;
	span_reader_skip(reader, bytes);
	reply_begin(&verify->reply, verifier->known_chunked, verifier->known_left);
	return true;
}

/* Reads heads until that of a final response. VERIFY_COMPLETE: it is read, and right. */
static enum verify_result read_head(struct verifier *verifier, struct verify *verify,
				    struct span_reader *reader, unsigned who)
{
	const struct http1_response *response = &verifier->scratch.response;
	struct span head;

	while (reader->left > 0) {
		enum http1_status status = reply_head(&verify->reply, &verifier->scratch,
						      verifier->talk->bodiless, reader, &head);

		if (status == HTTP1_MORE)
			return VERIFY_MORE;
		if (status != HTTP1_OK)
			return malformed(verifier, who, status);
		if (response->status >= 200) {
			if (judge_head(verifier, verify, who) == VERIFY_WRONG)
				return VERIFY_WRONG;
			if (!verify->is_error)
				remember(verifier, &verify->reply, head);
			return VERIFY_COMPLETE;
		}
		if (response->status == 101)
			return wrong_head(verifier, who, "that switches to another protocol");
		if (++verify->interim_count > INTERIM_MAX)
			return wrong_head(verifier, who, "behind too many interim ones");
	}
	return VERIFY_MORE;
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* Passes over a response that is an error, as far as its text is wanted. */
static enum verify_result read_error(const struct verifier *verifier, struct verify *verify,
				     struct span_reader *reader, unsigned who)
{
	struct reply *reply = &verify->reply;

	for (;;) {
		enum http1_status status = reply_body(reply, reader);

		if (status == HTTP1_MORE)
			return VERIFY_MORE;
		if (status != HTTP1_OK || reply->ended ||
		    verify_keep_error(verify, &reply->left, reader))
			return verify_note_error(verify, who, verifier->failures);
		if (reply->left > 0)
			return VERIFY_MORE;
	}
}

static enum verify_result judge_body(const struct verifier *verifier, struct verify *verify,
				     uint64_t id, struct span_reader *reader, unsigned who)
{
	uint32_t wanted = talk_body_bytes(verifier->talk);
	struct reply *reply = &verify->reply;

	for (;;) {
		enum http1_status status = reply_body(reply, reader);

		if (status == HTTP1_MORE)
			return VERIFY_MORE;
		if (status != HTTP1_OK)
			return malformed(verifier, who, status);
		if (reply->left > wanted - verify->body_done ||
		    (reply->ended && verify->body_done < wanted))
			return verify_wrong_length(verifier, who, verify->body_done + reply->left);
		if (reply->ended)
			return VERIFY_COMPLETE;
		if (verify_body(verifier, verify, id, &reply->left, reader, who) == VERIFY_WRONG)
			return VERIFY_WRONG;
		if (reply->left > 0)
			return VERIFY_MORE;
	}
}

static enum verify_result verify(struct verifier *verifier, struct verify *verify, uint64_t id,
				 struct span_reader *reader, unsigned who)
{
	enum verify_result result;

	if (!verify->in_body) {
		if (!take_known(verifier, verify, reader)) {
			result = read_head(verifier, verify, reader, who);
			if (result != VERIFY_COMPLETE)
				return result;
		}
		verify->in_body = true;
		verify->interim_count = 0;
		verify->body_done = 0;
	}
	if (__builtin_expect(verify->is_error, 0))
		return read_error(verifier, verify, reader, who);
	result = judge_body(verifier, verify, id, reader, who);
	if (result == VERIFY_COMPLETE)
		verify->in_body = false;
	return result;
}

const struct dialect dialect_http1 = {
	.name = "http1",
	.prepare = prepare,
	.put_request = put_request,
	.verify = verify,
};
