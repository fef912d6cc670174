/*
 * flows: the applications of a world, and what each connection of theirs owes them.
 *
 * They open connections, write streams in pieces of random size, read late and little, end, and in
 * some worlds abort. Each byte that arrives is verified, and so is each connection's end.
 */
#ifndef WEIR_APPS_SIM_FLOWS_H
#define WEIR_APPS_SIM_FLOWS_H

#include <stdbool.h>

struct world;

/* One host opens a connection. */
void flows_open_one(struct world *world, unsigned index);

/* A host's applications hear what has happened; whether anything has. */
bool flows_handle_events(struct world *world, unsigned index);

/* They read, write, end and abort. */
void flows_run(struct world *world, unsigned index);

#endif
