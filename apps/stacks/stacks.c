#include "apps/common/exit.h"
#include "apps/common/flags.h"
#include "apps/common/json.h"
#include "apps/common/stack.h"
#include "apps/weir/verbs.h"
#include "stacks/registry.h"

static json_t *stack_to_json(const struct stack *stack)
{
	json_t *object = json_object();

	json_object_set_new(object, "name", json_text(stack->name));
	json_object_set_new(object, "built", json_boolean(stack->ops != NULL));
	json_object_set_new(object, "absent", json_text(stack->absent));
	json_object_set_new(object, "devices", json_text(stack->devices));
	json_object_set_new(object, "about", json_text(stack->about));
	if (stack->ops)
		json_object_set_new(object, "capabilities",
				    stack_capabilities_to_json(stack->ops->capabilities));
	else
		json_set_unknown(object, "capabilities", stack->absent);
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

static void print_stack(const struct stack *stack)
{
	json_t *names;
	json_t *name;
	size_t i;

	printf("%-8s %s\n", stack->name, stack->about);
	if (!stack->ops) {
		printf("         absent: %s\n", stack->absent);
		return;
	}
	names = stack_capabilities_to_json(stack->ops->capabilities);
	printf("         can:");
	json_array_foreach(names, i, name) printf(" %s", json_string_value(name));
	json_decref(names);
	printf("\n");
	if (stack->devices[0])
		printf("         devices: %s\n", stack->devices);
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
