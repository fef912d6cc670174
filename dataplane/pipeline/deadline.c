#include "dataplane/pipeline/deadline.h"

#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"

const struct timeouts timeouts_default = {.head_ns = LIMIT_HEAD_NS,
					  .body_ns = LIMIT_BODY_NS,
					  .idle_ns = LIMIT_IDLE_NS,
					  .send_ns = LIMIT_SEND_NS,
					  .rate_bytes = LIMIT_RATE_BYTES};

static uint64_t after(uint64_t since_ns, uint64_t timeout_ns)
{
	return timeout_ns ? since_ns + timeout_ns : TIMER_NEVER;
}

/* The time that the bytes moved may take at the slowest rate, behind `since_ns` and the timeout. */
static uint64_t at_rate(const struct deadline *deadline, uint64_t timeout_ns, uint32_t rate_bytes)
{
	uint64_t bytes = deadline->bytes - deadline->first_bytes;

	if (timeout_ns == 0 || rate_bytes == 0)
		return TIMER_NEVER;
	return deadline->since_ns + timeout_ns + bytes / rate_bytes * CLOCK_SECOND_NS +
	       bytes % rate_bytes * CLOCK_SECOND_NS / rate_bytes;
}

uint64_t deadline_at(const struct deadline *deadline, const struct timeouts *timeouts)
{
	uint64_t rate_ns, stall_ns;

	switch (deadline->kind) {
	case DEADLINE_NONE:
		break;
	case DEADLINE_HEAD:
		return after(deadline->since_ns, timeouts->head_ns);
	case DEADLINE_BODY:
		if (timeouts->rate_bytes == 0)
			return after(deadline->since_ns, timeouts->body_ns);
		return at_rate(deadline, timeouts->body_ns, timeouts->rate_bytes);
	case DEADLINE_IDLE:
		return after(deadline->since_ns, timeouts->idle_ns);
	case DEADLINE_SEND:
		stall_ns = after(deadline->moved_ns, timeouts->send_ns);
		rate_ns = at_rate(deadline, timeouts->send_ns, timeouts->rate_bytes);
		return stall_ns < rate_ns ? stall_ns : rate_ns;
	case DEADLINE_LINGER:
		return after(deadline->since_ns, LIMIT_LINGER_NS);
	case DEADLINE_END:
		return after(deadline->since_ns, timeouts->send_ns);
	}
	return TIMER_NEVER;
}
