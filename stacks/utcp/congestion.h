/*
 * congestion: how much may be in flight (RFC 5681, initial window of RFC 6928), by one of several
 * algorithms.
 *
 * Slow start, recovery, timeouts and when a mark counts (RFC 3168) are the same for all. An
 * algorithm says how the window grows in congestion avoidance and by how much it is cut: newreno.c,
 * cubic.c, dctcp.c.
 *
 * Counts bytes. Knows nothing of rings or frames: it is told what was acknowledged and what is in
 * flight or lost, and answers with a window.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_CONGESTION_H
#define WEIR_UTCP_CONGESTION_H

#include <stdbool.h>
#include <stdint.h>

enum { CONGESTION_CWND_MAX = 1 << 30 };

struct congestion;

/* What came with an acknowledgement of new bytes. */
struct congestion_ack {
	uint32_t ack;	 /* its number */
	uint32_t acked;	 /* new bytes */
	uint32_t flight; /* unacknowledged before */
	uint64_t now_ns;
	uint64_t rtt_ns; /* smoothed; 0 before the first sample */
	bool marked;	 /* it says that the network marks (ECE), and we may be told so */
};

struct congestion_algorithm {
	/* Congestion avoidance: the window limits us, and bytes were acknowledged. */
	void (*avoid)(struct congestion *congestion, uint16_t mss,
		      const struct congestion_ack *ack);
	/* Congestion was met with `flight` bytes out: the new ssthresh. */
	uint32_t (*reduce)(struct congestion *congestion, uint16_t mss, uint32_t flight);
	/* The retransmission timer ran out; NULL: the cut is all. */
	void (*timeout)(struct congestion *congestion);
	/* The window does not limit us for now: time that passes is not to count. */
	void (*rest)(struct congestion *congestion);
	/* New bytes were acknowledged, in whatever phase; NULL: of no interest. */
	void (*observe)(struct congestion *congestion, const struct congestion_ack *ack);
	/* Bytes were marked and none lost: the new window; NULL: `reduce`, as for a loss. */
	uint32_t (*yield)(struct congestion *congestion, uint16_t mss);
};

extern const struct congestion_algorithm congestion_newreno, congestion_cubic, congestion_dctcp;

/* NewReno's, of which others make use. */
void congestion_avoid_newreno(struct congestion *congestion, uint16_t mss,
			      const struct congestion_ack *ack);
uint32_t congestion_reduce_newreno(struct congestion *congestion, uint16_t mss, uint32_t flight);

/* What CUBIC knows beside the window (RFC 9438 4.1). */
struct congestion_cubic {
	uint32_t max;	   /* W_max: the window before the last cut, bytes */
	uint32_t prior;	   /* cwnd_prior: that of the last cut itself */
	uint32_t estimate; /* W_est: what NewReno would have */
	uint32_t k_ms;	   /* K: when the curve reaches `max` */
	uint64_t epoch_ns; /* when this stage of avoidance began; 0: it has not */
};

/* What DCTCP knows (RFC 8257 3.3); all 0 at first, which is an alpha of 1. */
struct congestion_dctcp {
	uint32_t unmarked; /* 1 - alpha, in 65536ths */
	uint32_t acked;	   /* bytes in this window of observation, */
	uint32_t marked;   /* of which so many were marked */
	uint32_t end;	   /* which ends when more than this is acknowledged */
	bool observing;	   /* there is such a window */
};

struct congestion {
	const struct congestion_algorithm *algorithm;
	uint32_t cwnd;
	uint32_t ssthresh;
	uint32_t recover;     /* recovery ends here (RFC 6582 3.2, RFC 6675 5); never left behind */
	uint32_t acked_bytes; /* towards the next step of congestion avoidance */
	uint32_t peak;	      /* most that was in flight since what was then sent last, */
	uint32_t peak_end;    /* which ended here, was acknowledged */
	uint32_t cut_end;     /* what was sent before this was sent before the last cut, */
	bool cut_lately;      /* and is not all acknowledged */
	bool cwr_due;	      /* the peer is to hear of the cut (RFC 3168 6.1.2) */
	bool recovering;
	union {
		struct congestion_cubic cubic;
		struct congestion_dctcp dctcp;
	};
};

/* Begins with RFC 6928's window, or with one segment if our SYN was lost (RFC 5681 3.1). */
void congestion_init(struct congestion *congestion, const struct congestion_algorithm *algorithm,
		     uint16_t mss, uint32_t iss, bool syn_lost);

/* New bytes were acknowledged. */
void congestion_acked(struct congestion *congestion, uint16_t mss,
		      const struct congestion_ack *ack);

/* A loss was found with `flight` bytes out, all sent before `snd_max`: a recovery begins. */
void congestion_recover(struct congestion *congestion, uint16_t mss, uint32_t flight,
			uint32_t snd_max);

/* In it the window is what is under way, `pipe`, and what may be sent besides (prr.h). */
static inline void congestion_hold(struct congestion *congestion, uint16_t mss, uint32_t pipe,
				   uint32_t room)
{
	congestion->cwnd = pipe + room > mss ? pipe + room : mss;
}

/* All that was out when the recovery began is acknowledged. */
void congestion_recovered(struct congestion *congestion);

/*
 * What was in flight when a loss was met (RFC 5681 3.1, FlightSize), of which `flight` is left.
 * ACKs that came with the news, before anything could be sent, are not to count, nor is limited
 * transmit (3.2, step 2).
 */
uint32_t congestion_flight_at_loss(const struct congestion *congestion, uint32_t flight);

/* A loss was found that is repaired already; `flight` bytes were out when it was met. */
void congestion_repaired(struct congestion *congestion, uint16_t mss, uint32_t flight,
			 uint32_t snd_max);

/* The retransmission timer ran out; `first` for the first time in a row (RFC 5681 3.1). */
void congestion_timeout(struct congestion *congestion, uint16_t mss, uint32_t flight,
			uint32_t snd_max, bool first);

/*
 * The cut since `before` was in vain (RFC 4015 3.4, RFC 9438 4.9): the window grows back to what it
 * was, from what is in flight and what was just acknowledged, and never starts above it. Is to be
 * followed by congestion_acked.
 */
void congestion_undo(struct congestion *congestion, const struct congestion *before, uint16_t mss,
		     uint32_t flight, uint32_t acked);

/* Nothing was sent for longer than a timeout (RFC 5681 4.1). */
void congestion_idle(struct congestion *congestion, uint16_t mss);

#endif
