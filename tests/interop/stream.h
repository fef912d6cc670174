/*
 * stream: bytes whose value follows from their place, written and verified in runs.
 *
 * The pattern repeats after a prime number of bytes, so that no shift by whole segments, rings or
 * windows goes unseen.
 */
#ifndef WEIR_TESTS_INTEROP_STREAM_H
#define WEIR_TESTS_INTEROP_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STREAM_RUN_MAX = 65536 };

/* The bytes from place `at` on, STREAM_RUN_MAX of them. */
const uint8_t *stream_at(uint64_t at);

#endif
