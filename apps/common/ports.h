/*
 * ports: how many connections one address of this host can have to one server.
 *
 * Each takes a local port of its own from the kernel's range, less those that are reserved.
 *
 * Plane: setup.
 */
#ifndef WEIR_APPS_PORTS_H
#define WEIR_APPS_PORTS_H

#include "dataplane/transport/transport.h"

#include <stdint.h>

/* Where the kernel keeps them, of the network namespace of whoever reads. */
extern const char ports_range_path[];
extern const char ports_reserved_path[];

/* What a new network namespace has. */
enum { PORTS_OF_NAMESPACE = 60999 - 32768 + 1 };

/* How many the two files leave; UINT32_MAX if the range cannot be read. */
uint32_t ports_count(const char *range_path, const char *reserved_path);

/*
 * 0 if so many connections find a port, of this host's or of a new namespace's range; else
 * -EADDRNOTAVAIL with `error` naming both numbers and the way out.
 */
int ports_judge(uint64_t connections, bool new_namespace, struct tp_error *error);

#endif
