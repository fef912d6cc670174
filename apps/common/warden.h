/*
 * warden: a process that stays with long work and ends all of it.
 *
 * A program that is killed, or told to end, may leave what it has started, and what that has
 * started may be in process groups of its own, as the compilers that ninja runs are. The warden is
 * the work's parent and takes over every orphan of it. When it gets a SIGTERM, or the process that
 * wanted the work dies, it asks the work to end, gives it time to pass that on, and then kills
 * whatever descends from it.
 *
 * It keeps the descriptors that were open when it was made: a lock that protects what the work
 * writes is held until the work is over, though the one that took it is dead.
 *
 * Plane: setup.
 */
#ifndef WEIR_APPS_WARDEN_H
#define WEIR_APPS_WARDEN_H

enum { WARDEN_GRACE_MS = 10 * 1000 }; /* how long work that is asked to end may take */

/*
 * Makes the calling process, which was forked for this, has one thread and has SIGTERM and SIGCHLD
 * blocked, the warden. Returns in a new process that leads a group of its own and is to become the
 * work; the warden itself never returns. It closes `report` and exits as the work does, 128 + N for
 * a signal.
 */
void warden_stay(int report);

#endif
