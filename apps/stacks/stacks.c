#include "apps/common/exit.h"
#include "apps/common/flags.h"
#include "apps/common/json.h"
#include "apps/common/stack.h"
#include "apps/weir/verbs.h"
#include "stacks/registry.h"

/* {OPTION: {"initial": "on", "accepted": "off or on", "about": "..."}, ...} */
static json_t *options_to_json(const struct tp_ops *ops)
{
	char initial[TP_OPTION_TEXT], accepted[128];
	json_t *object = json_object();

	for (unsigned i = 0; i < ops->option_count; i++) {
		const struct tp_option *option = &ops->options[i];

		tp_option_print(option, option->initial, initial);
		tp_option_accepted(option, accepted);
		json_object_set_new(object, option->name,
				    json_pack("{ss ss ss}", "initial", initial, "accepted",
					      accepted, "about", option->about));
	}
	return object;
}

/* ["IPv4", ...]: what endpoints may be. */
static json_t *families_to_json(uint32_t families)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < TP_FAMILY_COUNT; i++)
		if (families >> i & 1)
			json_array_append_new(array, json_text(tp_family_name(i)));
	return array;
}

static json_t *stack_to_json(const struct stack *stack)
{
	json_t *object = json_object();
	struct tp_error error;

	json_object_set_new(object, "name", json_text(stack->name));
	json_object_set_new(object, "built", json_boolean(stack->ops != NULL));
	json_object_set_new(object, "absent", json_text(stack->absent));
	json_object_set_new(object, "devices", json_text(stack->devices));
	json_object_set_new(object, "about", json_text(stack->about));
	json_object_set_new(object, "wait_default", json_text(stack->spins ? "spin" : "block"));
	if (stack->ops) {
		bool usable = stack_check_host(stack, &error) == 0;

		json_object_set_new(object, "unusable", json_text(usable ? NULL : error.text));
		json_object_set_new(object, "features", stack_features_to_json(stack->ops));
		json_object_set_new(object, "options", options_to_json(stack->ops));
		json_object_set_new(object, "families", families_to_json(stack->ops->families));
		json_object_set_new(object, "capabilities",
				    stack_capabilities_to_json(stack->ops->capabilities));
	} else {
		json_set_unknown(object, "capabilities", stack->absent);
	}
	return object;
}

static void print_json(const struct stack *stacks, unsigned count)
{
	json_t *object = json_object(), *list = json_array();

	for (unsigned i = 0; i < count; i++)
		json_array_append_new(list, stack_to_json(&stacks[i]));
	json_object_set_new(object, "schema", json_text("weir.stacks/1"));
	json_object_set_new(object, "stacks", list);
	json_print_line(stdout, "", object);
}

/* What this host lacks of what the stack makes use of. */
static void print_features(const struct tp_ops *ops)
{
	struct tp_feature features[TP_FEATURES_MAX];
	struct tp_error error;
	int count = ops->probe ? ops->probe(features, TP_FEATURES_MAX, &error) : 0;

	if (count < 0)
		printf("         cannot work on this host: %s\n", error.text);
	if (count <= 0)
		return;
	printf("         this host has:");
	for (int i = 0; i < count; i++)
		if (features[i].present)
			printf(" %s", features[i].name);
	printf("\n");
	for (int i = 0; i < count; i++)
		if (!features[i].present)
			printf("         this host lacks %s: %s\n", features[i].name,
			       features[i].absent);
}

static void print_options(const struct tp_ops *ops)
{
	char initial[TP_OPTION_TEXT], accepted[128];

	for (unsigned i = 0; i < ops->option_count; i++) {
		const struct tp_option *option = &ops->options[i];

		printf("         option %s=%s: %s (%s)\n", option->name,
		       tp_option_print(option, option->initial, initial), option->about,
		       tp_option_accepted(option, accepted));
	}
}

/* Words behind a label; the reference is taken. */
static void print_words(const char *label, json_t *words, const char *separator)
{
	json_t *word;
	size_t i;

	printf("         %s:", label);
	json_array_foreach(words, i, word)
	{
		printf("%s %s", i ? separator : "", json_string_value(word));
	}
	printf("\n");
	json_decref(words);
}

static void print_stack(const struct stack *stack)
{
	printf("%-8s %s\n", stack->name, stack->about);
	if (!stack->ops) {
		printf("         absent: %s\n", stack->absent);
		return;
	}
	print_words("can", stack_capabilities_to_json(stack->ops->capabilities), "");
	print_words("endpoints", families_to_json(stack->ops->families), ",");
	printf("         waits by %s unless told otherwise\n",
	       stack->spins ? "spinning" : "blocking");
	if (stack->devices[0])
		printf("         devices: %s\n", stack->devices);
	print_features(stack->ops);
	print_options(stack->ops);
}

int verb_stacks(int argc, char **argv)
{
	bool as_json = false;
	struct flag table[] = {
		{.name = "json",
		 .kind = &flag_switch,
		 .value = &as_json,
		 .about = "as one line of JSON"},
	};
	struct flags flags = {
		.program = "weir stacks",
		.about = "Lists every stack, its capabilities and devices, or why it is absent.",
		.table = table,
		.count = 1};
	const struct stack *stacks;
	unsigned count;
	int status;

	if (!flags_accept(&flags, argc, argv, &status))
		return status;
	stacks = stack_list(&count);
	if (as_json)
		print_json(stacks, count);
	for (unsigned i = 0; i < count && !as_json; i++)
		print_stack(&stacks[i]);
	return EXIT_PASS;
}
