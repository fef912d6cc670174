/*
 * stack: from flags to open transport instances.
 *
 * The flags that serve and load share, what they mean together for the stack that was chosen,
 * and the transport's counters in JSON.
 *
 * Planes: options are setup on the main thread, open is setup on the worker's own thread, JSON
 * is report.
 */
#ifndef WEIR_APPS_STACK_H
#define WEIR_APPS_STACK_H

#include "apps/common/address.h"
#include "apps/common/cpus.h"
#include "apps/common/flags.h"
#include "stacks/registry.h"

#include <jansson.h>

enum stack_wait { STACK_WAIT_DEFAULT, STACK_WAIT_BLOCK, STACK_WAIT_SPIN };
enum stack_hugepages { STACK_HUGEPAGES_YES, STACK_HUGEPAGES_NO, STACK_HUGEPAGES_AUTO };

enum {
	STACK_SECRET_BYTES = 16,
	STACK_WORKERS_MAX = 64,
	STACK_DETAILS = 64,
};

/* What the shared flags say, then what was made of it. */
struct stack_options {
	/* by the flags */
	const char *spec;
	struct subnet address;
	uint32_t workers; /* 0: as many as --cpus names, or 1 */
	struct cpus cpus_wanted;
	unsigned wait;	    /* enum stack_wait */
	unsigned hugepages; /* enum stack_hugepages */
	/* by stack_resolve */
	const struct stack *stack;
	const char *device; /* what follows '@', or the stack's default; lent */
	struct cpus cpus;   /* one a worker */
	bool block;
	bool uses_hugepages; /* means something only where TP_NEEDS_HUGEPAGES */
	uint8_t secret[STACK_SECRET_BYTES];
	char workers_text[16];
	char cpus_text[CPUS_TEXT_BYTES];
};

extern const char *const stack_wait_names[];
extern const char *const stack_hugepages_names[];

/* The rows that serve and load share; `options` is a struct stack_options *. */
#define STACK_FLAGS(options)                                                                      \
	{.name = "stack",                                                                         \
	 .kind = &flag_text,                                                                      \
	 .value = &(options)->spec,                                                               \
	 .initial = "epoll",                                                                      \
	 .about = "the stack, STACK or STACK@DEVICE; `weir stacks` lists them"},                  \
		{.name = "address",                                                               \
		 .kind = &flag_subnet,                                                            \
		 .value = &(options)->address,                                                    \
		 .about = "own address, for a stack with a TCP/IP of its own (dpdk)"},            \
		{.name = "workers",                                                               \
		 .kind = &flag_count,                                                             \
		 .value = &(options)->workers,                                                    \
		 .min = 1,                                                                        \
		 .max = STACK_WORKERS_MAX,                                                        \
		 .about = "worker threads, one a CPU (default: one for each of --cpus, else 1)"}, \
		{.name = "cpus",                                                                  \
		 .kind = &flag_cpus,                                                              \
		 .value = &(options)->cpus_wanted,                                                \
		 .about = "the workers' CPUs (default: from the process's affinity)"},            \
		{.name = "wait",                                                                  \
		 .kind = &flag_choice,                                                            \
		 .value = &(options)->wait,                                                       \
		 .choices = stack_wait_names,                                                     \
		 .initial = "default",                                                            \
		 .about = "how an idle worker waits; default: block where the stack can"},        \
	{                                                                                         \
		.name = "hugepages", .kind = &flag_choice, .value = &(options)->hugepages,        \
		.choices = stack_hugepages_names, .initial = "yes",                               \
		.about = "for dpdk; auto: use them when enough are free"                          \
	}

/*
 * Finds the stack, its CPUs and waits, and notes the effective values in `flags`.
 * `from_the_end` as in cpus_choose. 0, or negative errno with `error` filled.
 */
int stack_resolve(struct stack_options *options, struct flags *flags, bool from_the_end,
		  struct tp_error *error);

/*
 * Whether the process may have the descriptors of `connections` in all and of `files` that are to
 * be open beside them. 0; -EMFILE with `error` naming the number needed and the limit.
 */
int stack_check_descriptors(const struct stack_options *options, bool server, uint64_t connections,
			    unsigned files, struct tp_error *error);

/*
 * Opens worker `index`'s instance on the calling thread. 0, or negative errno with `error`
 * filled.
 */
int stack_open(const struct stack_options *options, uint16_t index, bool server,
	       const struct tp_limits *limits, struct tp **tp_out, struct tp_error *error);

/* ["can_block", ...] */
json_t *stack_capabilities_to_json(uint32_t capabilities);

/* true, false, or null where the stack has no use for them. */
json_t *stack_hugepages_to_json(const struct stack_options *options);

/* What an instance counted, copied on its worker's thread. */
struct stack_copy {
	struct tp_counters counters;
	struct tp_detail details[STACK_DETAILS];
	unsigned detail_count;
};

void stack_copy_take(struct stack_copy *copy, const struct tp *tp);

/* Adds an instance's counts to a sum that starts zeroed; a maximum stays one, a level the least. */
void stack_copy_add(struct stack_copy *sum, const struct stack_copy *copy);

/* Takes away what had been counted before; a maximum and a level stay those of the whole time. */
void stack_copy_subtract(struct stack_copy *copy, const struct stack_copy *before);

/* {COUNTER: N or null, ...} */
json_t *stack_counters_to_json(const struct tp_ops *ops, const struct tp_counters *counters);

/* {NAME: N, ...} of the details that are of one kind. */
json_t *stack_details_to_json(const struct stack_copy *copy, enum tp_detail_kind kind);

#endif
