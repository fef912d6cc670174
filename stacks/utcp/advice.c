#include "stacks/utcp/advice.h"

#include "dataplane/core/check.h"
#include "stacks/utcp/instance.h"

/* What links are likely to have, for routers that name no MTU (RFC 1191 7.1). */
static const uint16_t plateaus[] = {8166, 4352, 2002, 1492, 1006, ADVICE_MTU_MIN_IP4};

static uint16_t guess_mtu(uint16_t packet_bytes)
{
	for (unsigned i = 0; i < sizeof(plateaus) / sizeof(plateaus[0]); i++)
		if (plateaus[i] < packet_bytes)
			return plateaus[i];
	return ADVICE_MTU_MIN_IP4;
}

/* The packet that did not fit is sent again in smaller pieces, and with it all that is under way,
 * since it was as big; the window stays (RFC 1191 6.4, RFC 8899 4.4). */
static bool take_too_big(struct utcp *utcp, struct utcp_conn *conn, const struct advice *advice)
{
	uint16_t mtu = advice->mtu > 0 ? advice->mtu : guess_mtu(advice->packet_bytes), mss;
	uint16_t least = addr_is_ip4(&advice->ends.peer) ? ADVICE_MTU_MIN_IP4 : ADVICE_MTU_MIN_IP6;

	if (mtu >= advice->packet_bytes) /* RFC 5927 7.2: it would have fitted */
		return false;
	if (mtu < least)
		mtu = least;
	mss = segment_head_mss(&conn->head, mtu) - (conn->times.on ? OPTIONS_TIMES_BYTES : 0);
	if (mss >= conn->mss)
		return true; /* of a packet sent before we knew, or by less than we send anyway */
	conn->mss = mss;
	utcp->counters.path_mtu_lowered++;
	if (conn_synchronized(conn)) {
		flight_lose_all(&utcp->flights, &conn->flight);
		utcp_mark(utcp, conn);
	}
	return true;
}

static void take_error(struct utcp *utcp, struct utcp_conn *conn, enum advice_kind kind)
{
	if (conn->state != CONN_SYN_SENT || kind == ADVICE_SOFT) {
		utcp->counters.icmp_soft++;
		conn->advised = true;
		return;
	}
	utcp->counters.icmp_hard++;
	close_conn(utcp, conn, kind == ADVICE_REFUSED ? UTCP_REFUSED : UTCP_UNREACHABLE);
}

bool advice_take(struct utcp *utcp, const struct advice *advice)
{
	struct utcp_conn *conn = tuples_find(&utcp->tuples, &utcp->conns, &advice->ends);

	if (!conn || seq_before(advice->seq, conn->snd_una) ||
	    !seq_before(advice->seq, conn->snd_max)) {
		utcp->counters.icmp_unproven++;
		return false;
	}
	if (advice->kind == ADVICE_TOO_BIG)
		return take_too_big(utcp, conn, advice);
	take_error(utcp, conn, advice->kind);
	return true;
}
