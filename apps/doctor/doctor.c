#include "apps/common/exit.h"
#include "apps/common/flags.h"
#include "apps/common/json.h"
#include "apps/doctor/checks.h"
#include "apps/weir/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned count_state(const struct checks *checks, enum check_state state)
{
	unsigned count = 0;

	for (unsigned i = 0; i < checks->count; i++)
		count += checks->list[i].state == state;
	return count;
}

static void print_checks(const struct checks *checks)
{
	unsigned missing = count_state(checks, CHECK_MISSING);

	for (unsigned i = 0; i < checks->count; i++) {
		const struct check *check = &checks->list[i];

		printf("%-8s %-20s %s\n", check_state_name(check->state), check->name,
		       check->found);
		if (check->mend[0])
			printf("%29s %s\n", "->", check->mend);
	}
	printf("\n%u ok, %u notes, %u missing: this host can%s run experiments/first-look\n",
	       count_state(checks, CHECK_OK), count_state(checks, CHECK_NOTE), missing,
	       missing ? "not" : "");
}

static void print_json(const struct checks *checks)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < checks->count; i++) {
		const struct check *check = &checks->list[i];

		json_array_append_new(list,
				      json_pack("{ss ss so so}", "name", check->name, "state",
						check_state_name(check->state), "found",
						json_text(check->found), "mend",
						json_text(check->mend[0] ? check->mend : NULL)));
	}
	json_print_line(stdout, "",
			json_pack("{ss sb so}", "schema", "weir.doctor/1", "can_run_first_look",
				  count_state(checks, CHECK_MISSING) == 0, "checks", list));
}

int verb_doctor(int argc, char **argv)
{
	bool json = false;
	struct flag table[] = {
		{.name = "json", .kind = &flag_switch, .value = &json, .about = "one line of JSON"},
	};
	struct flags flags = {
		.program = "weir doctor",
		.about = "Says what this host can measure, and how to mend what it cannot.\n"
			 "Exit status: 0; 4 if experiments/first-look cannot run here.",
		.table = table,
		.count = sizeof(table) / sizeof(table[0])};
	static struct checks checks;
	int status;

	if (!flags_accept(&flags, argc, argv, &status))
		return status;
	checks_make(&checks);
	if (json)
		print_json(&checks);
	else
		print_checks(&checks);
	return count_state(&checks, CHECK_MISSING) ? EXIT_USAGE : EXIT_PASS;
}
