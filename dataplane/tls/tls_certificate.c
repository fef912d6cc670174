#include "dataplane/tls/instance.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

enum { SELF_SIGNED_DAYS = 365 };

/* --- reading files --- */

static int open_file(const char *what, const char *path, FILE **file_out, struct tp_error *error)
{
	*file_out = fopen(path, "re");
	if (*file_out)
		return 0;
	return tp_fail(error, -errno, "tls: cannot read the %s %s: %s; give a PEM file", what, path,
		       strerror(errno));
}

static int check_dates(const char *path, const X509 *certificate, struct tp_error *error)
{
	if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0)
		return tp_fail(error, -EINVAL,
			       "tls: the certificate %s has expired; renew it, or look at "
			       "this host's clock",
			       path);
	if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0)
		return tp_fail(error, -EINVAL,
			       "tls: the certificate %s is not valid yet; look at this "
			       "host's clock",
			       path);
	return 0;
}

/* The certificates behind the first: the chain that is sent with it. */
static int read_chain(SSL_CTX *context, const char *path, FILE *file, struct tp_error *error)
{
	X509 *link;

	while ((link = PEM_read_X509(file, NULL, NULL, NULL))) {
		if (!SSL_CTX_add0_chain_cert(context, link)) {
			X509_free(link);
			return tp_fail(error, -EINVAL, "tls: the chain in %s is refused: %s", path,
				       tls_openssl_reason());
		}
	}
	if (ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE)
		return 0;
	return tp_fail(error, -EINVAL, "tls: the chain in %s is damaged: %s", path,
		       tls_openssl_reason());
}

static int load_chain(SSL_CTX *context, const char *path, struct tp_error *error)
{
	X509 *certificate = NULL;
	FILE *file;
	int code = open_file("certificate", path, &file, error);

	if (code < 0)
		return code;
	ERR_clear_error();
	certificate = PEM_read_X509_AUX(file, NULL, NULL, NULL);
	if (!certificate)
		code = tp_fail(error, -EINVAL,
			       "tls: no certificate in %s: %s; give a PEM file that begins with "
			       "the server's own",
			       path, tls_openssl_reason());
	else
		code = check_dates(path, certificate, error);
	if (code == 0 && !SSL_CTX_use_certificate(context, certificate))
		code = tp_fail(error, -EINVAL,
			       "tls: the certificate %s is refused: %s; take a "
			       "larger key or a newer digest",
			       path, tls_openssl_reason());
	if (code == 0)
		code = read_chain(context, path, file, error);
	X509_free(certificate);
	fclose(file);
	return code;
}

/* A key that others may read is no secret; looked at by the descriptor that it is read from. */
static int check_mode(const char *path, FILE *file, struct tp_error *error)
{
	struct stat status;

	if (fstat(fileno(file), &status) < 0)
		return tp_fail(error, -errno, "tls: cannot look at the key %s: %s", path,
			       strerror(errno));
	if (status.st_mode & (S_IRWXG | S_IRWXO))
		return tp_fail(error, -EACCES,
			       "tls: others may read the key %s (mode %04o); do `chmod 600 %s`",
			       path, (unsigned)status.st_mode & 07777, path);
	return 0;
}

/* Called for an encrypted key alone: notes that, and gives no password. */
static int refuse_password(char *buffer, int room, int writing, void *asked)
{
	*(bool *)asked = true;
	return -1;
}

/*
 * OpenSSL keeps a slot for each type of key, so that a key of another type than the certificate's
 * would be taken beside it; the pair itself is judged first.
 */
static bool take_key(SSL_CTX *context, EVP_PKEY *key)
{
	return X509_check_private_key(SSL_CTX_get0_certificate(context), key) &&
	       SSL_CTX_use_PrivateKey(context, key);
}

static int read_key(SSL_CTX *context, const char *path, FILE *file, struct tp_error *error)
{
	bool encrypted = false;
	EVP_PKEY *key;
	int code = 0;

	ERR_clear_error();
	key = PEM_read_PrivateKey(file, NULL, refuse_password, &encrypted);
	if (encrypted)
		code = tp_fail(error, -EINVAL,
			       "tls: the key %s is encrypted; decrypt it with `openssl pkey -in "
			       "%s -out KEY` and keep that to yourself",
			       path, path);
	else if (!key)
		code = tp_fail(error, -EINVAL, "tls: no key in %s: %s; give a PEM file", path,
			       tls_openssl_reason());
	else if (!take_key(context, key))
		code = tp_fail(error, -EINVAL,
			       "tls: the key %s does not belong to the certificate: %s; give the "
			       "pair that was made together",
			       path, tls_openssl_reason());
	EVP_PKEY_free(key);
	return code;
}

static int load_key(SSL_CTX *context, const char *path, struct tp_error *error)
{
	FILE *file;
	int code = open_file("key", path, &file, error);

	if (code < 0)
		return code;
	code = check_mode(path, file, error);
	if (code == 0)
		code = read_key(context, path, file, error);
	fclose(file);
	return code;
}

int tls_certificate_load(SSL_CTX *context, const char *certificate, const char *key,
			 struct tp_error *error)
{
	int code = load_chain(context, certificate, error);

	return code < 0 ? code : load_key(context, key, error);
}

/* --- self-signed --- */

static X509 *own_certificate;
static EVP_PKEY *own_key;
static pthread_once_t own_once = PTHREAD_ONCE_INIT;

static bool add_extension(X509 *certificate, int name, const char *value)
{
	X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, name, value);
	bool added = extension && X509_add_ext(certificate, extension, -1);

	X509_EXTENSION_free(extension);
	return added;
}

static bool fill_certificate(X509 *certificate, EVP_PKEY *key)
{
	X509_NAME *name = X509_get_subject_name(certificate);
	static const uint8_t common_name[] = "weir";

	return X509_set_version(certificate, X509_VERSION_3) &&
	       ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), 1) &&
	       X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) &&
	       X509_gmtime_adj(X509_getm_notAfter(certificate), SELF_SIGNED_DAYS * 86400L) &&
	       X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_ASC, common_name, -1, -1,
					  0) &&
	       X509_set_issuer_name(certificate, name) && X509_set_pubkey(certificate, key) &&
	       add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE") &&
	       add_extension(certificate, NID_subject_alt_name,
			     "DNS:localhost,DNS:weir,IP:127.0.0.1,IP:::1") &&
	       X509_sign(certificate, key, EVP_sha256()) > 0;
}

static void make_own(void)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *certificate = X509_new();

	if (key && certificate && fill_certificate(certificate, key)) {
		own_certificate = certificate;
		own_key = key;
		return;
	}
	X509_free(certificate);
	EVP_PKEY_free(key);
}

int tls_certificate_self_signed(SSL_CTX *context, struct tp_error *error)
{
	ERR_clear_error();
	pthread_once(&own_once, make_own);
	if (own_certificate && SSL_CTX_use_certificate(context, own_certificate) &&
	    SSL_CTX_use_PrivateKey(context, own_key))
		return 0;
	return tp_fail(error, -EINVAL,
		       "tls: no self-signed certificate can be made: %s; give a certificate and "
		       "a key",
		       tls_openssl_reason());
}
