/*
 * tls_flags: the flags that say how a server or a client speaks TLS.
 *
 * Plane: setup; JSON is report.
 */
#ifndef WEIR_APPS_TLS_FLAGS_H
#define WEIR_APPS_TLS_FLAGS_H

#include "apps/common/flags.h"
#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"
#include "dataplane/tls/tls.h"
#include "dataplane/tls/tls_agreed.h"

#include <jansson.h>

/* A host's name, cut where it is too long for TLS, which then refuses it. */
enum { TLS_HOST_BYTES = 512 };

/* What the flags say, then what was made of it. */
struct tls_options {
	bool on;
	bool no_tickets;
	unsigned version_min; /* enum tls_version */
	unsigned version_max;
	char name[TLS_HOST_BYTES]; /* the server's, where no flag says it */
	/* The flags write its texts and its bounds, tls_resolve the rest. */
	struct tls_config config;
};

/* The rows that both sides have; `options` is a struct tls_options *. */
#define TLS_FLAGS(options)                                                                       \
	{.name = "tls", .kind = &flag_switch, .value = &(options)->on, .about = "speak TLS"},    \
		{.name = "tls-min",                                                              \
		 .kind = &flag_choice,                                                           \
		 .value = &(options)->version_min,                                               \
		 .choices = tls_version_names,                                                   \
		 .initial = "1.2",                                                               \
		 .about = "lowest version"},                                                     \
		{.name = "tls-max",                                                              \
		 .kind = &flag_choice,                                                           \
		 .value = &(options)->version_max,                                               \
		 .choices = tls_version_names,                                                   \
		 .initial = "1.3",                                                               \
		 .about = "highest version"},                                                    \
		{.name = "tls-ciphers",                                                          \
		 .kind = &flag_text,                                                             \
		 .value = &(options)->config.ciphers,                                            \
		 .about = "of TLS 1.2, as OpenSSL names them (default: OpenSSL's)"},             \
		{.name = "tls-ciphersuites",                                                     \
		 .kind = &flag_text,                                                             \
		 .value = &(options)->config.ciphersuites,                                       \
		 .about = "of TLS 1.3, like TLS_AES_128_GCM_SHA256 (default: OpenSSL's)"},       \
		{.name = "tls-groups",                                                           \
		 .kind = &flag_text,                                                             \
		 .value = &(options)->config.groups,                                             \
		 .about = "for the key exchange, like X25519:P-256 (default: OpenSSL's)"},       \
		{.name = "tls-alpn",                                                             \
		 .kind = &flag_text,                                                             \
		 .value = &(options)->config.alpn,                                               \
		 .about = "application protocols (default: http/1.1 for http1, else none)"},     \
	{                                                                                        \
		.name = "tls-no-tickets", .kind = &flag_switch, .value = &(options)->no_tickets, \
		.about = "no resumption: every connection has a full handshake"                  \
	}

/* The server's own. */
#define TLS_SERVER_FLAGS(options)                                                         \
	{.name = "tls-cert",                                                              \
	 .kind = &flag_path,                                                              \
	 .value = &(options)->config.certificate,                                         \
	 .about = "PEM file, its chain behind it (default: self-signed, made at start)"}, \
		{.name = "tls-key",                                                       \
		 .kind = &flag_path,                                                      \
		 .value = &(options)->config.key,                                         \
		 .about = "PEM file that nobody else may read"},                          \
		{.name = "tls-handshakes-max",                                            \
		 .kind = &flag_count,                                                     \
		 .value = &(options)->config.handshakes_max,                              \
		 .initial = "256",                                                        \
		 .min = 1,                                                                \
		 .max = LIMIT_CONN_MAX,                                                   \
		 .about = "handshakes that one worker may have at a time"},               \
	{                                                                                 \
		.name = "tls-handshake-timeout", .kind = &flag_duration,                  \
		.value = &(options)->config.handshake_timeout_ns, .initial = "10s",       \
		.min = CLOCK_MS_NS, .max = 3600 * CLOCK_SECOND_NS,                        \
		.about = "time from the accept to the end of the handshake"               \
	}

/* The client's own. */
#define TLS_CLIENT_FLAGS(options)                                                                \
	{.name = "tls-insecure",                                                                 \
	 .kind = &flag_switch,                                                                   \
	 .value = &(options)->config.insecure,                                                   \
	 .about = "take any certificate, as a self-signed one has to be"},                       \
		{.name = "tls-ca",                                                               \
		 .kind = &flag_path,                                                             \
		 .value = &(options)->config.authorities,                                        \
		 .about = "PEM file of whom to trust (default: the system's)"},                  \
	{                                                                                        \
		.name = "tls-name", .kind = &flag_text, .value = &(options)->config.server_name, \
		.about = "whose the server's certificate must be (default: --host, or address)"  \
	}

/*
 * Client: says whose certificate is expected where --tls-name does not: the host's ("a.test:443",
 * NULL: not told), else the server's address. A Unix socket has none.
 */
void tls_expect(struct tls_options *options, struct flags *flags, const char *host,
		const struct tp_addr *server);

/*
 * Judges what the flags say together and notes what is effective; `alpn` (NULL: none) is the
 * default. 0, or -EINVAL with `error` filled.
 */
int tls_resolve(struct tls_options *options, struct flags *flags, bool server, const char *alpn,
		struct tp_error *error);

/* {"VERSION CIPHER GROUP": CONNECTIONS, ...}; "other" if there were more kinds. */
json_t *tls_agreed_to_json(const struct tls_agreed *agreed);

/* {"on": false}, or what is effective with the provider's name. */
json_t *tls_options_to_json(const struct tls_options *options);

#endif
