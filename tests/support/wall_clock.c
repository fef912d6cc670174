/*
 * wall_clock: a wall clock that somebody sets, for a program that it is preloaded into.
 *
 * As soon as the file that WEIR_TEST_WALL_CLOCK names is there, CLOCK_REALTIME is an hour ahead. No
 * clock of the host is touched.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *time_out)
{
	const char *path = getenv("WEIR_TEST_WALL_CLOCK");
	int code = (int)syscall(SYS_clock_gettime, id, time_out);

	if (code == 0 && id == CLOCK_REALTIME && path && access(path, F_OK) == 0)
		time_out->tv_sec += 3600;
	return code;
}
