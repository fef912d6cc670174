/*
 * loopback: addresses of this host that no other test takes, so that runs at the same time do not
 * meet.
 */
#ifndef WEIR_TESTS_LOOPBACK_H
#define WEIR_TESTS_LOOPBACK_H

#include <stdint.h>

/* An IPv4 address that no other process uses, host order: 127.64.0.0 and the process's id. */
uint32_t loopback_ip(void);

/*
 * A port of that address that nobody has, below those that the kernel hands out to connections, so
 * that nobody's cannot become somebody's before it is used; another one at each call. 0 if there is
 * none.
 */
uint16_t loopback_port(void);

/* The same for ::1, which all processes share; they are kept apart as far as ports go. */
uint16_t loopback_port6(void);

#endif
