/*
 * units: numbers as people write them on a command line.
 *
 * Nothing may stand around a number, a sign is not a number, and a duration without its unit is
 * refused: `10` could be seconds or milliseconds.
 *
 * Plane: setup. Each parser returns 0, or -EINVAL with the output untouched; each printer returns
 * `text`, which its parser reads back as the same number.
 */
#ifndef WEIR_CORE_UNITS_H
#define WEIR_CORE_UNITS_H

#include <stdint.h>

enum { UNITS_TEXT = 32 }; /* a printed number with its unit and its end */

/* Decimal digits only, no leading zero but "0" itself, at most `max`. */
int units_parse_count(const char *text, uint64_t max, uint64_t *count_out);

/*
 * A number, with decimals if wanted, and ns, us, ms, s, m or h: "3s", "0.5s", "200ms", "1m".
 * Below 2^63 ns.
 */
int units_parse_duration(const char *text, uint64_t *ns_out);

/* A count of bytes, bare or with KiB, MiB or GiB: "256", "16KiB". */
int units_parse_bytes(const char *text, uint64_t max, uint64_t *bytes_out);

/* In the largest unit up to s that leaves a whole number: "50us", "1500ns", "0s". */
const char *units_print_duration(uint64_t ns, char text[UNITS_TEXT]);

/* Likewise up to GiB: "16KiB", "1000", "0". */
const char *units_print_bytes(uint64_t bytes, char text[UNITS_TEXT]);

#endif
