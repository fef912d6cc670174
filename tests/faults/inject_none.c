/* A program without io_uring has no requests to change. */
#include "tests/faults/inject.h"

bool inject_rings_work(void)
{
	return false;
}
