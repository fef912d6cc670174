/* What a server is not started with, and in which words; what it is told besides. */
#include "tests/support/suite.h"
#include "tests/unit/tls/pem.h"
#include "tests/unit/tls/rig.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char certificate[PEM_PATH], key[PEM_PATH], other[PEM_PATH];
static struct tls_config config;

static void begin(const struct pem_spec *spec)
{
	pem_path("server.crt", certificate);
	pem_path("server.key", key);
	pem_path("other", other);
	CU_ASSERT_TRUE_FATAL(pem_make(spec, certificate, key));
	config = (struct tls_config){
		.server = true, .version_max = TLS_1_3, .certificate = certificate, .key = key};
}

static const struct pem_spec good = {.name = "a.example", .days = 10};

/* The configuration is refused in words that have all of these. */
static void expect_refused(int code, const char *file, const char *reason, const char *remedy)
{
	struct tp_error error = {{0}};
	int status = tls_check(&config, &error);

	CU_ASSERT_EQUAL(status, code);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, file));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, reason));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, remedy));
	if (status != code || !strstr(error.text, reason) || !strstr(error.text, remedy))
		printf("# %d: %s\n", status, error.text);
	pem_clean();
}

static void good_pair_is_taken(void)
{
	struct tp_error error;

	begin(&good);
	CU_ASSERT_EQUAL(tls_check(&config, &error), 0);
	config.certificate = config.key = NULL;
	CU_ASSERT_EQUAL(tls_check(&config, &error), 0);
	pem_clean();
}

static void missing_files_are_named(void)
{
	begin(&good);
	unlink(certificate);
	expect_refused(-ENOENT, certificate, "No such file", "PEM");
	begin(&good);
	unlink(key);
	expect_refused(-ENOENT, key, "No such file", "PEM");
	begin(&good);
	config.key = NULL;
	expect_refused(-EINVAL, "key", "missing", "together");
	begin(&good);
	config.certificate = NULL;
	expect_refused(-EINVAL, "certificate", "missing", "together");
}

static void readable_key_is_refused(void)
{
	static const mode_t modes[] = {0644, 0640, 0604, 0620, 0601};

	for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		begin(&good);
		chmod(key, modes[i]);
		expect_refused(-EACCES, key, "others may", "chmod 600");
	}
}

static void encrypted_key_is_refused(void)
{
	static const struct pem_spec spec = {.name = "a.example", .days = 10, .encrypted = true};

	begin(&spec);
	expect_refused(-EINVAL, key, "encrypted", "openssl pkey");
}

static void foreign_key_is_refused(void)
{
	begin(&good);
	CU_ASSERT_TRUE(pem_make(&good, other, key));
	expect_refused(-EINVAL, key, "does not belong", "together");
}

static void key_of_another_type_is_refused(void)
{
	static const struct pem_spec rsa = {.name = "a.example", .days = 10, .rsa = true};
	struct tp_error error;

	begin(&rsa);
	CU_ASSERT_EQUAL(tls_check(&config, &error), 0);
	CU_ASSERT_TRUE(pem_make(&good, other, key));
	expect_refused(-EINVAL, key, "does not belong", "together");
	begin(&good);
	CU_ASSERT_TRUE(pem_make(&rsa, other, key));
	expect_refused(-EINVAL, key, "does not belong", "together");
}

static void dates_are_looked_at(void)
{
	static const struct pem_spec late = {.name = "a.example", .days = -1};
	static const struct pem_spec early = {.name = "a.example", .days = 10, .begins = 2};

	begin(&late);
	expect_refused(-EINVAL, certificate, "has expired", "renew");
	begin(&early);
	expect_refused(-EINVAL, certificate, "not valid yet", "clock");
}

static void write_text(const char *path, const char *mode, const char *text)
{
	FILE *file = fopen(path, mode);

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
}

static void damaged_files_are_refused(void)
{
	begin(&good);
	write_text(certificate, "w", "no certificate\n");
	expect_refused(-EINVAL, certificate, "no start line", "PEM");
	begin(&good);
	write_text(key, "w", "no key\n");
	expect_refused(-EINVAL, key, "no key in", "PEM");
	begin(&good);
	write_text(certificate, "a",
		   "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
	expect_refused(-EINVAL, certificate, "chain", "damaged");
}

static void wrong_choices_are_refused(void)
{
	begin(&good);
	config.ciphers = "no-such-cipher";
	expect_refused(-EINVAL, "no-such-cipher", "no cipher", "openssl ciphers");
	begin(&good);
	config.ciphersuites = "no-such-suite";
	expect_refused(-EINVAL, "no-such-suite", "no cipher suite", "openssl ciphers");
	begin(&good);
	config.groups = "no-such-group";
	expect_refused(-EINVAL, "no-such-group", "no group", "X25519");
	begin(&good);
	config.alpn = "a,,b";
	expect_refused(-EINVAL, ",b", "no list of protocols", "commas");
	begin(&good);
	config.version_min = TLS_1_3;
	config.version_max = TLS_1_2;
	expect_refused(-EINVAL, "1.3", "above", "1.2");
	config = (struct tls_config){.version_max = TLS_1_3, .authorities = certificate};
	expect_refused(-EINVAL, "certificate", "verified for a name", "say whose");
	config.authorities = "/nonexistent";
	config.server_name = "a.example";
	expect_refused(-EINVAL, "/nonexistent", "no authorities", "PEM");
}

static void refused_lower_stays_the_callers(void)
{
	static const struct tp_limits limits = {
		.conn_max = 2, .recv_bytes = 4096, .send_bytes = 4096};
	struct rig_pair pair = {0};
	struct tp_error error;
	struct tp *tp = NULL;

	rig_reset();
	rig_server.plain = rig_client.plain = true;
	CU_ASSERT_EQUAL_FATAL(rig_open(&limits, &limits, &pair, &error), 0);
	begin(&good);
	config.groups = "no-such-group";
	CU_ASSERT_EQUAL(tls_open(&config, &limits, pair.server, &tp, &error), -EINVAL);
	CU_ASSERT_PTR_NULL(tp);
	rig_close(&pair);
	pem_clean();
}

static void provider_is_named(void)
{
	CU_ASSERT_EQUAL(strncmp(tls_provider(), "OpenSSL 3.", 10), 0);
}

static const struct suite_test tests[] = {
	{"a certificate and its key are taken, and so are none", good_pair_is_taken},
	{"missing files are named", missing_files_are_named},
	{"a key that others may use is refused", readable_key_is_refused},
	{"an encrypted key is refused", encrypted_key_is_refused},
	{"a key of another certificate is refused", foreign_key_is_refused},
	{"a key of another type than the certificate's is refused", key_of_another_type_is_refused},
	{"a certificate out of its time is refused", dates_are_looked_at},
	{"damaged files are refused", damaged_files_are_refused},
	{"wrong choices are refused in words that help", wrong_choices_are_refused},
	{"a refused configuration leaves the transport to the caller",
	 refused_lower_stays_the_callers},
	{"the provider and its version are named", provider_is_named},
};

SUITE_MAIN("tls certificate", tests)
