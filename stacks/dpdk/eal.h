/*
 * eal: DPDK's environment, once a process.
 *
 * The thread that starts it becomes its only lcore and the only one that may open instances:
 * mempool caches, rings and the gate all rely on that. The EAL cannot be started twice, so what the
 * first open chose (hugepages or not) holds until the process ends. Nothing of it is shared with
 * other processes: no files, no telemetry, no PCI.
 *
 * Plane: setup.
 */
#ifndef WEIR_DPDK_EAL_H
#define WEIR_DPDK_EAL_H

#include "dataplane/transport/transport.h"

#include <stdbool.h>

/*
 * Starts the EAL on the calling thread, bound to `cpu` (-1: where it may run already); harmless if
 * it runs. 0; -ENOMEM when hugepages are wanted and too few are free; -EBUSY on another thread or
 * with another choice of hugepages than before.
 */
int eal_start(bool hugepages, int cpu, struct tp_error *error);

/*
 * The first line that DPDK logged as an error since eal_forget, without its newline: it is nearest
 * to the cause. "" if none.
 */
const char *eal_words(void);

/* Forgets it, before a call whose failure it shall explain. */
void eal_forget(void);

#endif
