/*
 * autogroup: the weight of everything that the runner starts against other sessions.
 *
 * With autogroups (sched(7)) the kernel shares CPUs between sessions first and looks at nice values
 * only inside one, so a build in another terminal weighs as much as the measured server whatever
 * its nice. What helps is the nice value of the group itself. The group is the session's: children
 * have it as long as they are no session leaders, and so has the shell that the runner was started
 * from, which is why it is put back.
 *
 * Plane: setup, main thread.
 */
#ifndef WEIR_RUN_AUTOGROUP_H
#define WEIR_RUN_AUTOGROUP_H

#include <jansson.h>

enum { AUTOGROUP_NICE = -10 };

/*
 * Gives the runner's own group AUTOGROUP_NICE; before that, what was is written down in `folder`,
 * where autogroup_settle finds it should the runner be killed. Fills `facts_out`: "enabled",
 * "group",
 * "nice_before", "nice" (as it is now), "raised" with its reason if false, and "in_effect", which
 * is false where the kernel has no autogroups on or a cgroup decides instead. 0; or negative errno
 * if it could not be raised, which no measurement has to be refused for.
 */
int autogroup_raise(const char *folder, json_t *facts_out);

/*
 * Puts back what was before, if these facts of autogroup_raise say that it was raised. 0 or
 * negative errno.
 */
int autogroup_restore(const json_t *facts);

/*
 * Puts back what a runner that is no more had written down in `folder`, unless its group is gone
 * or has been given another value since. 0, also if there is nothing to put back, or negative
 * errno.
 */
int autogroup_settle(const char *folder);

#endif
