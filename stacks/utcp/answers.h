/*
 * answers: complete frames that wait to be sent.
 *
 * What answers a frame without belonging to a connection (ARP, ICMP, RST) is built when its cause
 * arrives and kept here until the next utcp_output. The queue is bounded: under a flood the surplus
 * is given up and counted, never stored.
 *
 * Plane: turn; init and fini are setup.
 */
#ifndef WEIR_UTCP_ANSWERS_H
#define WEIR_UTCP_ANSWERS_H

#include <stddef.h>
#include <stdint.h>

enum { ANSWERS_MAX = 64 };

struct answers {
	uint8_t *frames; /* ANSWERS_MAX places of frame_bytes */
	size_t frame_bytes;
	size_t bytes[ANSWERS_MAX]; /* length of each */
	unsigned first;
	unsigned count;
};

/* 0 or -ENOMEM. */
int answers_init(struct answers *answers, size_t frame_bytes);
void answers_fini(struct answers *answers);

/* Lends the place of the next answer, or NULL if the queue is full. */
uint8_t *answers_reserve(struct answers *answers);

/* The place last lent now holds a frame of `bytes`. */
void answers_commit(struct answers *answers, size_t bytes);

/* Copies the oldest answer out; its length, or 0 if there is none. */
size_t answers_pop(struct answers *answers, uint8_t *frame);

#endif
