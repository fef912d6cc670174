/*
 * answers: complete frames that wait to be sent.
 *
 * What answers a frame without belonging to a connection (ARP, ICMP, RST) is built when its cause
 * arrives and kept here until the next utcp_output. The queue is bounded: under a flood the surplus
 * is given up and counted, never stored. Our own questions (ARP, neighbour discovery) wait here,
 * too, and have some places of their own, so that a flood does not keep us from finding hosts.
 *
 * Plane: turn; init and fini are setup.
 */
#ifndef WEIR_UTCP_ANSWERS_H
#define WEIR_UTCP_ANSWERS_H

#include <stddef.h>
#include <stdint.h>

enum {
	ANSWERS_MAX = 64,
	ANSWERS_KEPT = 8, /* places beside, for what we ask */
	ANSWERS_PLACES = ANSWERS_MAX + ANSWERS_KEPT,
};

struct answers {
	uint8_t *frames; /* ANSWERS_PLACES places of frame_bytes */
	size_t frame_bytes;
	size_t bytes[ANSWERS_PLACES]; /* length of each */
	unsigned first;
	unsigned count;
};

/* 0 or -ENOMEM. */
int answers_init(struct answers *answers, size_t frame_bytes);
void answers_fini(struct answers *answers);

/* Lends the place of the next answer, or NULL if the queue is full. */
uint8_t *answers_reserve(struct answers *answers);

/* The same for a question of ours. */
uint8_t *answers_reserve_question(struct answers *answers);

/* The place last lent now holds a frame of `bytes`. */
void answers_commit(struct answers *answers, size_t bytes);

/* Copies the oldest answer out; its length, or 0 if there is none. */
size_t answers_pop(struct answers *answers, uint8_t *frame);

#endif
