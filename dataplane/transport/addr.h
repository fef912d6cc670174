/*
 * addr: an endpoint of a connection, of whichever family.
 *
 * Plane: setup.
 */
#ifndef WEIR_TRANSPORT_ADDR_H
#define WEIR_TRANSPORT_ADDR_H

#include <stdbool.h>
#include <stdint.h>

enum tp_family {
	TP_IPV4,
	TP_IPV6,
	TP_UNIX, /* a stream socket in the file system, unix(7) */
	TP_FAMILY_COUNT,
};

/* A Unix socket's path and its end; sun_path has so much. */
enum { TP_PATH_BYTES = 108 };

/* An endpoint. */
struct tp_addr {
	uint8_t family; /* enum tp_family; 0 is IPv4 */
	uint16_t port;	/* 0 with TP_UNIX */
	union {
		uint32_t ip; /* TP_IPV4: host order */
		struct {
			uint8_t ip6[16];    /* TP_IPV6: as on the wire */
			uint32_t interface; /* index, for a link-local address; else 0 */
		};
		char path[TP_PATH_BYTES]; /* TP_UNIX */
	};
};

/* The longest endpoint in words and its end. */
enum { TP_ADDR_TEXT = 128 };

/* "127.0.0.1:7878", "[::1]:7878" or "unix:/run/a.sock"; returns `text`. */
const char *tp_addr_print(const struct tp_addr *addr, char text[TP_ADDR_TEXT]);

/*
 * Reads the same forms, and "[fe80::1%eth0]:7878"; the port is 1 to 65535, the address no multicast
 * or broadcast one, the path absolute. 0, or -EINVAL with the output untouched.
 */
int tp_addr_parse(const char *text, struct tp_addr *addr_out);

/* Reads the IPv4 address before the last `separator`; what stands behind that, or NULL. */
const char *tp_ip_parse(const char *text, char separator, uint32_t *ip_out);

/* Multicast (RFC 5771) and the limited broadcast (RFC 919): TCP connects to one host. */
bool tp_ip_is_many(uint32_t ip);

/* "IPv4", "IPv6" or "Unix". */
const char *tp_family_name(enum tp_family family);

#endif
