#include "stacks/utcp/gaps.h"

#include "dataplane/core/check.h"
#include "stacks/utcp/seq.h"

#include <string.h>

static uint32_t tables_for(uint32_t conn_max)
{
	uint32_t share = conn_max / GAPS_SHARE + 1,
		 least = conn_max < GAPS_MIN ? conn_max : GAPS_MIN;

	return share > least ? share : least;
}

int gaps_create(struct gaps *gaps, uint32_t conn_max, uint64_t *withdrawn)
{
	gaps->withdrawn = withdrawn;
	list_init(&gaps->used);
	return slab_create(&gaps->tables, tables_for(conn_max), sizeof(struct gaps_table));
}

void gaps_destroy(struct gaps *gaps)
{
	slab_destroy(&gaps->tables);
}

void gaps_drop(struct gaps *gaps, uint32_t *lease)
{
	struct gaps_table *table = gaps_at(gaps, *lease);

	if (!table)
		return;
	list_remove(&table->link);
	slab_release(&gaps->tables, table);
	*lease = SLAB_NONE;
}

/* Leases a free table, as the one added to last. */
static struct gaps_table *lease_table(struct gaps *gaps, uint32_t *lease)
{
	struct gaps_table *table = slab_acquire(&gaps->tables);

	CHECK(table != NULL);
	*table = (struct gaps_table){.lease = lease};
	list_init(&table->link);
	list_push(&gaps->used, &table->link);
	*lease = slab_index(&gaps->tables, table);
	return table;
}

/* Takes the table away that was not added to for longest, if others have asked for it often enough;
 * false if not. */
static bool withdraw_one(struct gaps *gaps)
{
	struct gaps_table *table = list_member(gaps->used.next, struct gaps_table, link);

	if (table->wanted < GAPS_PATIENCE) {
		table->wanted++;
		return false;
	}
	gaps_drop(gaps, table->lease);
	++*gaps->withdrawn;
	return true;
}

static void drop_if_empty(struct gaps *gaps, uint32_t *lease)
{
	if (gaps_at(gaps, *lease)->reassembly.count == 0 && !gaps_owe_report(gaps, *lease))
		gaps_drop(gaps, lease);
}

bool gaps_add(struct gaps *gaps, uint32_t *lease, uint32_t begin, uint32_t end)
{
	struct gaps_table *table = gaps_at(gaps, *lease);

	if (!table) {
		if (gaps->tables.in_use == gaps->tables.count && !withdraw_one(gaps))
			return false;
		table = lease_table(gaps, lease);
	}
	list_push(&gaps->used, &table->link);
	table->wanted = 0;
	return reassembly_add(&table->reassembly, begin, end);
}

uint32_t gaps_take(struct gaps *gaps, uint32_t *lease, uint32_t next)
{
	uint32_t reach = reassembly_take(&gaps_at(gaps, *lease)->reassembly, next);

	drop_if_empty(gaps, lease);
	return reach;
}

void gaps_note_twice(struct gaps *gaps, uint32_t *lease, uint32_t begin, uint32_t end)
{
	struct gaps_table *table = gaps_at(gaps, *lease);
	struct seq_range *twice;

	if (!table) {
		if (gaps->tables.in_use == gaps->tables.count)
			return;
		table = lease_table(gaps, lease);
	}
	twice = &table->twice;
	if (twice->begin == twice->end || twice->end != begin)
		twice->begin = begin;
	twice->end = end;
}

unsigned gaps_report(struct gaps *gaps, uint32_t *lease, struct seq_range *blocks, unsigned room)
{
	struct gaps_table *table = gaps_at(gaps, *lease);
	unsigned count = 0;

	if (room > 0 && gaps_owe_report(gaps, *lease)) {
		blocks[count++] = table->twice;
		table->twice.begin = table->twice.end;
	}
	count += reassembly_latest(&table->reassembly, blocks + count, room - count);
	drop_if_empty(gaps, lease);
	return count;
}

void gaps_check(const struct gaps *gaps, uint32_t holders)
{
	uint32_t count = 0;

	for (const struct list *link = gaps->used.next; link != &gaps->used; link = link->next) {
		const struct gaps_table *table = list_member(link, struct gaps_table, link);

		CHECK(gaps_at(gaps, *table->lease) == table);
		CHECK(table->reassembly.count > 0 || gaps_owe_report(gaps, *table->lease));
		count++;
	}
	CHECK(count == holders && count == gaps->tables.in_use);
}
