#include "apps/common/stack.h"

#include "tests/support/suite.h"

/* What an instance had counted at one time. */
static struct stack_copy copy_of(uint64_t writes, uint64_t largest, uint64_t frames, uint64_t low)
{
	return (struct stack_copy){
		.counters = {.writes = writes, .largest_write_bytes = largest},
		.details = {{"frames", frames, TP_DETAIL_COUNT}, {"low", low, TP_DETAIL_LEVEL}},
		.detail_count = 2,
	};
}

static void counts_are_subtracted(void)
{
	struct stack_copy first = copy_of(10, 700, 100, 4000), last = copy_of(25, 900, 180, 3900);

	stack_copy_subtract(&last, &first);
	CU_ASSERT_EQUAL(last.counters.writes, 15);
	CU_ASSERT_EQUAL(last.counters.largest_write_bytes, 900);
	CU_ASSERT_EQUAL(last.details[0].value, 80);
}

static void levels_are_not_subtracted(void)
{
	struct stack_copy first = copy_of(0, 0, 0, 4000), last = copy_of(0, 0, 0, 3900);

	stack_copy_subtract(&last, &first);
	CU_ASSERT_EQUAL(last.details[1].value, 3900);
}

static void sums_add_counts_and_take_the_least_level(void)
{
	struct stack_copy one = copy_of(10, 700, 100, 4000), two = copy_of(5, 900, 30, 3900);
	struct stack_copy sum = {0};

	stack_copy_add(&sum, &one);
	CU_ASSERT_EQUAL(sum.details[1].value, 4000);
	stack_copy_add(&sum, &two);
	stack_copy_add(&sum, &one);
	CU_ASSERT_EQUAL(sum.detail_count, 2);
	CU_ASSERT_EQUAL(sum.counters.writes, 25);
	CU_ASSERT_EQUAL(sum.counters.largest_write_bytes, 900);
	CU_ASSERT_EQUAL(sum.details[0].value, 230);
	CU_ASSERT_STRING_EQUAL(sum.details[1].name, "low");
	CU_ASSERT_EQUAL(sum.details[1].value, 3900);
}

/* A connection is agreed on when it begins, which is mostly before anything is measured. */
static void what_tls_agreed_on_is_added_and_not_subtracted(void)
{
	const struct tls_agreed_row row = {"TLSv1.3", "C", "X25519", false, 5};
	struct stack_copy first = copy_of(0, 0, 0, 0), last = copy_of(0, 0, 0, 0), sum = {0};
	json_t *object;

	tls_agreed_add(&first.agreed, &row);
	tls_agreed_add(&last.agreed, &row);
	stack_copy_subtract(&last, &first);
	stack_copy_add(&sum, &last);
	stack_copy_add(&sum, &first);
	sum.agreed.other_conns = 3;
	object = tls_agreed_to_json(&sum.agreed);
	CU_ASSERT_EQUAL(json_object_size(object), 2);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(object, "TLSv1.3 C X25519")), 10);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(object, "other")), 3);
	json_decref(object);
}

static void kinds_are_told_apart_in_json(void)
{
	struct stack_copy copy = copy_of(0, 0, 100, 4000);
	json_t *counts = stack_details_to_json(&copy, TP_DETAIL_COUNT);
	json_t *levels = stack_details_to_json(&copy, TP_DETAIL_LEVEL);

	CU_ASSERT_EQUAL(json_object_size(counts), 1);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(counts, "frames")), 100);
	CU_ASSERT_EQUAL(json_object_size(levels), 1);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(levels, "low")), 4000);
	json_decref(counts);
	json_decref(levels);
}

static void options_are_found_by_name(void)
{
	static const struct tp_option table[] = {{.name = "idle"}, {.name = "sqpoll"}};
	static const struct tp_ops ops = {.options = table, .option_count = 2};
	static const struct stack stack = {.ops = &ops};
	struct stack_options options = {.stack = &stack, .options = {7, 0}};

	CU_ASSERT_EQUAL(stack_option(&options, "idle", 3), 7);
	CU_ASSERT_EQUAL(stack_option(&options, "no-such", 3), 3);
	CU_ASSERT_FALSE(stack_is_submitted_for(&options));
	options.options[1] = 1;
	CU_ASSERT_TRUE(stack_is_submitted_for(&options));
}

static const struct suite_test tests[] = {
	{"an option's value is found by its name", options_are_found_by_name},
	{"of two copies the counts are subtracted and a maximum stays", counts_are_subtracted},
	{"a level passes through a subtraction unchanged", levels_are_not_subtracted},
	{"a sum adds counts and takes the least of levels",
	 sums_add_counts_and_take_the_least_level},
	{"what TLS agreed on is added, and stays through a subtraction",
	 what_tls_agreed_on_is_added_and_not_subtracted},
	{"counts and levels stand in JSON objects of their own", kinds_are_told_apart_in_json},
};

SUITE_MAIN("stack", tests)
