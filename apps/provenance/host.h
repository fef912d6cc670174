/*
 * host: what this host is and how busy it is, for host.json.
 *
 * Taken before the first sample and after the last, so that a result says on what, and beside what,
 * it was measured.
 *
 * Plane: report.
 */
#ifndef WEIR_APPS_HOST_H
#define WEIR_APPS_HOST_H

#include <jansson.h>
#include <stdbool.h>

/* host.json; a new reference. What cannot be known is null with its reason. */
json_t *host_facts(void);

enum host_turbo { HOST_TURBO_UNKNOWN, HOST_TURBO_OFF, HOST_TURBO_ON };

/* Whether the clock may rise above its nominal rate for a while. */
enum host_turbo host_turbo(void);

/* Whether the processor says that a hypervisor is beneath it. */
bool host_is_virtual(void);

#endif
