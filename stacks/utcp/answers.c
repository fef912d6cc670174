#include "stacks/utcp/answers.h"

#include "dataplane/core/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int answers_init(struct answers *answers, size_t frame_bytes)
{
	*answers = (struct answers){.frames = malloc(ANSWERS_PLACES * frame_bytes),
				    .frame_bytes = frame_bytes};
	return answers->frames ? 0 : -ENOMEM;
}

void answers_fini(struct answers *answers)
{
	free(answers->frames);
	answers->frames = NULL;
}

static unsigned place(unsigned position)
{
	return position % ANSWERS_PLACES;
}

uint8_t *answers_reserve(struct answers *answers)
{
	return answers->count < ANSWERS_MAX ? answers_reserve_question(answers) : NULL;
}

uint8_t *answers_reserve_question(struct answers *answers)
{
	if (answers->count == ANSWERS_PLACES)
		return NULL;
	return answers->frames + place(answers->first + answers->count) * answers->frame_bytes;
}

void answers_commit(struct answers *answers, size_t bytes)
{
	CHECK(answers->count < ANSWERS_PLACES && bytes <= answers->frame_bytes);
	answers->bytes[place(answers->first + answers->count)] = bytes;
	answers->count++;
}

size_t answers_pop(struct answers *answers, uint8_t *frame)
{
	size_t bytes;

	if (answers->count == 0)
		return 0;
	bytes = answers->bytes[answers->first];
	memcpy(frame, answers->frames + answers->first * answers->frame_bytes, bytes);
	answers->first = place(answers->first + 1);
	answers->count--;
	return bytes;
}
