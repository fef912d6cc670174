/*
 * ethtool: what a driver says of its network interface, asked by ioctl.
 *
 * Everything is of the calling thread's network namespace. Plane: report.
 */
#ifndef WEIR_APPS_ETHTOOL_H
#define WEIR_APPS_ETHTOOL_H

#include <jansson.h>

/*
 * Adds "driver", "driver_version", "firmware", "bus", "rings" {"rx", "tx", "rx_max", "tx_max"},
 * "queues" {"combined", "rx", "tx", "combined_max"}, "coalescing" {"rx_us", "rx_frames", "tx_us",
 * "tx_frames", "adaptive_rx", "adaptive_tx"} and "features" (names of those that are on); null with
 * the reason where the driver does not say.
 */
void ethtool_add_facts(json_t *facts, const char *interface);

#endif
