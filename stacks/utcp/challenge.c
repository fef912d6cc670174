#include "stacks/utcp/challenge.h"

#include "stacks/utcp/instance.h"

/* Three words: no other use of the key hashes as many. */
static uint32_t draw_limit(const struct utcp *utcp, uint32_t period)
{
	uint64_t message[3] = {period, CHALLENGES_MIN, CHALLENGES_SPREAD};

	return CHALLENGES_MIN +
	       (uint32_t)(siphash_words(&utcp->key, message, 3) % CHALLENGES_SPREAD);
}

/* Begins the period anew where the last is over. */
static void begin_period(struct utcp *utcp, struct challenge_share *share, uint64_t now_ns)
{
	struct challenges *all = &utcp->challenges;

	if (now_ns >= all->ends_ns) {
		all->ends_ns = now_ns + CHALLENGE_PERIOD_NS;
		all->left = draw_limit(utcp, ++all->period);
	}
	if (share->period != all->period)
		*share = (struct challenge_share){.period = all->period};
}

bool challenge_answer_allowed(struct utcp *utcp, struct challenge_share *share, uint64_t now_ns)
{
	begin_period(utcp, share, now_ns);
	if (share->taken == CHALLENGES_CONN_MAX) {
		utcp->counters.challenges_withheld++;
		return false;
	}
	share->taken++;
	return true;
}

bool challenge_allowed(struct utcp *utcp, struct challenge_share *share, uint64_t now_ns)
{
	begin_period(utcp, share, now_ns);
	if (utcp->challenges.left == 0) {
		utcp->counters.challenges_withheld++;
		return false;
	}
	if (!challenge_answer_allowed(utcp, share, now_ns))
		return false;
	utcp->challenges.left--;
	return true;
}

void challenge_send(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	if (!challenge_allowed(utcp, &conn->challenges, now_ns))
		return;
	utcp->counters.challenge_acks++;
	tcp_ack_soon(utcp, conn);
}
