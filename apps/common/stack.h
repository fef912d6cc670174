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
#include "apps/common/membind.h"
#include "apps/common/tls_flags.h"
#include "apps/common/veth.h"
#include "dataplane/pipeline/wait.h"
#include "stacks/registry.h"

#include <jansson.h>

enum stack_hugepages { STACK_HUGEPAGES_YES, STACK_HUGEPAGES_NO, STACK_HUGEPAGES_AUTO };

enum {
	STACK_SECRET_BYTES = 16,
	STACK_WORKERS_MAX = 64,
	STACK_DETAILS = 192, /* dpdk: its own and its device's */
};

/* What the shared flags say, then what was made of it. */
struct stack_options {
	/* by the flags */
	const char *spec;
	struct subnet address;
	uint32_t workers; /* 0: as many as --cpus names, or 1 */
	struct cpus cpus_wanted;
	const char *wait_name; /* "default", or what wait_parse takes */
	unsigned hugepages;    /* enum stack_hugepages */
	unsigned membind;      /* enum membind */
	struct tls_options tls;
	/* by stack_resolve */
	const struct stack *stack;
	char device[STACK_DEVICE_BYTES];  /* what follows '@', or the stack's default */
	char veth_id[VETH_ID_BYTES];	  /* of the veth pair it runs over; "" if over none */
	uint64_t options[TP_OPTIONS_MAX]; /* in the order of the stack's table */
	struct cpus cpus;		  /* one a worker */
	struct wait wait;
	char wait_text[WAIT_TEXT];
	bool uses_hugepages; /* means something only where TP_NEEDS_HUGEPAGES */
	uint8_t secret[STACK_SECRET_BYTES];
	char workers_text[16];
	char cpus_text[CPUS_TEXT_BYTES];
};

/* What a wait may be called, for messages. */
extern const char stack_wait_usage[];

/* Whether `name` is "default" or what wait_parse takes: 0 or -EINVAL. */
int stack_wait_judge(const char *name);

/* What a wait becomes on a stack; "default" is as the stack is used. 0, or -EINVAL. */
int stack_wait_resolve(const struct stack *stack, const char *name, struct wait *wait_out);

/* A wait by name; the value is a const char *. */
extern const struct flag_kind flag_wait;

extern const char *const stack_hugepages_names[];

/* The rows that serve and load share; `options` is a struct stack_options *. */
#define STACK_FLAGS(options)                                                                      \
	{.name = "stack",                                                                         \
	 .kind = &flag_text,                                                                      \
	 .value = &(options)->spec,                                                               \
	 .initial = "epoll",                                                                      \
	 .about = "STACK[@DEVICE][,OPTION=VALUE]...; `weir stacks` lists them"},                  \
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
		 .kind = &flag_wait,                                                              \
		 .value = &(options)->wait_name,                                                  \
		 .initial = "default",                                                            \
		 .about = "how an idle worker waits; default: as the stack is used, see stacks"}, \
		{.name = "membind",                                                               \
		 .kind = &flag_choice,                                                            \
		 .value = &(options)->membind,                                                    \
		 .choices = membind_names,                                                        \
		 .initial = "bind",                                                               \
		 .about = "bind: take memory from the NUMA nodes of the workers' CPUs alone"},    \
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
 * Settles where a stack listens or connects. Over a veth pair that is the server's address in place
 * of a default, in words in `text`, which is lent to `flags`. 0; -EAFNOSUPPORT with `error` filled
 * for a family that the stack lacks; -EINVAL for a Unix socket over veth, for it takes no notice of
 * network namespaces.
 */
int stack_resolve_endpoint(const struct stack_options *options, struct flags *flags,
			   const char *flag_name, struct tp_addr *addr, char text[TP_ADDR_TEXT],
			   struct tp_error *error);

/*
 * Whether the process may have the descriptors of `connections` in all and of `files` that are to
 * be open beside them; raises its hard limit where that is allowed. 0; -EMFILE with `error` naming
 * the number needed and the limit.
 */
int stack_check_descriptors(const struct stack_options *options, bool server, uint64_t connections,
			    unsigned files, struct tp_error *error);

/*
 * The same of a process that is yet to be started, with nothing open but the standard three. No
 * limit is changed. 0, or -EMFILE with `error` filled.
 */
int stack_judge_descriptors(const struct stack *stack, unsigned workers, bool server,
			    uint64_t connections, unsigned files, struct tp_error *error);

/*
 * Opens worker `index`'s instance on the calling thread, with TLS over it where that is on. 0, or
 * negative errno with `error` filled.
 */
int stack_open(const struct stack_options *options, uint16_t index, bool server,
	       const struct tp_limits *limits, struct tp **tp_out, struct tp_error *error);

/*
 * The same for the stack's bare echo, which it must have; the listener and the sizes are those in
 * `config`, whose transport is filled here.
 */
int stack_open_bare(const struct stack_options *options, uint16_t index,
		    const struct tp_limits *limits, struct bare_config *config,
		    struct bare **bare_out, struct tp_error *error);

/* The effective value of an option by its name, or `without` if the stack has none of that name. */
uint64_t stack_option(const struct stack_options *options, const char *name, uint64_t without);

/*
 * The workers' CPUs, and one on which a thread of the kernel's polls for them: what it does is its
 * process's work. `options` as the stack's table has them.
 */
struct cpus stack_held_cpus(const struct stack *stack, const uint64_t *options,
			    const struct cpus *workers);
/* Why there is no busy time where stack_is_submitted_for. */
extern const char stack_busy_unknown[];

/*
 * Whether a thread of the kernel's works beside the workers (the option sqpoll), so that their own
 * busy time is not all of the work.
 */
bool stack_is_submitted_for(const struct stack_options *options);

/* {OPTION: "VALUE", ...} as they are effective. */
json_t *stack_options_to_json(const struct stack_options *options);

/* {FEATURE: true or false, ...} of this host; empty if the stack needs nothing special. */
json_t *stack_features_to_json(const struct tp_ops *ops);

/* ["can_block", ...] */
json_t *stack_capabilities_to_json(uint32_t capabilities);

/* true, false, or null where the stack has no use for them. */
json_t *stack_hugepages_to_json(const struct stack_options *options);

/* What an instance counted, copied on its worker's thread. */
struct stack_copy {
	struct tp_counters counters;
	struct tp_detail details[STACK_DETAILS];
	unsigned detail_count;
	struct tls_agreed agreed; /* since the instance was opened; empty without TLS */
};

void stack_copy_take(struct stack_copy *copy, const struct tp *tp);

/* Adds an instance's counts to a sum that starts zeroed; a maximum stays one, a level the least. */
void stack_copy_add(struct stack_copy *sum, const struct stack_copy *copy);

/*
 * Takes away what had been counted before; a maximum, a level and what TLS agreed on stay those of
 * the whole time.
 */
void stack_copy_subtract(struct stack_copy *copy, const struct stack_copy *before);

/* {COUNTER: N or null, ...} */
json_t *stack_counters_to_json(const struct tp_ops *ops, const struct tp_counters *counters);

/* {NAME: N, ...} of the details that are of one kind. */
json_t *stack_details_to_json(const struct stack_copy *copy, enum tp_detail_kind kind);

#endif
