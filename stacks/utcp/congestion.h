/*
 * congestion: how much may be in flight (RFC 5681, NewReno recovery of RFC 6582, initial window of
 * RFC 6928).
 *
 * Counts bytes. Knows nothing of rings or frames: it is told what was acknowledged and what is in
 * flight, and answers with what to do.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_CONGESTION_H
#define WEIR_UTCP_CONGESTION_H

#include <stdbool.h>
#include <stdint.h>

struct congestion {
	uint32_t cwnd;
	uint32_t ssthresh;
	uint32_t recover;     /* RFC 6582: recovery ends beyond this */
	uint32_t acked_bytes; /* towards the next step of congestion avoidance */
	uint32_t peak;	      /* most that was in flight since what was then sent last, */
	uint32_t peak_end;    /* which ended here, was acknowledged */
	uint8_t dup_acks;     /* in a row, capped */
	bool recovering;
};

/* What an acknowledgement calls for. */
enum congestion_verdict {
	CONGESTION_GO_ON,
	CONGESTION_RESEND,  /* send the first unacknowledged segment again */
	CONGESTION_RECOVER, /* the same, and a recovery has begun */
};

/* Begins with RFC 6928's window, or with one segment if our SYN was lost (RFC 5681 3.1). */
void congestion_init(struct congestion *congestion, uint16_t mss, uint32_t iss, bool syn_lost);

/* `acked` new bytes were acknowledged up to `ack`; `flight` was unacknowledged before. */
enum congestion_verdict congestion_acked(struct congestion *congestion, uint16_t mss, uint32_t ack,
					 uint32_t acked, uint32_t flight);

/* A duplicate ACK of `ack` came with `flight` bytes out, the last ending before `snd_max`. */
enum congestion_verdict congestion_duplicate(struct congestion *congestion, uint16_t mss,
					     uint32_t ack, uint32_t flight, uint32_t snd_max);

/* The retransmission timer ran out; `first` for the first time in a row (RFC 5681 3.1). */
void congestion_timeout(struct congestion *congestion, uint16_t mss, uint32_t flight,
			uint32_t snd_max, bool first);

/* Nothing was sent for longer than a timeout (RFC 5681 4.1). */
void congestion_idle(struct congestion *congestion, uint16_t mss);

/* What may be in flight now, with limited transmit (RFC 3042) on the first two duplicates. */
static inline uint32_t congestion_window(const struct congestion *congestion, uint16_t mss)
{
	unsigned extra =
		congestion->recovering || congestion->dup_acks > 2 ? 0 : congestion->dup_acks;

	return congestion->cwnd + extra * mss;
}

#endif
