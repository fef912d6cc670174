/*
 * http1_date: dates as HTTP writes them (RFC 9110 section 5.6.7).
 *
 * We write IMF-fixdate alone; a reader has to take the two obsolete forms too. Dates are seconds
 * since 1970 in UTC.
 *
 * Plane: turn. Nothing here allocates, reads a clock or knows a locale.
 */
#ifndef WEIR_PROTO_HTTP1_DATE_H
#define WEIR_PROTO_HTTP1_DATE_H

#include "dataplane/core/span.h"

#include <stdint.h>

enum { HTTP1_DATE_BYTES = 29 }; /* "Sun, 06 Nov 1994 08:49:37 GMT" */

/* Writes HTTP1_DATE_BYTES at `to`, without an end; for years up to 9999. */
void http1_date_print(int64_t seconds, char *to);

/*
 * Reads any of the three forms; a two-digit year is the one of 1970 to 2069. 0, or -EINVAL with the
 * output untouched.
 */
int http1_date_parse(struct span text, int64_t *seconds_out);

#endif
