#include "dataplane/tls/tls_agreed.h"

#include "dataplane/tls/instance.h"

#include <openssl/ec.h>
#include <openssl/objects.h>
#include <stdio.h>
#include <string.h>

static bool is_same(const struct tls_agreed_row *one, const struct tls_agreed_row *other)
{
	return one->resumed == other->resumed && strcmp(one->cipher, other->cipher) == 0 &&
	       strcmp(one->group, other->group) == 0 && strcmp(one->version, other->version) == 0;
}

void tls_agreed_add(struct tls_agreed *agreed, const struct tls_agreed_row *row)
{
	for (unsigned i = 0; i < agreed->rows; i++) {
		if (!is_same(&agreed->row[i], row))
			continue;
		agreed->row[i].conns += row->conns;
		return;
	}
	if (agreed->rows < TLS_AGREED_ROWS)
		agreed->row[agreed->rows++] = *row;
	else
		agreed->other_conns += row->conns;
}

void tls_agreed_merge(struct tls_agreed *sum, const struct tls_agreed *agreed)
{
	for (unsigned i = 0; i < agreed->rows; i++)
		tls_agreed_add(sum, &agreed->row[i]);
	sum->other_conns += agreed->other_conns;
}

struct tls_agreed tls_agreed_of(const struct tp *tp)
{
	if (tp->ops->poll != tls_poll)
		return (struct tls_agreed){0};
	return ((const struct tls *)tp)->agreed;
}

const char *tls_agreed_print(const struct tls_agreed_row *row, char text[TLS_AGREED_TEXT])
{
	snprintf(text, TLS_AGREED_TEXT, "%s %s %s%s", row->version, row->cipher, row->group,
		 row->resumed ? " resumed" : "");
	return text;
}

/* By the name that --tls-groups takes; a group that OpenSSL has no number for is only told so. */
static const char *group_of(SSL *ssl)
{
	int number = (int)SSL_get_negotiated_group(ssl);
	const char *name = EC_curve_nid2nist(number);

	if (number == NID_undef)
		return "none";
	if (!name)
		name = OBJ_nid2sn(number);
	return name ? name : "unnamed";
}

void tls_conn_count_agreed(struct tls_conn *conn)
{
	const struct tls_agreed_row row = {.version = SSL_get_version(conn->ssl),
					   .cipher = SSL_get_cipher_name(conn->ssl),
					   .group = group_of(conn->ssl),
					   .resumed = SSL_session_reused(conn->ssl) != 0,
					   .conns = 1};

	tls_agreed_add(&conn->tls->agreed, &row);
}
