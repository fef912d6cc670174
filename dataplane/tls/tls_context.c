#include "dataplane/tls/instance.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <string.h>

enum { ALPN_BYTES = 256, TICKET_KEY_BYTES = 80 };

/* Protocols as the handshake carries them: each behind its length. */
struct alpn {
	unsigned bytes;
	uint8_t wire[ALPN_BYTES];
};

const char *tls_openssl_reason(void)
{
	const char *reason = ERR_reason_error_string(ERR_peek_last_error());

	return reason ? reason : "unknown reason";
}

/* --- what both sides choose from --- */

static int set_versions(SSL_CTX *context, const struct tls_config *config, struct tp_error *error)
{
	static const int numbers[TLS_VERSION_COUNT] = {TLS1_2_VERSION, TLS1_3_VERSION};

	if (config->version_min > config->version_max)
		return tp_fail(error, -EINVAL,
			       "tls: the least version, %s, is above the greatest, %s",
			       tls_version_names[config->version_min],
			       tls_version_names[config->version_max]);
	if (SSL_CTX_set_min_proto_version(context, numbers[config->version_min]) &&
	    SSL_CTX_set_max_proto_version(context, numbers[config->version_max]))
		return 0;
	return tp_fail(error, -EINVAL, "tls: OpenSSL does not do version %s: %s",
		       tls_version_names[config->version_max], tls_openssl_reason());
}

static int set_choices(SSL_CTX *context, const struct tls_config *config, struct tp_error *error)
{
	ERR_clear_error();
	if (config->ciphers && !SSL_CTX_set_cipher_list(context, config->ciphers))
		return tp_fail(error, -EINVAL,
			       "tls: no cipher in '%s'; `openssl ciphers -tls1_2 -s` lists those "
			       "of TLS 1.2",
			       config->ciphers);
	if (config->ciphersuites && !SSL_CTX_set_ciphersuites(context, config->ciphersuites))
		return tp_fail(error, -EINVAL,
			       "tls: no cipher suite in '%s'; `openssl ciphers -tls1_3 -s` lists "
			       "those of TLS 1.3",
			       config->ciphersuites);
	if (config->groups && !SSL_CTX_set1_groups_list(context, config->groups))
		return tp_fail(error, -EINVAL,
			       "tls: no group in '%s'; write for example X25519:P-256",
			       config->groups);
	return 0;
}

/* --- ALPN --- */

/* "http/1.1,echo" in the form of the handshake. */
static int encode_alpn(const char *text, struct alpn *alpn_out, struct tp_error *error)
{
	struct alpn alpn = {0};

	while (*text) {
		size_t length = strcspn(text, ",");

		if (length == 0 || length > 255 || alpn.bytes + 1 + length > ALPN_BYTES)
			return tp_fail(error, -EINVAL,
				       "tls: '%s' is no list of protocols; write names of 1 to "
				       "255 bytes, joined by commas",
				       text);
		alpn.wire[alpn.bytes] = (uint8_t)length;
		memcpy(alpn.wire + alpn.bytes + 1, text, length);
		alpn.bytes += 1 + (unsigned)length;
		text += length;
		text += *text == ',';
	}
	*alpn_out = alpn;
	return 0;
}

static bool alpn_has(const struct alpn *alpn, const uint8_t *name, unsigned length)
{
	for (unsigned at = 0; at < alpn->bytes; at += 1 + alpn->wire[at])
		if (alpn->wire[at] == length && memcmp(alpn->wire + at + 1, name, length) == 0)
			return true;
	return false;
}

/* RFC 7301, section 3.2: without a protocol in common the handshake ends. */
static int choose_alpn(SSL *ssl, const unsigned char **name_out, unsigned char *length_out,
		       const unsigned char *offered, unsigned bytes, void *known)
{
	for (unsigned at = 0; at < bytes; at += 1u + offered[at]) {
		if (!alpn_has(known, offered + at + 1, offered[at]))
			continue;
		*name_out = offered + at + 1;
		*length_out = offered[at];
		return SSL_TLSEXT_ERR_OK;
	}
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

static void free_alpn(void *parent, void *alpn, CRYPTO_EX_DATA *data, int index, long number,
		      void *pointer)
{
	OPENSSL_free(alpn);
}

static pthread_once_t alpn_once = PTHREAD_ONCE_INIT;
static int alpn_index;

static void make_alpn_index(void)
{
	alpn_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_alpn);
}

/* A server's list lives as long as its context, which owns it. */
static int serve_alpn(SSL_CTX *context, const struct alpn *alpn, struct tp_error *error)
{
	struct alpn *kept = OPENSSL_memdup(alpn, sizeof(*alpn));

	pthread_once(&alpn_once, make_alpn_index);
	if (!kept || alpn_index < 0 || !SSL_CTX_set_ex_data(context, alpn_index, kept)) {
		OPENSSL_free(kept);
		return tp_fail(error, -ENOMEM, "tls: no memory for the list of protocols");
	}
	SSL_CTX_set_alpn_select_cb(context, choose_alpn, kept);
	return 0;
}

static int set_alpn(SSL_CTX *context, const struct tls_config *config, struct tp_error *error)
{
	struct alpn alpn;
	int code;

	if (!config->alpn)
		return 0;
	code = encode_alpn(config->alpn, &alpn, error);
	if (code < 0)
		return code;
	if (config->server)
		return serve_alpn(context, &alpn, error);
	if (SSL_CTX_set_alpn_protos(context, alpn.wire, alpn.bytes) == 0)
		return 0;
	return tp_fail(error, -ENOMEM, "tls: no memory for the list of protocols");
}

