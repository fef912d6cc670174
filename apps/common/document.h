/*
 * document: a JSON object in a file that people write.
 *
 * Whatever is wrong with such a file is a problem that names it and, where it could be read, line
 * and column. The parser knows a place and its own words alone: of a word that is no JSON (08,
 * 1e400, NaN) the reader wants to know what is accepted there, of a key that is there twice both
 * places.
 *
 * Owned by the caller from load to fini. Plane: setup.
 */
#ifndef WEIR_APPS_DOCUMENT_H
#define WEIR_APPS_DOCUMENT_H

#include "apps/common/place.h"
#include "apps/common/problems.h"

#include <jansson.h>
#include <limits.h>

enum {
	DOCUMENT_BYTES_MAX = 1024 * 1024,
	/* A folder and a path, with a few characters around them. */
	DOCUMENT_TRIED_BYTES = 2 * PATH_MAX + 8,
};

struct document {
	const char *path; /* lent */
	/*
	 * Adds a problem for everything that a well-formed document may not say. It is also asked
	 * of one that has a word quoted that is no JSON, to learn what is accepted in its place.
	 */
	void (*judge)(const struct document *document, struct problems *problems);
	void *context; /* the judge's */
	char *text;    /* ended by a NUL; NULL before it is loaded */
	size_t text_bytes;
	json_t *json; /* the object; NULL before it is parsed */
};

/* Reads the text of its path, a regular file. 0, or -EINVAL with the reason in `problems`. */
int document_load(struct document *document, struct problems *problems);

/* Parses the text. 0, or -EINVAL with what is malformed in `problems`. */
int document_parse(struct document *document, struct problems *problems);

/* Frees what it owns; zeroed is fine. */
void document_fini(struct document *document);

/* " (PATH from the root)" for a relative path, which may have been meant from elsewhere, else "" */
const char *document_tried(const char *path, char text[DOCUMENT_TRIED_BYTES]);

#endif
