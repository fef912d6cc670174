/*
 * host_parts: the parts of host.json, one function a part. Each adds its facts to the object; what
 * cannot be known is null with its reason (fact.h).
 *
 * Plane: report.
 */
#ifndef WEIR_APPS_HOST_PARTS_H
#define WEIR_APPS_HOST_PARTS_H

#include <jansson.h>

void host_add_system(json_t *facts);	     /* names, kernel, command line, mitigations */
void host_add_virtualization(json_t *facts); /* hypervisor, container */
void host_add_cpus(json_t *facts);	     /* topology, isolation, clock */
void host_add_power(json_t *facts);	     /* governors, frequencies, turbo, idle states */
void host_add_memory(json_t *facts);	     /* sizes, nodes, pages */
void host_add_interrupts(json_t *facts);     /* which CPUs serve which IRQs */
void host_add_network(json_t *facts);	     /* sysctls */
void host_add_nics(json_t *facts);	     /* every interface that is up */
void host_add_process(json_t *facts);	     /* environment, limits, autogroup, libraries */
void host_add_activity(json_t *facts);	     /* load, CPU time, pressure */

#endif
