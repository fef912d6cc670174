#include "apps/ceiling/compose.h"

#include "apps/run/experiment/experiment.h"
#include "apps/run/experiment/link.h"
#include "dataplane/core/units.h"
#include "stacks/registry.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int add_number(const char *text, size_t bytes, uint32_t max, struct compose_numbers *numbers)
{
	uint64_t number;
	char digits[16];

	if (bytes >= sizeof(digits) || numbers->count == COMPOSE_NUMBERS_MAX)
		return -EINVAL;
	snprintf(digits, sizeof(digits), "%.*s", (int)bytes, text);
	if (units_parse_count(digits, max, &number) < 0 || number == 0)
		return -EINVAL;
	for (unsigned i = 0; i < numbers->count; i++)
		if (numbers->number[i] == number)
			return -EINVAL;
	numbers->number[numbers->count++] = (uint32_t)number;
	return 0;
}

int compose_parse_numbers(const char *text, uint32_t max, struct compose_numbers *numbers_out)
{
	struct compose_numbers numbers = {0};
	size_t bytes;

	for (;; text += bytes + 1) {
		bytes = strcspn(text, ",");
		if (add_number(text, bytes, max, &numbers) < 0)
			return -EINVAL;
		if (!text[bytes])
			break;
	}
	*numbers_out = numbers;
	return 0;
}

int compose_check_link(const char *spec, struct tp_error *error)
{
	if (link_find(spec))
		return 0;
	return tp_fail(error, -EINVAL, "'%s' is no stack of an experiment; accepted: %s", spec,
		       link_usage());
}

int compose_check_stack(const char *spec, struct tp_error *error)
{
	struct stack_choice choice;
	char names[128];
	int code = stack_find(spec, &choice, error);

	if (code < 0)
		return code;
	if (!choice.stack->bare)
		return tp_fail(error, -EINVAL,
			       "the stack '%s' has no bare echo; these have one: %s",
			       choice.stack->name, stack_bare_names(names, sizeof(names)));
	code = compose_check_link(spec, error);
	return code < 0 ? code : stack_check_host(choice.stack, error);
}

static json_t *numbers_to_json(const struct compose_numbers *numbers)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < numbers->count; i++)
		json_array_append_new(array, json_integer(numbers->number[i]));
	return array;
}

static json_t *stacks_to_json(const struct compose *compose)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < compose->stack_count; i++)
		json_array_append_new(array, json_string(compose->stacks[i]));
	return array;
}

static json_t *fixed_to_json(const struct compose *compose)
{
	json_t *fixed = json_pack("{ss ss si si}", "delivery", "coalesce", "wait", compose->wait,
				  "request_bytes", (int)compose->request_bytes, "response_bytes",
				  (int)compose->response_bytes);

	if (compose->client_stack)
		json_object_set_new(fixed, "client_stack", json_string(compose->client_stack));
	return fixed;
}

char *compose_text(const struct compose *compose)
{
	json_t *factors = json_pack("{so so so s[bb]}", "stack", stacks_to_json(compose),
				    "connections", numbers_to_json(&compose->connections), "depth",
				    numbers_to_json(&compose->depths), "bare", 0, 1);
	json_t *json = json_pack(
		"{ss ss ss so so si ss ss ss}", "schema", EXPERIMENT_SCHEMA, "name", "ceiling",
		"question", "What share of its stack's bare echo does the pipeline reach?", "fixed",
		fixed_to_json(compose), "factors", factors, "runs", (int)compose->runs, "order",
		"abba", "warmup", compose->warmup, "duration", compose->duration);
	char *text = json_dumps(json, JSON_INDENT(1));

	json_decref(json);
	return text;
}
