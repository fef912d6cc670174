#include "tests/unit/tls/pem.h"

#include <dirent.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DAY = 86400 };

static char folder[] = "/tmp/weir-tls-XXXXXX";
static bool made;

void pem_path(const char *file, char path_out[PEM_PATH])
{
	if (!made && !mkdtemp(folder))
		abort();
	made = true;
	snprintf(path_out, PEM_PATH, "%s/%s", folder, file);
}

static X509 *sign(const struct pem_spec *spec, EVP_PKEY *key)
{
	X509 *certificate = X509_new();
	X509_NAME *name = X509_get_subject_name(certificate);
	X509_EXTENSION *extension;
	char names[128];

	snprintf(names, sizeof(names), "DNS:%s", spec->name);
	extension = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, names);
	X509_set_version(certificate, X509_VERSION_3);
	X509_gmtime_adj(X509_getm_notBefore(certificate),
			spec->begins ? spec->begins * DAY : -40 * DAY);
	X509_gmtime_adj(X509_getm_notAfter(certificate), spec->days * DAY);
	X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_ASC,
				   (const unsigned char *)spec->name, -1, -1, 0);
	X509_set_issuer_name(certificate, name);
	X509_set_pubkey(certificate, key);
	X509_add_ext(certificate, extension, -1);
	X509_EXTENSION_free(extension);
	X509_sign(certificate, key, EVP_sha256());
	return certificate;
}

static bool write_key(EVP_PKEY *key, const char *path, bool encrypted)
{
	FILE *file = fopen(path, "w");
	unsigned char word[] = "secret";
	int done;

	if (!file)
		return false;
	fchmod(fileno(file), 0600);
	done = PEM_write_PrivateKey(file, key, encrypted ? EVP_aes_128_cbc() : NULL,
				    encrypted ? word : NULL, encrypted ? 6 : 0, NULL, NULL);
	fclose(file);
	return done == 1;
}

bool pem_make(const struct pem_spec *spec, const char *certificate_path, const char *key_path)
{
	EVP_PKEY *key = spec->rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256");
	X509 *certificate = sign(spec, key);
	FILE *file = fopen(certificate_path, "w");
	bool done = file && PEM_write_X509(file, certificate) &&
		    write_key(key, key_path, spec->encrypted);

	if (file)
		fclose(file);
	X509_free(certificate);
	EVP_PKEY_free(key);
	return done;
}

void pem_clean(void)
{
	DIR *open_folder = made ? opendir(folder) : NULL;
	struct dirent *entry;

	while (open_folder && (entry = readdir(open_folder)))
		unlinkat(dirfd(open_folder), entry->d_name, 0);
	if (open_folder)
		closedir(open_folder);
	rmdir(folder);
	made = false;
	snprintf(folder, sizeof(folder), "/tmp/weir-tls-XXXXXX");
}
