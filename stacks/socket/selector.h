/*
 * selector: a program in the kernel that deals new connections out to listeners in turn.
 *
 * It is bound to a group of listeners that share an address (SO_REUSEPORT) and runs for each packet
 * that asks for a connection. What it owns is three descriptors: the count of connections so far,
 * the table of listeners, and the program. The kernel keeps what it uses for as long as the group
 * lives; a listener that is closed leaves the table by itself.
 *
 * `calls` is the caller's count of system calls; each one made is added.
 *
 * Plane: setup. Legal order: open, { attach | put }*, close.
 */
#ifndef WEIR_STACKS_SELECTOR_H
#define WEIR_STACKS_SELECTOR_H

#include <stdint.h>

struct selector {
	int count_fd;
	int listeners_fd;
	int program_fd;
};

/*
 * Makes a selector among `workers`. 0, or a negative errno: -EPERM without the privilege (CAP_BPF
 * and CAP_NET_ADMIN), -EINVAL where the kernel is older than 5.12.
 */
int selector_open(struct selector *selector_out, unsigned workers, uint64_t *calls);

/* Lets it choose for the group that `fd` is, or will be, a listener of. 0 or a negative errno. */
int selector_attach(const struct selector *selector, int fd, uint64_t *calls);

/* Gives the place `index` to `fd`, which listens in the group. 0 or a negative errno. */
int selector_put(const struct selector *selector, unsigned index, int fd, uint64_t *calls);

/* Gives the descriptors back; a group that it was attached to goes on being dealt to. */
void selector_close(struct selector *selector, uint64_t *calls);

#endif
