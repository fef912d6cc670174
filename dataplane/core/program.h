/*
 * program: the name of another process, for messages that say who stands in the way.
 *
 * Plane: setup.
 */
#ifndef WEIR_CORE_PROGRAM_H
#define WEIR_CORE_PROGRAM_H

#include <sys/types.h>

/* A name as the kernel keeps it, and its end. */
enum { PROGRAM_NAME = 32 };

/* Writes the program of a process, "?" if that cannot be read, to `name`, which it returns. */
const char *program_name(pid_t pid, char name[PROGRAM_NAME]);

#endif
