/*
 * talk: connections between utcp and the kernel, in any number at once, until each has ended.
 *
 * Each end writes its stream, verifies the other's byte for byte and ends in good order. Which
 * kernel socket belongs to which utcp connection nobody needs to know, for all streams are alike.
 */
#ifndef WEIR_TESTS_INTEROP_TALK_H
#define WEIR_TESTS_INTEROP_TALK_H

#include "tests/interop/rig.h"

struct talk_config {
	bool kernel_calls; /* else utcp does */
	unsigned count;	   /* connections in all */
	unsigned at_once;
	uint64_t kernel_bytes; /* that the kernel's end of each sends */
	uint64_t utcp_bytes;
	uint64_t pause_ns; /* nobody reads before so long after the beginning */
	bool kernel_last;  /* the kernel's end ends only after the other's end has come */
	bool utcp_last;
};

/* What came of it; also words on stderr where something was wrong. */
struct talk_result {
	bool right;
	uint64_t bytes;
	uint64_t took_ns;
};

struct talk_result talk_run(struct rig *rig, const struct talk_config *config);

/* A kernel socket that calls utcp, or listens for its calls; non-blocking. */
int talk_kernel_connect(const struct rig *rig);
int talk_kernel_listen(const struct rig *rig);

#endif
