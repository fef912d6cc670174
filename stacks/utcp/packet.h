/*
 * packet: where the fields of an Ethernet, ARP, IPv4, IPv6, ICMP and TCP header stand.
 *
 * Offsets count from the beginning of the header that they belong to.
 */
#ifndef WEIR_UTCP_PACKET_H
#define WEIR_UTCP_PACKET_H

enum {
	ETH_DESTINATION = 0,
	ETH_SOURCE = 6,
	ETH_TYPE = 12,
	ETH_BYTES = 14,
	ETH_TYPE_IPV4 = 0x0800,
	ETH_TYPE_ARP = 0x0806,
	ETH_TYPE_IPV6 = 0x86dd,
	MAC_BYTES = 6,
};

enum {
	ARP_HARDWARE = 0,
	ARP_PROTOCOL = 2,
	ARP_HARDWARE_BYTES = 4,
	ARP_PROTOCOL_BYTES = 5,
	ARP_OPERATION = 6,
	ARP_SENDER_MAC = 8,
	ARP_SENDER_IP = 14,
	ARP_TARGET_MAC = 18,
	ARP_TARGET_IP = 24,
	ARP_BYTES = 28,
	ARP_HARDWARE_ETHERNET = 1,
	ARP_REQUEST = 1,
	ARP_REPLY = 2,
};

enum {
	IP_VERSION = 0, /* and the header length in words, 4 bits each */
	IP_TOS = 1,	/* its two lowest bits are ECN's */
	IP_TOTAL = 2,
	IP_FRAGMENT = 6,
	IP_TTL = 8,
	IP_PROTOCOL = 9,
	IP_CHECKSUM = 10,
	IP_SOURCE = 12,
	IP_DESTINATION = 16,
	IP_BYTES = 20,
	IP_DONT_FRAGMENT = 0x4000,
	IP_FRAGMENT_MASK = 0x3fff, /* more fragments, or an offset */
	IP_TTL_DEFAULT = 64,
	IP_ECT_0 = 2, /* RFC 3168 5: may be marked, */
	IP_CE = 3,    /* and was: congestion experienced */
	IP_ICMP = 1,
	IP_TCP = 6,
	IP_ADDRESSES_BYTES = 8, /* source and destination */
};

enum {
	IP6_VERSION = 0,
	IP6_CLASS = 1, /* the lower half of the traffic class, and the label's beginning */
	IP6_ECN_SHIFT = 4,
	IP6_PAYLOAD = 4, /* bytes behind this header, extension headers included */
	IP6_NEXT = 6,
	IP6_HOPS = 7,
	IP6_SOURCE = 8,
	IP6_DESTINATION = 24,
	IP6_BYTES = 40,
	IP6_ADDRESSES_BYTES = 32,
	IP6_ICMP = 58,
	IP6_NOTHING = 59, /* nothing follows (RFC 8200 4.7) */
};

/* Extension headers of IPv6 (RFC 8200 4); most begin with the next header and their length. */
enum {
	EXTENSION_NEXT = 0,
	EXTENSION_LENGTH = 1, /* in units of 8 bytes, not counting the first */
	EXTENSION_UNIT = 8,
	EXTENSION_HOP_BY_HOP = 0,
	EXTENSION_ROUTING = 43,
	EXTENSION_FRAGMENT = 44,
	EXTENSION_DESTINATION = 60,
	OPTIONS_BEGIN = 2, /* of the options in a hop-by-hop or destination header */
	OPTION_PAD_1 = 0,
	OPTION_PAD_N = 1,
	ROUTING_TYPE = 2,
	ROUTING_LEFT = 3,
	FRAGMENT_OFFSET = 2,	/* and flags */
	FRAGMENT_MASK = 0xfff9, /* more fragments, or an offset */
};

