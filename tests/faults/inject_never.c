/* A program that makes no call fail, and whose calls go straight to the kernel. */
#include "tests/faults/inject.h"

void inject_arm(const struct inject_fault *fault)
{
}

uint64_t inject_disarm(void)
{
	return 0;
}
