#include "dataplane/core/slab.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

static void exhaustion_is_an_answer(void)
{
	struct slab slab;
	void *objects[5];

	CU_ASSERT_EQUAL_FATAL(slab_create(&slab, 5, 100), 0);
	for (unsigned i = 0; i < 5; i++) {
		objects[i] = slab_acquire(&slab);
		CU_ASSERT_PTR_NOT_NULL_FATAL(objects[i]);
		memset(objects[i], (int)i, 100);
	}
	CU_ASSERT_PTR_NULL(slab_acquire(&slab));
	CU_ASSERT_EQUAL(slab.exhausted, 1);
	for (unsigned i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(((uint8_t *)objects[i])[99], i);
		CU_ASSERT_EQUAL(slab_index(&slab, objects[i]), i);
		CU_ASSERT_PTR_EQUAL(slab_at(&slab, i), objects[i]);
		CU_ASSERT_EQUAL((uintptr_t)objects[i] % 64, 0);
	}
	for (unsigned i = 0; i < 5; i++)
		slab_release(&slab, objects[i]);
	CU_ASSERT_EQUAL(slab.in_use, 0);
	slab_destroy(&slab);
}

static void last_released_is_first_reused(void)
{
	struct slab slab;
	void *first, *second;

	CU_ASSERT_EQUAL_FATAL(slab_create(&slab, 3, 1), 0);
	first = slab_acquire(&slab);
	second = slab_acquire(&slab);
	slab_release(&slab, first);
	slab_release(&slab, second);
	CU_ASSERT_PTR_EQUAL(slab_acquire(&slab), second);
	CU_ASSERT_PTR_EQUAL(slab_acquire(&slab), first);
	slab_release(&slab, first);
	slab_release(&slab, second);
	slab_destroy(&slab);
}

static void impossible_sizes_are_refused(void)
{
	struct slab slab = {0};

	CU_ASSERT_EQUAL(slab_create(&slab, 0, 8), -EINVAL);
	CU_ASSERT_EQUAL(slab_create(&slab, 8, 0), -EINVAL);
	CU_ASSERT_EQUAL(slab_create(&slab, SLAB_NONE, 8), -EINVAL);
	CU_ASSERT_EQUAL(slab_create(&slab, 1u << 31, SIZE_MAX / 4), -EINVAL);
	CU_ASSERT_PTR_NULL(slab.objects);
	slab_destroy(&slab);
}

static const struct suite_test tests[] = {
	{"an empty slab answers NULL and counts it; objects are apart and aligned",
	 exhaustion_is_an_answer},
	{"the object released last is handed out first", last_released_is_first_reused},
	{"sizes that cannot be are refused", impossible_sizes_are_refused},
};

SUITE_MAIN("slab", tests)
