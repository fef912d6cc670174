/*
 * descriptor: finding a file descriptor that a driver keeps to itself.
 *
 * Some drivers sleep best on a socket that they made and do not hand out. It is among this
 * process's descriptors, all of which are looked at, whatever their number.
 *
 * Plane: setup. Reads /proc/self/fd.
 */
#ifndef WEIR_DPDK_DESCRIPTOR_H
#define WEIR_DPDK_DESCRIPTOR_H

#include <stdbool.h>

/* Whether a descriptor is the `wanted` one, as its caller says what that means. */
typedef bool descriptor_match(int fd, const void *wanted);

/*
 * How many descriptors match; the least of them in `fd_out`, -1 if there is none. None is found
 * where /proc is not there.
 */
unsigned descriptor_find(descriptor_match *match, const void *wanted, int *fd_out);

#endif
