/*
 * kind_judge: objects of an experiment whose "kind" says which keys they may have.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_KIND_JUDGE_H
#define WEIR_RUN_KIND_JUDGE_H

#include "apps/run/experiment/complaint.h"

/* A key and the kinds that it goes with: bit (1 << kind). */
struct kind_key {
	const char *name;
	uint32_t kinds;
};

/* The index in `words` of the word at the key; `count` if it is none or missing, and a problem. */
unsigned kind_judge_word(const struct judge *judge, struct way way, const json_t *object,
			 const char *key, const char *const *words, unsigned count);

/* Each key that is unknown, or that does not go with the kind, is a problem. */
void kind_judge_keys(const struct judge *judge, struct way way, const json_t *object,
		     const struct kind_key *keys, unsigned count, unsigned kind, const char *name);

/*
 * The number at the key, if there is one, must be from `least` to `most`; else a problem. Whether
 * the key is there.
 */
bool kind_judge_number(const struct judge *judge, struct way way, const json_t *object,
		       const char *key, double least, double most, const char *accepted);

#endif
