#include "dataplane/transport/transport.h"

#include <errno.h>

const char *tp_reason_name(enum tp_reason reason)
{
	static const char *const names[TP_REASON_COUNT] = {
		[TP_DONE] = "done",
		[TP_RESET] = "reset",
		[TP_REFUSED] = "refused",
		[TP_TIMEOUT] = "timeout",
		[TP_UNREACHABLE] = "unreachable",
		[TP_ABORTED] = "aborted",
		[TP_LINK_DOWN] = "link down",
		[TP_FAILED] = "failed",
	};

	return reason < TP_REASON_COUNT ? names[reason] : "unknown";
}

const char *tp_counter_name(enum tp_counter counter)
{
	static const char *const names[TP_COUNTER_COUNT] = {
#define X(name, meaning) #name,
		TP_COUNTERS(X)
#undef X
	};

	return counter < TP_COUNTER_COUNT ? names[counter] : "unknown";
}

int tp_family_check(const struct tp_ops *ops, const struct tp_addr *addr, struct tp_error *error)
{
	char text[TP_ADDR_TEXT];

	if (ops->families >> addr->family & 1)
		return 0;
	return tp_fail(error, -EAFNOSUPPORT,
		       "%s: the stack '%s' has no %s; take an address of "
		       "another kind, or a stack that has (`weir stacks`)",
		       tp_addr_print(addr, text), ops->name, tp_family_name(addr->family));
}

struct tp_fault tp_fault_of(const struct tp *tp, const struct tp_conn *conn)
{
	return tp->ops->fault ? tp->ops->fault(tp, conn) : (struct tp_fault){0};
}

uint64_t tp_option_of(const struct tp_ops *ops, const struct tp_config *config, unsigned index)
{
	return config->options ? config->options[index] : ops->options[index].initial;
}

unsigned tp_details_copy(const struct tp_detail *table, unsigned count,
			 struct tp_detail *details_out, unsigned room)
{
	for (unsigned i = 0; i < count && i < room; i++)
		details_out[i] = table[i];
	return count;
}
