#include "apps/run/plan/grid.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

unsigned grid_size(const struct experiment *experiment)
{
	unsigned size = 1;

	for (unsigned i = 0; i < experiment->axis_count; i++)
		if ((size *= experiment->axes[i].count) > GRID_MAX)
			return GRID_MAX + 1;
	return size;
}

void grid_at(const struct experiment *experiment, unsigned index, struct grid_cell *cell_out)
{
	*cell_out = (struct grid_cell){.cell = experiment->fixed};
	for (unsigned i = experiment->axis_count; i-- > 0;) {
		const struct axis *axis = &experiment->axes[i];
		const struct axis_level *level = &axis->levels[index % axis->count];

		index /= axis->count;
		axis_apply(level, &cell_out->cell);
		cell_out->levels[i] = level;
		cell_out->build += level->build;
		cell_out->of_profile |= level->of_profile;
		cell_out->of_matrix |= level->of_matrix;
		if (axis->kind == AXIS_SCENARIOS)
			cell_out->scenario = level->name;
		else if (axis->kind == AXIS_VARIANTS)
			cell_out->variant = level->name;
	}
}

/* Whether a level is that which is wanted; any will do for NULL. */
static bool is_level(const char *name, const char *wanted)
{
	return !wanted || (name && strcmp(name, wanted) == 0);
}

static bool matches(const struct exclude *exclude, const struct grid_cell *cell)
{
	for (unsigned id = 0; id < SETTING_COUNT; id++)
		if (exclude->mask & 1u << id &&
		    !setting_equal(id, cell->cell.of[id], exclude->cell.of[id]))
			return false;
	return is_level(cell->scenario, exclude->scenario) &&
	       is_level(cell->variant, exclude->variant);
}

bool grid_is_excluded(const struct experiment *experiment, const struct grid_cell *cell)
{
	for (unsigned i = 0; i < experiment->exclude_count; i++)
		if (matches(&experiment->excludes[i], cell))
			return true;
	return false;
}

/* False if it is cut. */
static bool label_level(const struct axis *axis, const struct axis_level *level,
			const struct cell *cell, char label[SETTING_TEXT_BYTES])
{
	if (axis->kind == AXIS_FACTOR)
		return setting_label(axis->setting, cell->of[axis->setting], label);
	return snprintf(label, SETTING_TEXT_BYTES, "%s", level->name) < SETTING_TEXT_BYTES;
}

int grid_name(const struct experiment *experiment, const struct grid_cell *cell,
	      char name[SETTING_TEXT_BYTES], struct tp_error *error)
{
	char label[SETTING_TEXT_BYTES];
	bool fits = setting_label(SETTING_STACK, cell->cell.of[SETTING_STACK], name);
	size_t used = 0;

	for (unsigned i = 0; i < experiment->axis_count && used < SETTING_TEXT_BYTES; i++) {
		fits &= label_level(&experiment->axes[i], cell->levels[i], &cell->cell, label);
		used += (size_t)snprintf(name + used, SETTING_TEXT_BYTES - used, "%s%s",
					 i ? "." : "", label);
	}
	if (fits && used < SETTING_TEXT_BYTES)
		return 0;
	return tp_fail(error, -EINVAL,
		       "a cell's name is longer than %d characters; vary less at once, or have "
		       "fewer options in a stack",
		       SETTING_TEXT_BYTES - 1);
}