enum {
	ICMP_TYPE = 0,
	ICMP_CODE = 1,
	ICMP_CHECKSUM = 2,
	ICMP_NEXT_MTU = 6, /* of ICMP_TOO_BIG (RFC 1191 4) */
	ICMP_BYTES = 8,
	ICMP_QUOTED_TCP = 8, /* what an error quotes of a segment at least */
	ICMP_ECHO_REPLY = 0,
	ICMP_UNREACHABLE = 3,
	ICMP_ECHO = 8,
	ICMP_TIME_EXCEEDED = 11,
	ICMP_BAD_PARAMETER = 12,
	/* Codes of ICMP_UNREACHABLE. */
	ICMP_PROTOCOL_UNREACHABLE = 2,
	ICMP_PORT_UNREACHABLE = 3,
	ICMP_TOO_BIG = 4,
};

/* ICMPv6 (RFC 4443), whose first 8 bytes stand as those of ICMP. */
enum {
	ICMP6_ERRORS_END = 128, /* types below are errors */
	ICMP6_UNREACHABLE = 1,
	ICMP6_PORT_UNREACHABLE = 4, /* its code */
	ICMP6_TOO_BIG = 2,
	ICMP6_MTU = 4, /* of the next hop, 32 bits (RFC 4443 3.2) */
	ICMP6_TIME_EXCEEDED = 3,
	ICMP6_PROBLEM = 4, /* parameter problem; its pointer begins at ICMP6_POINTER */
	ICMP6_PROBLEM_FIELD = 0,
	ICMP6_PROBLEM_HEADER = 1,
	ICMP6_PROBLEM_OPTION = 2,
	ICMP6_POINTER = 4,
	ICMP6_ECHO = 128,
	ICMP6_ECHO_REPLY = 129,
	ICMP6_ROUTER_SOLICITATION = 133,
	ICMP6_REDIRECT = 137,
};

/* Neighbour discovery (RFC 4861 4.3, 4.4, 4.6.1). */
enum {
	ND_SOLICITATION = 135,
	ND_ADVERTISEMENT = 136,
	ND_FLAGS = 4, /* of an advertisement */
	ND_SOLICITED = 0x40,
	ND_OVERRIDE = 0x20,
	ND_TARGET = 8,
	ND_OPTIONS = 24,
	ND_OPTION_UNIT = 8, /* their length counts these */
	ND_OPTION_SOURCE = 1,
	ND_OPTION_TARGET = 2,
	ND_HOPS = 255, /* whoever sent it is on this link: no router passed it on */
};

enum {
	TCP_SOURCE = 0,
	TCP_DESTINATION = 2,
	TCP_SEQ = 4,
	TCP_ACK = 8,
	TCP_OFFSET = 12, /* the header length in words, in the upper 4 bits */
	TCP_FLAGS = 13,
	TCP_WINDOW = 14,
	TCP_CHECKSUM = 16,
	TCP_BYTES = 20,
	TCP_OPTION_END = 0,
	TCP_OPTION_NOP = 1,
	TCP_OPTION_MSS = 2,
	TCP_OPTION_SCALE = 3,
	TCP_OPTION_SACK_PERMITTED = 4,
	TCP_OPTION_SACK = 5,
	TCP_OPTION_TIMES = 8,
};

enum tcp_flag {
	TCP_FIN = 1 << 0,
	TCP_SYN = 1 << 1,
	TCP_RST = 1 << 2,
	TCP_PSH = 1 << 3,
	TCP_ACKS = 1 << 4, /* the ACK bit: the acknowledgement field counts */
	TCP_URG = 1 << 5,
	TCP_ECE = 1 << 6,
	TCP_CWR = 1 << 7,
};

/* All headers of a segment without options, over IPv4; and the most that they are. */
enum {
	HEAD_BYTES = ETH_BYTES + IP_BYTES + TCP_BYTES,
	HEAD_BYTES_MAX = ETH_BYTES + IP6_BYTES + TCP_BYTES,
};

#endif
