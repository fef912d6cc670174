/*
 * warmup: warmup.log of a sample, what its client said before the measured window.
 *
 * Plane: report.
 */
#ifndef WEIR_RUN_WARMUP_H
#define WEIR_RUN_WARMUP_H

#include <stddef.h>

/*
 * From the client's log the lines from `phase connect` up to `phase measure`, then from its metrics
 * those of the warm-up: a text, owned by the caller (free), its length in `bytes_out`; NULL without
 * memory. Either may be NULL.
 */
char *warmup_make(const char *log, const char *metrics, size_t *bytes_out);

#endif
