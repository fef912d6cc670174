/*
 * memory: the transport contract between instances of one process; reference and template.
 *
 * A struct memory_net stands for the network: instances opened with it in config.shared can reach
 * each other by port. No time passes and nothing is lost. Each connection is a pair of ends; what
 * one end flushes is copied to the other's receive memory as far as there is room. Everything
 * happens on one thread.
 */
#ifndef WEIR_STACKS_MEMORY_H
#define WEIR_STACKS_MEMORY_H

#include "dataplane/transport/transport.h"

struct memory_net;

/* Makes a network without instances. 0 or -ENOMEM. */
int memory_net_create(struct memory_net **net_out);

/* Frees it; its instances must be closed (CHECK). NULL is fine. */
void memory_net_destroy(struct memory_net *net);

extern const struct tp_ops memory_ops;

#endif
