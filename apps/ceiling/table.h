/*
 * table: shares of the bare echo for the eye.
 *
 * Plane: report.
 */
#ifndef WEIR_CEILING_TABLE_H
#define WEIR_CEILING_TABLE_H

#include "apps/ceiling/share.h"

#include <stdio.h>

/* A line a cell, and what the columns say. */
void table_print(const struct share_cell *cells, unsigned count, FILE *to);

/* What became of the gate at `least`, and in which cells it did not pass. */
void table_print_verdicts(const struct share_cell *cells, unsigned count, double least, FILE *to);

#endif
