/*
 * hugepages: how much memory in hugepages a process needs and the host has free.
 *
 * One number and one count, for the stack that takes the pages and for the programs that choose
 * beforehand whether it shall.
 *
 * Plane: setup.
 */
#ifndef WEIR_CORE_HUGEPAGES_H
#define WEIR_CORE_HUGEPAGES_H

/*
 * What a process takes at most, of one worker and all told: the DPDK stack gives its EAL exactly
 * this, for mbufs, memory pools and the devices' queues.
 */
enum { HUGEPAGES_PROCESS_MIB = 64 };

/* Of all sizes, MiB. */
struct hugepages {
	unsigned long free_mib;
	unsigned long used_mib;
};

/* What the kernel says now; zeros where it has none. */
struct hugepages hugepages_count(void);

#endif
