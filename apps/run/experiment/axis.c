#include "apps/run/experiment/axis.h"

#include <string.h>

const char *axis_key(const struct axis *axis)
{
	static const char *const keys[] = {
		[AXIS_FACTOR] = NULL,
		[AXIS_SCENARIOS] = "scenario",
		[AXIS_VARIANTS] = "variant",
	};

	return keys[axis->kind];
}

const struct axis_level *axis_find(const struct axis *axis, const char *name)
{
	for (unsigned i = 0; i < axis->count; i++)
		if (axis->levels[i].name && strcmp(axis->levels[i].name, name) == 0)
			return &axis->levels[i];
	return NULL;
}

bool axis_varies(const struct axis *axis, enum setting_id id)
{
	for (unsigned i = 0; i < axis->count; i++)
		if (axis->levels[i].mask & 1u << id)
			return true;
	return false;
}

bool axis_has(const struct axis *axis, enum setting_id id, struct setting_value value,
	      struct setting_value otherwise)
{
	for (unsigned i = 0; i < axis->count; i++) {
		const struct axis_level *level = &axis->levels[i];
		bool sets = level->mask & 1u << id;

		if (setting_equal(id, sets ? level->cell.of[id] : otherwise, value))
			return true;
	}
	return false;
}

void axis_apply(const struct axis_level *level, struct cell *cell)
{
	for (unsigned id = 0; id < SETTING_COUNT; id++)
		if (level->mask & 1u << id)
			cell->of[id] = level->cell.of[id];
}
