#include "stacks/utcp/undo.h"

#include "stacks/utcp/seq.h"

void undo_note_resent(struct undo *undo, uint32_t end, uint32_t time)
{
	if (undo->state == UNDO_CUT) {
		undo->state = UNDO_RESENT;
		undo->resent_at = time;
		undo->resent_end = end;
	}
	undo->resent_end = seq_max(undo->resent_end, end);
}

/* What was not sent again and has arrived was late, whatever is echoed. */
static bool is_needed(const struct undo *undo, uint32_t time)
{
	return undo->state == UNDO_RESENT && !seq_before(time, undo->resent_at);
}

enum undo_verdict undo_take(struct undo *undo, uint32_t ack, uint32_t time, bool lost)
{
	if (undo->state == UNDO_OFF)
		return UNDO_NOTHING;
	if (is_needed(undo, time)) {
		undo->state = UNDO_OFF;
		return UNDO_NOTHING;
	}
	if (undo->state == UNDO_CUT && lost)
		return UNDO_NOTHING;
	if (undo->state == UNDO_RESENT && seq_before(ack, undo->resent_end))
		return UNDO_LATE;
	undo->state = UNDO_OFF;
	return UNDO_ALL;
}
