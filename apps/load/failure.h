/*
 * failure: what went wrong with requests and connections, by kind, with the first case of each
 * in words.
 *
 * One failure of any kind makes a run invalid. Counting is a few instructions; the words are
 * made once a kind.
 */
#ifndef WEIR_APPS_LOAD_FAILURE_H
#define WEIR_APPS_LOAD_FAILURE_H

#include <stdint.h>

/* X(name, meaning) */
#define FAILURE_KINDS(X)                                                               \
	X(refused, "connections that the server or the stack refused")                 \
	X(lost, "requests whose connection ended before their response began")         \
	X(short, "responses that ended before their last byte")                        \
	X(wrong_id, "responses out of order, or to no request")                        \
	X(wrong_head, "responses whose head is malformed or not what was asked for")   \
	X(wrong_status, "responses with another HTTP status than asked for")           \
	X(wrong_length, "responses of another length than asked for")                  \
	X(wrong_bytes, "responses with a byte that differs")                           \
	X(error_frame, "error frames")                                                 \
	X(backwards, "responses that the clock put before their requests")             \
	X(stalled, "requests unanswered when nothing had moved for the stall timeout") \
	X(connect_timeout, "connections that did not come about in time")

enum failure_kind {
#define X(name, meaning) FAILURE_##name,
	FAILURE_KINDS(X)
#undef X
		FAILURE_KIND_COUNT,
};

enum { FAILURE_TEXT_BYTES = 240 };

/* What to ask when answers fit no request: a bare server knows the sizes by its flags alone. */
#define FAILURE_ASK_SIZES                                                                         \
	"; do server and client have the same --protocol, --request-bytes, --response-bytes and " \
	"--handler?"

struct failures {
	uint64_t count[FAILURE_KIND_COUNT];
	char text[FAILURE_KIND_COUNT][FAILURE_TEXT_BYTES]; /* the first case of each kind */
};

/* Counts `count` cases; the words are kept if they are the kind's first. */
void failures_note(struct failures *failures, enum failure_kind kind, uint64_t count,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));

void failures_add(struct failures *sum, const struct failures *failures);

/* Cases of all kinds. */
uint64_t failures_total(const struct failures *failures);

/* "wrong_id" */
const char *failure_name(enum failure_kind kind);

#endif
