#include "dataplane/core/list.h"
#include "tests/support/suite.h"

struct item {
	int value;
	struct list link;
};

static void order_is_kept(void)
{
	struct item items[4];
	struct list list;

	list_init(&list);
	CU_ASSERT_TRUE(list_empty(&list));
	for (int i = 0; i < 4; i++) {
		items[i].value = i;
		list_init(&items[i].link);
		CU_ASSERT_FALSE(list_linked(&items[i].link));
		list_push(&list, &items[i].link);
		CU_ASSERT_TRUE(list_linked(&items[i].link));
	}
	list_push(&list, &items[1].link); /* moves to the end */
	list_remove(&items[2].link);
	list_remove(&items[2].link); /* harmless */
	CU_ASSERT_EQUAL(list_member(list_pop(&list), struct item, link)->value, 0);
	CU_ASSERT_EQUAL(list_member(list_pop(&list), struct item, link)->value, 3);
	CU_ASSERT_EQUAL(list_member(list_pop(&list), struct item, link)->value, 1);
	CU_ASSERT_PTR_NULL(list_pop(&list));
}

static void splice_moves_all(void)
{
	struct list from, to, links[3];

	list_init(&from);
	list_init(&to);
	for (int i = 0; i < 3; i++)
		list_init(&links[i]);
	list_push(&to, &links[0]);
	list_push(&from, &links[1]);
	list_push(&from, &links[2]);
	list_splice(&to, &from);
	CU_ASSERT_TRUE(list_empty(&from));
	for (int i = 0; i < 3; i++)
		CU_ASSERT_PTR_EQUAL(list_pop(&to), &links[i]);
	list_splice(&to, &from);
	CU_ASSERT_TRUE(list_empty(&to));
}

static const struct suite_test tests[] = {
	{"members come out in the order they went in, wherever removed or moved", order_is_kept},
	{"splicing moves all members to the end", splice_moves_all},
};

SUITE_MAIN("list", tests)
