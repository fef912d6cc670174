#include "stacks/utcp/prr.h"

#include "stacks/utcp/least.h"

static uint32_t beyond(uint32_t a, uint32_t b)
{
	return a > b ? a - b : 0;
}

uint32_t prr_take(struct prr *prr, uint32_t ssthresh, uint16_t mss, const struct prr_news *news)
{
	uint32_t room;

	prr->delivered += news->delivered;
	if (news->pipe > ssthresh) {
		uint64_t share = (uint64_t)prr->delivered * ssthresh + prr->flight - 1;

		room = beyond((uint32_t)(share / prr->flight), prr->sent);
	} else {
		room = most(beyond(prr->delivered, prr->sent), news->delivered);
		room = least(room + (news->safe ? mss : 0), ssthresh - news->pipe);
	}
	if (prr->sent == 0 || news->urgent) /* the first sending never waits */
		room = most(room, mss);
	return room;
}
