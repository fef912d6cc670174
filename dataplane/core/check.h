/*
 * check: what must be true.
 *
 * ASSERT states an invariant of our own code; it is compiled out of release builds. CHECK is kept
 * in every build and guards what would corrupt memory if it were false. Neither ever looks at
 * network input: a peer's bytes are counted and rejected, never asserted on.
 */
#ifndef WEIR_CORE_CHECK_H
#define WEIR_CORE_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                              \
	do {                                                          \
		if (__builtin_expect(!(condition), 0))                \
			check_failed(#condition, __FILE__, __LINE__); \
	} while (0)

#ifdef NDEBUG
#define ASSERT(condition) ((void)sizeof(condition))
#else
#define ASSERT(condition) CHECK(condition)
#endif

/* Says which condition failed and where, then ends the process. */
static inline _Noreturn __attribute__((cold)) void check_failed(const char *condition,
								const char *file, int line)
{
	fprintf(stderr, "weir: %s:%d: check failed: %s\n", file, line, condition);
	abort();
}

#endif
