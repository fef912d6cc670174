/*
 * registry: every stack by name, built or not.
 *
 * A stack is written STACK[@DEVICE][,OPTION=VALUE]..., e.g. `epoll`, `epoll@loopback`,
 * `uring,sqpoll=on`, `dpdk@memif:/run/weir.sock`. The part before '@' chooses the operations, the
 * rest is handed to their open. A stack that this build lacks is listed with the reason.
 *
 * Plane: setup.
 */
#ifndef WEIR_STACKS_REGISTRY_H
#define WEIR_STACKS_REGISTRY_H

#include "dataplane/transport/transport.h"
#include "stacks/bare.h"

#include <stdbool.h>

struct stack {
	const char *name;
	const struct tp_ops *ops;    /* NULL if not built */
	const char *absent;	     /* why it is not built; NULL if it is */
	const char *device_default;  /* what no device means, for people; NULL if nothing */
	const char *devices;	     /* what may follow '@', for people; "" if nothing */
	const char *about;	     /* one line */
	bool uses_descriptors;	     /* one a connection, one an instance, one a listener */
	bool spins;		     /* waits by spinning unless told otherwise */
	const struct bare_ops *bare; /* its bare echo; NULL if it has none */
	/* Judges a device by its text alone, "" if none was given; NULL: any will do. */
	int (*judge_device)(const struct stack *stack, const char *device, struct tp_error *error);
};

enum { STACK_DEVICE_BYTES = 256 };

/* A stack as somebody wrote it. */
struct stack_choice {
	const struct stack *stack;
	char device[STACK_DEVICE_BYTES]; /* as written; "" if none was */
	uint64_t options[TP_OPTIONS_MAX];
};

/* All stacks, in the order they are shown; `count_out` gets their number. */
const struct stack *stack_list(unsigned *count_out);

/* The names of those that have a bare echo, "epoll, uring"; returns `text`. */
const char *stack_bare_names(char *text, size_t text_bytes);

/*
 * Reads `spec`. 0; -ENOENT for an unknown name, with the nearest known one in `error`; -ENOTSUP for
 * one that is not built, with the reason; -EINVAL for an option that it has not.
 */
int stack_find(const char *spec, struct stack_choice *choice_out, struct tp_error *error);

/*
 * Judges what stands behind '@', "" if nothing does, without opening anything. 0, or -EINVAL with
 * `error` filled, as opening an instance would fail.
 */
int stack_judge_device(const struct stack *stack, const char *device, struct tp_error *error);

/*
 * Asks the host for what the stack needs, which takes milliseconds. 0, or negative errno with
 * `error` filled, as opening an instance would fail.
 */
int stack_check_host(const struct stack *stack, struct tp_error *error);

#endif
