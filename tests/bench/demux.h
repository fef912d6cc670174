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

enum { BENCH_DEMUX_SEGMENTS = 1024 };

/* Opens an instance with `count` established connections, in place of the last one. */
bool bench_demux_open(uint32_t count);

/* Puts all into a table with another secret, the `number`-th. */
bool bench_demux_reseed(uint32_t number);

/* Looks for BENCH_DEMUX_SEGMENTS connections chosen at random among the first `among`: the seconds
 * of CPU time that this took, or a negative number if one was not found. */
double bench_demux_find(uint32_t among);

/* As many segments of one byte arrive for such connections, in bursts as a device hands them over:
 * the seconds of CPU time that taking them in took, or a negative number if one was not taken. */
double bench_demux_input(uint32_t among);

#ifdef __cplusplus
}
#endif

#endif
