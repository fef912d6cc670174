/*
 * random: a seeded sequence that is the same on every host (splitmix64, Steele 2014).
 */
#ifndef WEIR_APPS_SIM_RANDOM_H
#define WEIR_APPS_SIM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

static inline uint64_t random_next(struct random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* 0 to bound - 1; 0 for a bound of 0. */
static inline uint64_t random_below(struct random *random, uint64_t bound)
{
	return bound == 0 ? 0 : random_next(random) % bound;
}

/* True `permille` times in a thousand. */
static inline bool random_chance(struct random *random, unsigned permille)
{
	return random_below(random, 1000) < permille;
}

#endif
