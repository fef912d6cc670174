#include "stacks/dpdk/instance.h"
#include "stacks/dpdk/xstats.h"

/* What was dropped on the way in, over utcp's reasons and the port's. */
static uint64_t drops_in(const struct dpdk *dpdk)
{
	const struct utcp_counters *utcp = utcp_counters(dpdk->utcp);
	uint64_t handled = utcp->in_arp + utcp->in_nd + utcp->in_icmp + utcp->in_segments;
	const struct port_losses losses = port_losses(dpdk->port);

	return utcp->in_frames - handled + dpdk->port->counters.oversized_in + losses.missed +
	       losses.no_mbuf;
}

/*
 * Payload between utcp's memory and frames, and frames between our memory and the device's where
 * the driver copies them.
 */
static uint64_t copied_bytes(const struct dpdk *dpdk)
{
	const struct utcp_counters *utcp = utcp_counters(dpdk->utcp);
	const struct port_counters *port = &dpdk->port->counters;
	uint64_t bytes = utcp->in_bytes + utcp->out_bytes + dpdk->counters.copied_bytes;

	if (device_traits[dpdk->port->device.kind].copies)
		bytes += port->bytes_in + port->bytes_out;
	return bytes;
}

void dpdk_counters(const struct tp *tp, struct tp_counters *counters_out)
{
	const struct dpdk *dpdk = (const struct dpdk *)tp;
	const struct utcp_counters *utcp = utcp_counters(dpdk->utcp);

	*counters_out = dpdk->counters;
	counters_out->reserves_refused = utcp->reserves_refused;
	counters_out->accepts_refused = utcp->drop_tcp_full;
	counters_out->received_bytes = utcp->in_bytes;
	counters_out->copied_bytes = copied_bytes(dpdk);
	counters_out->segments_out = utcp->out_segments;
	counters_out->segments_in = utcp->in_segments;
	counters_out->segments_resent = utcp->retransmits;
	counters_out->bursts_out = dpdk->port->counters.bursts_out;
	counters_out->bursts_in = dpdk->port->counters.bursts_in;
	counters_out->drops_in = drops_in(dpdk);
	counters_out->drops_out = dpdk->port->counters.given_up;
}

unsigned dpdk_details(const struct tp *tp, struct tp_detail *details_out, unsigned room)
{
	const struct dpdk *dpdk = (const struct dpdk *)tp;
	const struct utcp_counters *utcp = utcp_counters(dpdk->utcp);
	const struct port_counters *port = &dpdk->port->counters;
	const struct port_losses losses = port_losses(dpdk->port);
	const struct tp_detail own[] = {
#define X(name, meaning) {#name, utcp->name, TP_DETAIL_COUNT},
		UTCP_COUNTERS(X)
#undef X
			{"port_frames_in", port->frames_in, TP_DETAIL_COUNT},
		{"port_bytes_in", port->bytes_in, TP_DETAIL_COUNT},
		{"port_frames_out", port->frames_out, TP_DETAIL_COUNT},
		{"port_bytes_out", port->bytes_out, TP_DETAIL_COUNT},
		{"port_missed", losses.missed + losses.no_mbuf, TP_DETAIL_COUNT},
		{"port_no_mbuf", losses.no_mbuf, TP_DETAIL_COUNT},
		{"port_errors_in", losses.errors_in, TP_DETAIL_COUNT},
		{"port_errors_out", losses.errors_out, TP_DETAIL_COUNT},
		{"port_fill_empty", port_fill_empty(dpdk->port), TP_DETAIL_COUNT},
		{"port_tx_full", port->tx_full, TP_DETAIL_COUNT},
		{"port_mbufs_short", port->mbufs_short, TP_DETAIL_COUNT},
		{"port_mbuf_low_water", port->mbuf_low, TP_DETAIL_LEVEL},
		{"port_chained_in", port->chained_in, TP_DETAIL_COUNT},
		{"port_oversized_in", port->oversized_in, TP_DETAIL_COUNT},
		{"port_given_up", port->given_up, TP_DETAIL_COUNT},
		{"naps", dpdk->port->doze.naps, TP_DETAIL_COUNT},
		{"descriptor_sleeps", dpdk->port->doze.descriptor_sleeps, TP_DETAIL_COUNT},
		{"link_ups", dpdk->port->link.ups, TP_DETAIL_COUNT},
		{"link_downs", dpdk->port->link.downs, TP_DETAIL_COUNT},
	};

	unsigned count = tp_details_copy(own, sizeof(own) / sizeof(own[0]), details_out, room);

	if (room < count + dpdk->port->xstat_count)
		return count;
	return count + xstats_read(dpdk->port->id, dpdk->port->xstat_count, details_out + count);
}
