#include "apps/load/record.h"

#include <string.h>

void record_reset(struct record *record)
{
	record->begin_ns = UINT64_MAX;
	record->end_ns = 0;
	histogram_reset(&record->service);
	histogram_reset(&record->intended);
	record->busy = (struct busy){0};
	memset(&record->transport, 0, sizeof(record->transport));
}

void record_begin(struct record *record, uint64_t now_ns, const struct busy *busy,
		  const struct tp *tp)
{
	record->begin_ns = now_ns;
	record->busy = *busy;
	stack_copy_take(&record->transport, tp);
}

static struct busy busy_between(const struct busy *from, const struct busy *to)
{
	return (struct busy){.end_ns = to->end_ns,
			     .turns = to->turns - from->turns,
			     .busy_turns = to->busy_turns - from->busy_turns,
			     .busy_ns = to->busy_ns - from->busy_ns,
			     .empty_ns = to->empty_ns - from->empty_ns,
			     .waited_ns = to->waited_ns - from->waited_ns};
}

void record_end(struct record *record, uint64_t now_ns, const struct busy *busy,
		const struct tp *tp)
{
	struct stack_copy end;

	record->end_ns = now_ns;
	record->busy = busy_between(&record->busy, busy);
	stack_copy_take(&end, tp);
	stack_copy_subtract(&end, &record->transport);
	record->transport = end;
}

void record_add(struct record *sum, const struct record *record)
{
	if (record->begin_ns < sum->begin_ns)
		sum->begin_ns = record->begin_ns;
	if (record->end_ns > sum->end_ns)
		sum->end_ns = record->end_ns;
	histogram_merge(&sum->service, &record->service);
	histogram_merge(&sum->intended, &record->intended);
	sum->busy.turns += record->busy.turns;
	sum->busy.busy_turns += record->busy.busy_turns;
	sum->busy.busy_ns += record->busy.busy_ns;
	sum->busy.empty_ns += record->busy.empty_ns;
	sum->busy.waited_ns += record->busy.waited_ns;
	stack_copy_add(&sum->transport, &record->transport);
}

/* A negative difference of unsigned times is larger than any that can be. */
bool record_went_backwards(const struct record *record)
{
	return record->service.max_ns > INT64_MAX || record->intended.max_ns > INT64_MAX;
}

double record_elapsed_s(const struct record *record)
{
	return record->end_ns > record->begin_ns ? (double)(record->end_ns - record->begin_ns) / 1e9
						 : 0;
}

double record_busy_share(const struct record *record)
{
	const struct busy *busy = &record->busy;
	uint64_t all_ns = busy->busy_ns + busy->empty_ns + busy->waited_ns;

	return all_ns ? (double)busy->busy_ns / (double)all_ns : 0;
}
