/*
 * pem: certificates and keys in files, good and bad, made for a test.
 *
 * They stand in a folder of the process's own, made when it is first asked for.
 */
#ifndef WEIR_TESTS_TLS_PEM_H
#define WEIR_TESTS_TLS_PEM_H

#include <stdbool.h>

enum { PEM_PATH = 128 };

struct pem_spec {
	const char *name; /* the host that the certificate is for */
	long days;	  /* from now that it is valid; below 0: it has expired */
	long begins;	  /* days from now when it begins, if it is still to come */
	bool encrypted;	  /* the key is */
	bool rsa;	  /* the key is of RSA, not of the curve P-256 */
};

/* The path of a file in the folder. */
void pem_path(const char *file, char path_out[PEM_PATH]);

/* Writes a self-signed certificate and its key, which its owner alone may read. */
bool pem_make(const struct pem_spec *spec, const char *certificate, const char *key);

/* Removes the folder and what is in it. */
void pem_clean(void);

#endif
