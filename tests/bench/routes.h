/*
 * routes: the lookup of a route, as C, for route.h is no C++.
 */
#ifndef WEIR_TESTS_BENCH_ROUTES_H
#define WEIR_TESTS_BENCH_ROUTES_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a table of ten routes, exact and prefix; once. */
void bench_routes_open(void);

/* Looks for the route of a GET for `path`; whether there is one. */
bool bench_route(const char *path, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
