/*
 * codecs: what the microbenchmarks measure, as C, for the codecs' headers are no C++.
 *
 * The program's malloc is counted; http-parser is the one that the linker finds, or none.
 */
#ifndef WEIR_TESTS_BENCH_CODECS_H
#define WEIR_TESTS_BENCH_CODECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_MESSAGES = 64, BENCH_PAYLOAD_BYTES = 64 };

/* Calls of malloc and its like since the start. */
uint64_t bench_allocations(void);

/* Chooses a way to scan; whether this CPU has it. */
bool bench_choose(const char *way);

/* Each parses one whole request and forgets it; whether it was right. */
bool bench_views(const char *text, size_t bytes);
bool bench_owned(const char *text, size_t bytes);
bool bench_http_parser(const char *text, size_t bytes);

bool bench_has_http_parser(void);

/* Each works through BENCH_MESSAGES and returns the bytes of them all. */
size_t bench_frame_encode(void);
size_t bench_frame_decode(void);
size_t bench_length_encode(void);
size_t bench_length_decode(void);

#ifdef __cplusplus
}
#endif

#endif
