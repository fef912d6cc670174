/*
 * demux: what finding one connection among many costs, as C, for utcp's headers are no C++.
 */
#ifndef WEIR_TESTS_BENCH_DEMUX_H
#define WEIR_TESTS_BENCH_DEMUX_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_DEMUX_SEGMENTS = 1000 };

/* Opens an instance with `count` established connections, in place of the last one. */
bool bench_demux_open(uint32_t count);

/* Looks for connections chosen at random among the first `among`, `times` times; whether each was
 * found. */
bool bench_demux_find(uint32_t among, uint32_t times);

/* BENCH_DEMUX_SEGMENTS segments of one byte arrive for such connections: the seconds of CPU time
 * that taking them in cost, or a negative number if one was not taken. */
double bench_demux_input(uint32_t among);

#ifdef __cplusplus
}
#endif

#endif
