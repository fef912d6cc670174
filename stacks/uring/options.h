/*
 * options: what this stack can be told, as indexes into its table; behind those of all kernel
 * sockets.
 */
#ifndef WEIR_STACKS_URING_OPTIONS_H
#define WEIR_STACKS_URING_OPTIONS_H

#include "stacks/socket/socket.h"

enum uring_option {
	UR_ENTRIES = SOCKET_OPTION_COUNT,
	UR_BUFFERS,
	UR_BUFFER_BYTES,
	UR_ZERO_COPY_BYTES,
	UR_SQPOLL,
	UR_SQPOLL_CPU,
	UR_SQPOLL_IDLE,
	UR_DEFER_TASKRUN,
	UR_MULTISHOT,
	UR_REGISTERED_FILES,
	UR_OPTION_COUNT,
};

/* sqpoll-cpu: the worker's own, written "worker". */
enum { UR_SQPOLL_OWN_CPU = 65535 };

#endif
