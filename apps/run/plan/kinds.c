#include "apps/run/plan/kinds.h"

#include "apps/run/plan/fit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cells that are named of each kind; the others are counted. */
enum { NAMED_MAX = 4 };

static bool is_alike(const struct plan *plan, const struct topology *topology)
{
	for (unsigned i = 1; i < plan->cell_count; i++)
		if (pins_kinds(topology, &plan->cells[i].pins) !=
		    pins_kinds(topology, &plan->cells[0].pins))
			return false;
	return true;
}

/* Whether all cells have room on this kind; then they are there. */
static bool move_all(struct plan *plan, const struct plan_ground *ground, int kind, bool even)
{
	size_t bytes = plan->cell_count * sizeof(*plan->cells);
	struct plan_cell *cells = malloc(bytes);
	bool moved = cells != NULL;

	if (cells)
		memcpy(cells, plan->cells, bytes);
	for (unsigned i = 0; moved && i < plan->cell_count; i++)
		moved = fit_kind(&cells[i], ground, kind, even);
	if (moved)
		memcpy(plan->cells, cells, bytes);
	free(cells);
	return moved;
}

/* A client that has what is left has its half on a slower kind rather than less on a faster. */
static bool find_kind(struct plan *plan, const struct plan_ground *ground)
{
	for (unsigned way = 0; way < 2; way++)
		for (int kind = pins_next_kind(ground->topology, -1); kind >= 0;
		     kind = pins_next_kind(ground->topology, kind))
			if (move_all(plan, ground, kind, way == 0))
				return true;
	return false;
}

static void append(char text[PLAN_DEGRADED_BYTES], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void append(char text[PLAN_DEGRADED_BYTES], const char *format, ...)
{
	size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, PLAN_DEGRADED_BYTES - used, format, arguments);
	va_end(arguments);
}

/* "w2, w4": the cells from `first` on whose kinds are those of `first`. */
static void append_alike(struct plan *plan, const struct topology *topology, unsigned first)
{
	uint64_t kinds = pins_kinds(topology, &plan->cells[first].pins);
	unsigned count = 0;

	for (unsigned i = first; i < plan->cell_count; i++) {
		if (pins_kinds(topology, &plan->cells[i].pins) != kinds)
			continue;
		if (count++ < NAMED_MAX)
			append(plan->degraded_text, "%s%.40s", count > 1 ? ", " : "",
			       plan->cells[i].variant);
	}
	if (count > NAMED_MAX)
		append(plan->degraded_text, " and %u more", count - NAMED_MAX);
}

/* Begins another reason for which the plan is degraded, behind those that there are. */
static void begin_reason(struct plan *plan)
{
	if (plan->degraded != plan->degraded_text)
		append(plan->degraded_text, "%s", plan->degraded ? plan->degraded : "");
	append(plan->degraded_text, "%s", plan->degraded ? "; " : "");
	plan->degraded = plan->degraded_text;
}

/* "...; cells are on different kinds of cores: w1 | w2, w4" */
static void say_kinds(struct plan *plan, const struct topology *topology)
{
	begin_reason(plan);
	append(plan->degraded_text, "cells are on different kinds of cores: ");
	for (unsigned i = 0; i < plan->cell_count; i++) {
		uint64_t kinds = pins_kinds(topology, &plan->cells[i].pins);
		unsigned first = 0;

		while (pins_kinds(topology, &plan->cells[first].pins) != kinds)
			first++;
		if (first != i)
			continue;
		append(plan->degraded_text, "%s", i > 0 ? " | " : "");
		append_alike(plan, topology, i);
	}
}

/* How an upstream's CPUs fall short, of the last cell whose do. */
static void say_upstream(struct plan *plan)
{
	const char *degraded = NULL;

	for (unsigned i = 0; i < plan->cell_count; i++)
		if (plan->cells[i].pins.upstream_degraded)
			degraded = plan->cells[i].pins.upstream_degraded;
	if (!degraded)
		return;
	begin_reason(plan);
	append(plan->degraded_text, "%s", degraded);
}

void kinds_settle(struct plan *plan, const struct plan_ground *ground)
{
	bool alike = ground->hosts || is_alike(plan, ground->topology) || find_kind(plan, ground);

	for (unsigned i = 0; i < plan->cell_count; i++)
		if (plan->cells[i].pins.degraded)
			plan->degraded = plan->cells[i].pins.degraded;
	say_upstream(plan);
	if (!alike)
		say_kinds(plan, ground->topology);
}
