/*
 * prr: how much may be sent in a recovery, from what is delivered meanwhile (RFC 9937, proportional
 * rate reduction).
 *
 * While more than the new window is under way, one is sent for so many delivered that the flight
 * shrinks to it by the end of the recovery; with less, slow start refills it.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_PRR_H
#define WEIR_UTCP_PRR_H

#include <stdbool.h>
#include <stdint.h>

struct prr {
	uint32_t flight;    /* at the beginning not known to have arrived (RecoverFS) */
	uint32_t delivered; /* since then */
	uint32_t sent;	    /* since then, new or again */
};

/* What came with an acknowledgement. */
struct prr_news {
	uint32_t delivered;
	uint32_t pipe; /* still under way */
	bool safe;     /* it acknowledged something and told no further loss */
	bool urgent;   /* a segment must be sent at once */
};

/* A recovery begins (6.1). */
static inline struct prr prr_of(uint32_t flight)
{
	return (struct prr){.flight = flight > 0 ? flight : 1};
}

/* How many bytes may be sent now (6.2), on the way to a window of `ssthresh`. */
uint32_t prr_take(struct prr *prr, uint32_t ssthresh, uint16_t mss, const struct prr_news *news);

#endif