/* --- the server's own --- */

static uint8_t ticket_keys[TICKET_KEY_BYTES];
static bool ticket_keys_made;
static pthread_once_t ticket_once = PTHREAD_ONCE_INIT;

static void make_ticket_keys(void)
{
	ticket_keys_made = RAND_priv_bytes(ticket_keys, sizeof(ticket_keys)) == 1;
}

/* One key for the process: what one worker sealed, every other opens. No state is kept. */
static int set_tickets(SSL_CTX *context, const struct tls_config *config, struct tp_error *error)
{
	static const uint8_t name[] = "weir";

	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	if (!config->resumption) {
		SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
		SSL_CTX_set_num_tickets(context, 0);
		return 0;
	}
	pthread_once(&ticket_once, make_ticket_keys);
	if (ticket_keys_made && SSL_CTX_set_session_id_context(context, name, sizeof(name)) &&
	    SSL_CTX_set_num_tickets(context, 1) &&
	    SSL_CTX_set_tlsext_ticket_keys(context, ticket_keys, sizeof(ticket_keys)))
		return 0;
	return tp_fail(error, -EINVAL, "tls: no keys for tickets: %s", tls_openssl_reason());
}

static int set_server(SSL_CTX *context, const struct tls_config *config, struct tp_error *error)
{
	int code = set_tickets(context, config, error);

	if (code < 0)
		return code;
	SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
	if (!config->certificate != !config->key)
		return tp_fail(error, -EINVAL,
			       "tls: a certificate and its key go together: the %s is missing",
			       config->key ? "certificate" : "key");
	if (!config->certificate)
		return tls_certificate_self_signed(context, error);
	return tls_certificate_load(context, config->certificate, config->key, error);
}

/* --- the client's own --- */

/* Keeps the newest session that a server gave; OpenSSL's reference becomes the instance's. */
static int keep_session(SSL *ssl, SSL_SESSION *session)
{
	struct tls_conn *conn = SSL_get_app_data(ssl);

	SSL_SESSION_free(conn->tls->session);
	conn->tls->session = session;
	return 1;
}

bool tls_is_address(const char *name)
{
	uint8_t address[16];

	return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}

/* The name that the certificate must have; a plain wildcard stands for one label. */
static int expect_name(SSL_CTX *context, const char *name, struct tp_error *error)
{
	X509_VERIFY_PARAM *param = SSL_CTX_get0_param(context);

	X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	if (tls_is_address(name) ? X509_VERIFY_PARAM_set1_ip_asc(param, name)
				 : X509_VERIFY_PARAM_set1_host(param, name, 0))
		return 0;
	return tp_fail(error, -EINVAL, "tls: '%s' is no name of a host", name);
}

static int trust(SSL_CTX *context, const struct tls_config *config, struct tp_error *error)
{
	ERR_clear_error();
	if (!config->authorities && SSL_CTX_set_default_verify_paths(context))
		return 0;
	if (config->authorities && SSL_CTX_load_verify_file(context, config->authorities))
		return 0;
	return tp_fail(error, -EINVAL,
		       "tls: no authorities in %s: %s; give a PEM file with the certificates to "
		       "trust",
		       config->authorities ? config->authorities : "this system's store",
		       tls_openssl_reason());
}

/* A certificate that is verified has to be somebody's. */
static int judge_name(const struct tls_config *config, struct tp_error *error)
{
	const char *name = config->server_name;

	if (!name && !config->insecure)
		return tp_fail(error, -EINVAL,
			       "tls: a certificate is verified for a name or an address; say whose "
			       "it must be");
	if (name && (!name[0] || strlen(name) >= TLS_NAME_BYTES))
		return tp_fail(error, -EINVAL, "tls: a host's name has 1 to %d bytes, not %zu",
			       TLS_NAME_BYTES - 1, strlen(name));
	return 0;
}

static int set_client(SSL_CTX *context, const struct tls_config *config, struct tp_error *error)
{
	int code = judge_name(config, error);

	if (code < 0)
		return code;
	if (config->resumption) {
		SSL_CTX_set_session_cache_mode(context,
					       SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
		SSL_CTX_sess_set_new_cb(context, keep_session);
	}
	if (config->insecure)
		return 0;
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
	code = trust(context, config, error);
	return code < 0 ? code : expect_name(context, config->server_name, error);
}

/* --- all of it --- */

static void set_manners(SSL_CTX *context)
{
	SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_mode(context,
			 SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	/* behind each message that is not data we look whether there were too many */
	SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
	SSL_CTX_set_msg_callback(context, tls_conn_on_message);
	SSL_CTX_set_info_callback(context, tls_conn_on_info);
}

int tls_context_create(const struct tls_config *config, SSL_CTX **context_out,
		       struct tp_error *error)
{
	SSL_CTX *context = SSL_CTX_new(TLS_method());
	int code;

	if (!context)
		return tp_fail(error, -ENOMEM, "tls: OpenSSL gives no context: %s",
			       tls_openssl_reason());
	set_manners(context);
	code = set_versions(context, config, error);
	if (code == 0)
		code = set_choices(context, config, error);
	if (code == 0)
		code = set_alpn(context, config, error);
	if (code == 0)
		code = config->server ? set_server(context, config, error)
				      : set_client(context, config, error);
	if (code < 0)
		SSL_CTX_free(context);
	else
		*context_out = context;
	return code;
}
