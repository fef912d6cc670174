/*
 * capture: a file of frames, each with its time, for tshark and its like to read.
 *
 * Unlike what a tool sees at a device, none is missing, whatever the host is busy with.
 */
#ifndef WEIR_TESTS_INTEROP_CAPTURE_H
#define WEIR_TESTS_INTEROP_CAPTURE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Begins a file; NULL if it cannot be made. Closed by fclose. */
FILE *capture_open(const char *path);

void capture_add(FILE *file, const uint8_t *frame, size_t bytes, uint64_t now_ns);

#endif
