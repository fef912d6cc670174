/*
 * talk: text sent to a server over the memory stack, and the text that it answers.
 *
 * One connection of a bench (bench.h). What is heard leaves out the Date lines, which no test can
 * know; the server speaks HTTP/1.1 and has these routes:
 *
 *	/        prefix   respond:5
 *	/echo    prefix   echo
 *	/get     prefix   respond:3, GET alone
 *	/big     exact    respond:300000
 *	/spin    exact    spin:1
 */
#ifndef WEIR_TESTS_TALK_H
#define WEIR_TESTS_TALK_H

#include "tests/unit/pipeline/bench.h"

enum { TALK_BYTES = 1024 * 1024 };

struct talk {
	struct bench bench;
	struct bench_end *end;
	size_t heard_bytes;
	char heard[TALK_BYTES + 1];
};

/* The answer of the route "/". */
#define TALK_FIVE                                                                        \
	"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 5" \
	"\r\n\r\nZZZZZ"

/* A configuration as above. */
struct server_config talk_config(const char *delivery);

/* Opens all and connects. */
void talk_open(struct talk *talk, const struct server_config *config);
void talk_close(struct talk *talk);

/* Sends bytes, as the server takes them, and hears what comes until nothing does. */
void talk_send(struct talk *talk, const void *bytes, size_t count);
void talk_say(struct talk *talk, const char *text);

/* Turns until nothing moves, and hears. */
void talk_listen(struct talk *talk);

/* Whether exactly this was heard since the last question. */
bool talk_heard(struct talk *talk, const char *text);

/* The same for one connection that says nothing else: opens, says, compares, closes. */
bool talk_answers(struct talk *talk, const char *request, const char *answer);

const struct server_counters *talk_counters(const struct talk *talk);

#endif
