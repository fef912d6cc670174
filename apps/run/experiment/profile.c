#include "apps/run/experiment/profile.h"

#include "apps/run/plan/workers.h"
#include "dataplane/core/clock.h"

#include <stdio.h>
#include <string.h>

enum { ALL = 0 };

struct profile {
	const char *name;
	const char *other_name;
	uint32_t connections, depth;
	uint32_t request_bytes, response_bytes;
	uint32_t workers; /* of each side; or ALL that it has */
	bool across_nodes;
	bool capacity; /* workers and response_bytes are the matrix's */
};

static const struct profile profiles[] = {
	{"min-rtt", NULL, 1, 1, 64, 64, 1, false, false},
	{"pooled", NULL, 32, 1, 256, 64, ALL, false, false},
	{"pool-saturation", NULL, 256, 1, 256, 64, ALL, true, false},
	{"pipelined-throughput", "throughput", 256, 8, 256, 64, ALL, true, false},
	{"capacity", NULL, 50, 1, 0, 0, ALL, true, true},
};

enum { PROFILE_COUNT = sizeof(profiles) / sizeof(profiles[0]) };

const struct profile_matrix profile_matrix_default = {
	.worker_counts = {1, 2, 4, 8, 16, 32, 36},
	.worker_count_count = 7,
	.response_kib = {0, 1, 10, 100},
	.response_kib_count = 4,
};

const struct profile_form profile_full = {"15s", "30s", 15 * CLOCK_SECOND_NS, 30 * CLOCK_SECOND_NS,
					  3};
const struct profile_form profile_short = {"1s", "2s", CLOCK_SECOND_NS, 2 * CLOCK_SECOND_NS, 3};

const struct profile *profile_find(const char *name)
{
	for (unsigned i = 0; i < PROFILE_COUNT; i++) {
		const char *other = profiles[i].other_name;

		if (strcmp(profiles[i].name, name) == 0 || (other && strcmp(other, name) == 0))
			return &profiles[i];
	}
	return NULL;
}

const char *const *profile_names(unsigned *count_out)
{
	static const char *names[2 * PROFILE_COUNT + 1];
	unsigned count = 0;

	for (unsigned i = 0; i < PROFILE_COUNT; i++) {
		names[count++] = profiles[i].name;
		if (profiles[i].other_name)
			names[count++] = profiles[i].other_name;
	}
	names[count++] = "all";
	*count_out = count;
	return names;
}

const char *profile_usage(void)
{
	static char text[160];
	unsigned count;
	const char *const *names = profile_names(&count);
	size_t used = 0;

	for (unsigned i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
					 i == 0		 ? ""
					 : i + 1 < count ? ", "
							 : " or ",
					 names[i]);
	return text;
}

const struct profile *profile_at(unsigned index)
{
	return index < PROFILE_COUNT ? &profiles[index] : NULL;
}

static void set_number(struct axis_level *level, enum setting_id id, uint32_t number)
{
	level->mask |= 1u << id;
	level->cell.of[id] = (struct setting_value){.number = number};
}

static void set_word(struct axis_level *level, enum setting_id id, const char *word)
{
	level->mask |= 1u << id;
	level->cell.of[id] = (struct setting_value){.word = word};
}

static void set_workers(struct axis_level *level, enum setting_id id, uint32_t workers)
{
	if (workers == ALL)
		set_word(level, id, "all");
	else
		set_number(level, id, workers);
}

/* The client of a matrix has all its CPUs, however few workers the server has. */
static bool add_level(const struct profile *profile, uint32_t workers, uint32_t response_bytes,
		      const char *name, struct axis *axis, json_t *names)
{
	struct axis_level *level = &axis->levels[axis->count];
	json_t *kept;

	if (axis->count == AXIS_LEVELS_MAX)
		return false;
	kept = json_string(name);
	if (json_array_append_new(names, kept) < 0)
		return false;
	axis->count++;
	*level = (struct axis_level){.name = json_string_value(kept), .of_profile = true};
	level->of_matrix = profile->capacity;
	set_number(level, SETTING_CONNECTIONS, profile->connections);
	set_number(level, SETTING_DEPTH, profile->depth);
	set_number(level, SETTING_REQUEST_BYTES, profile->request_bytes);
	set_number(level, SETTING_RESPONSE_BYTES, response_bytes);
	set_workers(level, SETTING_WORKERS, workers);
	set_workers(level, SETTING_CLIENT_WORKERS, profile->workers);
	set_word(level, SETTING_HANDLER, "respond");
	set_word(level, SETTING_PLACEMENT, profile->across_nodes ? "across-nodes" : "same-node");
	return true;
}

bool profile_add(const struct profile *profile, const struct profile_matrix *matrix,
		 struct axis *axis, json_t *names)
{
	char name[AXIS_NAME_BYTES];

	if (!profile->capacity)
		return add_level(profile, profile->workers, profile->response_bytes, profile->name,
				 axis, names);
	for (unsigned w = 0; w < matrix->worker_count_count; w++) {
		for (unsigned r = 0; r < matrix->response_kib_count; r++) {
			uint32_t workers = matrix->worker_counts[w], kib = matrix->response_kib[r];

			snprintf(name, sizeof(name), "capacity-%ucpu-%ukb", workers, kib);
			if (!add_level(profile, workers, kib * 1024, name, axis, names))
				return false;
		}
	}
	return true;
}

/* False, with the reason, if the server cannot have as many workers. */
static bool settle_workers(uint32_t workers, unsigned most, const struct link *link,
			   struct tp_error *lack)
{
	if (workers > most)
		tp_fail(lack, 0,
			"omitted: %u workers are more than the %u CPU%s that a server may have "
			"here",
			workers, most, most == 1 ? "" : "s");
	else if (link->workers_max && workers > link->workers_max)
		tp_fail(lack, 0, "omitted: %s has at most %u worker%s in a process", link->name,
			link->workers_max, link->workers_max == 1 ? "" : "s");
	else
		return true;
	return false;
}

bool profile_settle(struct cell *cell, const struct topology *topology, const struct link *link,
		    struct tp_error *lack)
{
	struct setting_value *of = cell->of;
	bool across = setting_says(of[SETTING_PLACEMENT], "across-nodes");

	lack->text[0] = '\0';
	if (across && topology->nodes < 2) {
		of[SETTING_PLACEMENT].word = "same-node";
		across = false;
		tp_fail(lack, 0, "server and client share the one NUMA node that there is");
	}
	if (of[SETTING_WORKERS].word)
		return true;
	return settle_workers(of[SETTING_WORKERS].number, workers_server_most(topology, across),
			      link, lack);
}
