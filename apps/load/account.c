#include "apps/common/json.h"
#include "apps/common/process.h"
#include "apps/load/load.h"
#include "dataplane/core/clock.h"

#include <stdlib.h>
#include <string.h>

static const char no_window[] = "the measured window was not gone through";

json_t *load_account(const struct load_options *options)
{
	json_t *object = json_object();

	json_object_set_new(object, "now_ns", json_count(clock_now_ns()));
	json_object_set_new(object, "process", process_to_json());
	process_add_cpus(object, &options->stack.cpus);
	return object;
}

static bool is_level(const char *name)
{
	return strncmp(name, "rss_", 4) == 0 || strcmp(name, "cpus") == 0;
}

static const json_t *reason_of(const json_t *from, const char *name)
{
	char key[96];

	snprintf(key, sizeof(key), "%s_reason", name);
	return json_object_get(from, key);
}

static void set_grown(json_t *to, const char *name, const json_t *first, const json_t *last,
		      const json_t *reason)
{
	if (json_is_integer(last) && is_level(name))
		json_object_set(to, name, (json_t *)last);
	else if (json_is_integer(first) && json_is_integer(last))
		json_object_set_new(
			to, name,
			json_integer(json_integer_value(last) - json_integer_value(first)));
	else
		json_set_unknown(to, name,
				 json_is_string(reason) ? json_string_value(reason)
							: "not known at both ends of the window");
}

/* What a section of two accounts grew by; what is no count stands as the later has it. */
static json_t *grown(const json_t *before, const json_t *after, const char *section)
{
	const json_t *first = json_object_get(before, section);
	const json_t *last = json_object_get(after, section);
	json_t *object = json_object();
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)last, name, value)
	{
		if (!json_is_string(value))
			set_grown(object, name, json_object_get(first, name), value,
				  reason_of(last, name));
	}
	return object;
}

static json_t *process_of(const struct load_result *result)
{
	const json_t *first = json_object_get(result->before, "process");
	json_t *process = grown(result->before, result->after, "process");
	json_t *start = json_object_get(first, "rss_kib"),
	       *end = json_object_get(process, "rss_kib");
	double window_ns = json_number_value(json_object_get(result->after, "now_ns")) -
			   json_number_value(json_object_get(result->before, "now_ns"));

	json_object_set_new(process, "window_s", json_number(window_ns / 1e9));
	json_object_set(process, "rss_start_kib", start);
	json_object_set(process, "rss_end_kib", end);
	json_object_del(process, "rss_kib");
	return process;
}

void load_add_accounts(json_t *object, const struct load_options *options,
		       const struct load_result *result)
{
	json_object_set_new(object, "cpus", cpus_to_numbers(&options->stack.cpus));
	if (!result->before || !result->after) {
		json_set_unknown(object, "process", no_window);
		json_set_unknown(object, "cpu", no_window);
		json_set_unknown(object, "host", no_window);
		json_set_unknown(object, "binding", no_window);
		return;
	}
	json_object_set_new(object, "process", process_of(result));
	json_object_set_new(object, "cpu", grown(result->before, result->after, "cpu"));
	json_object_set_new(object, "host", grown(result->before, result->after, "host"));
	json_object_set(object, "binding", result->binding);
}

void load_result_fini(struct load_result *result)
{
	free(result->measured);
	json_decref(result->before);
	json_decref(result->after);
	json_decref(result->binding);
}
