/*
 * netif: a network interface as the calling thread's network namespace has it.
 *
 * Plane: setup.
 */
#ifndef WEIR_APPS_NETIF_H
#define WEIR_APPS_NETIF_H

#include "dataplane/transport/transport.h"

#include <jansson.h>

/*
 * Waits until an interface that was told to be up carries packets: the kernel gets to that a moment
 * later, and drops what is sent before, which costs a connection a second. 0; -ETIMEDOUT or another
 * negative errno with `error` filled.
 */
int netif_await_link(const char *name, unsigned timeout_ms, struct tp_error *error);

/*
 * Adds to `object` "mtu" and "offloads": {"tso", "gso", "gro", "tx_checksum", "rx_checksum"}, true
 * or false; what the kernel does not tell is null, with the reason beside it.
 */
void netif_add_facts(json_t *object, const char *name);

#endif
