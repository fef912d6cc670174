/*
 * veth: one wire for two kernel stacks on this host, a network namespace at each end.
 *
 * A veth pair joins two namespaces that hold nothing else, so that kernel sockets of a server and a
 * client meet over an interface instead of over the loopback. Of the ID "7" the namespaces are
 * called weir-7-server and weir-7-client; in each the interface is `weir0`, with 10.78.0.1/24 and
 * fd78::1/64 on the server's side and .2 and ::2 on the client's. Pairs of different IDs do not see
 * each other.
 *
 * The server makes the pair and removes it; it has claimed the ID (claim.h), so that a pair whose
 * server was killed is known for stale, and removed by the next one that makes any pair and by
 * `weir run`. The client only enters. Both must do so before they start threads, which inherit the
 * namespace; sockets, and what /proc/thread-self/net shows, are then those of the namespace.
 *
 * Made with `ip` of iproute2; takes root. Nothing is touched that no claim of weir's stands for.
 *
 * Plane: setup, main thread, no other thread yet or any more.
 */
#ifndef WEIR_APPS_VETH_H
#define WEIR_APPS_VETH_H

#include "apps/common/claim.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	VETH_ID_BYTES = 33, /* an ID and its end */
	VETH_NAMESPACE_BYTES = VETH_ID_BYTES + 16,
	VETH_LIST_MAX = 64,
	VETH_DESCRIPTORS = 2, /* that a made pair keeps open */
};

/* Where servers listen, host order: 10.78.0.1. */
#define VETH_SERVER_IP 0x0A4E0001u

/* The interface's name in either namespace. */
extern const char veth_interface[];

struct veth {
	char id[VETH_ID_BYTES];
	int claim; /* the descriptor that holds the ID */
	int home;  /* the namespace that the process came from */
};

/* Whether a kernel stack's device is a veth pair: "veth" or "veth:ID". */
bool veth_is_device(const char *device);

/*
 * The ID of such a device, "0" if it names none. 0; -EINVAL with `error` filled if it has other
 * characters than letters, digits and '-' or is longer than 32.
 */
int veth_read_id(const char *device, char id_out[VETH_ID_BYTES], struct tp_error *error);

/* "weir-ID-server"; returns `name`. */
const char *veth_server_namespace(const char *id, char name[VETH_NAMESPACE_BYTES]);

/*
 * Removes stale pairs, makes the pair of an ID and enters the server's namespace. Signals of ending
 * are blocked by the caller. 0; -EBUSY if a living process has the ID, or another negative errno;
 * with `error` filled and nothing left behind.
 */
int veth_make(struct veth *veth, const char *id, struct tp_error *error);

/*
 * Leaves the namespace and removes the pair. 0, or negative errno with `error` filled: then what is
 * left is stale.
 */
int veth_remove(struct veth *veth, struct tp_error *error);

/*
 * Enters the client's namespace of the ID. 0; -ENOENT if no living server has made the pair, or
 * another negative errno; with `error` filled.
 */
int veth_enter_client(const char *id, struct tp_error *error);

/*
 * Removes stale pairs; quick if there are none. How many it has removed. What it cannot remove, for
 * want of root or of `ip`, stays.
 */
unsigned veth_sweep(void);

/* IDs in `id_out` and owners of the pairs that dead servers left; their number. */
unsigned veth_list_stale(struct claim list_out[VETH_LIST_MAX]);

/* The ID of a listed claim. */
const char *veth_claim_id(const struct claim *claim);

/*
 * Whether this process could make pairs: tries it in a namespace of its own that vanishes again. 0,
 * or negative errno with `error` saying what lacks and what to do.
 */
int veth_probe(struct tp_error *error);

#endif
