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

/* Opens an instance with `count` established connections, in place of the last one. */
bool bench_demux_open(uint32_t count);

/* Looks for connections chosen at random among the first `among`, `times` times; whether each was
 * found. */
bool bench_demux_find(uint32_t among, uint32_t times);

#ifdef __cplusplus
}
#endif

#endif
