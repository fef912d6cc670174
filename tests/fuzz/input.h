/*
 * input: a fuzzer's bytes, taken one value after the other.
 *
 * Where none are left, values are 0 and runs are empty, so that every input means something.
 */
#ifndef WEIR_TESTS_FUZZ_INPUT_H
#define WEIR_TESTS_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct input {
	const uint8_t *next;
	size_t left;
};

static inline uint8_t input_byte(struct input *input)
{
	if (input->left == 0)
		return 0;
	input->left--;
	return *input->next++;
}

static inline uint16_t input_short(struct input *input)
{
	uint16_t high = input_byte(input);

	return (uint16_t)(high << 8 | input_byte(input));
}

static inline uint32_t input_word(struct input *input)
{
	uint32_t high = input_short(input);

	return high << 16 | input_short(input);
}

/* The next `*bytes` as they stand; fewer, if there are fewer. */
static inline const uint8_t *input_run(struct input *input, size_t *bytes)
{
	const uint8_t *run = input->next;

	if (*bytes > input->left)
		*bytes = input->left;
	input->next += *bytes;
	input->left -= *bytes;
	return run;
}

#endif
