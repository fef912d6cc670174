/*
 * kernel: this host's TCP as what scripts are played against, over a TAP in a namespace of its own.
 *
 * The player is the peer at the TAP; the application uses the kernel's sockets. Time is real, and
 * of what the kernel does by itself only that is set which would blur the comparison: kernel.c has
 * the settings. One player at a time.
 *
 * Plane: tests.
 */
#ifndef WEIR_TESTS_SIM_KERNEL_H
#define WEIR_TESTS_SIM_KERNEL_H

#include "tests/sim/player.h"

#include <stddef.h>

/* Makes namespace and device. False if this host does not let us, with the reason in `why`. */
bool kernel_open(char *why, size_t room);

/* The name and the value of a setting of the namespace; NULL behind the last. */
const char *kernel_setting(unsigned index, const char **value_out);

extern const struct player_tcp player_kernel;

#endif
