#include "dataplane/tls/instance.h"

#include <openssl/bio.h>

/*
 * Reads from the spans that the lower transport lent for this visit; they are given back in one go
 * when it ends. An end of the stream is never told here: what it means depends on close_notify.
 */
static int bio_read(BIO *bio, char *to, int bytes)
{
	struct tls_conn *conn = BIO_get_data(bio);
	struct span_reader *input = &conn->tls->input;
	size_t step = input->left < (size_t)bytes ? input->left : (size_t)bytes;

	BIO_clear_retry_flags(bio);
	if (step == 0) {
		conn->tls->starved = true;
		BIO_set_retry_read(bio);
		return -1;
	}
	span_reader_copy(input, (uint8_t *)to, step);
	return (int)step;
}

/*
 * Writes straight into the lower transport's send memory, all or nothing, but no more than it has
 * at all. Refused, the bytes stay OpenSSL's until the lower transport's WRITABLE.
 */
static int bio_write(BIO *bio, const char *from, int bytes)
{
	struct tls_conn *conn = BIO_get_data(bio);
	size_t most = conn->tls->limits.send_bytes;
	size_t step = (size_t)bytes < most ? (size_t)bytes : most;
	struct room rooms[2];
	struct room_writer writer;
	unsigned count;

	BIO_clear_retry_flags(bio);
	if (!conn->lower || conn->lower_closed)
		return bytes; /* nobody is there to read it */
	count = tp_reserve(conn->tls->lower, conn->lower, step, rooms);
	if (count == 0) {
		BIO_set_retry_write(bio);
		return -1;
	}
	writer = room_writer_of(rooms, count);
	room_writer_put(&writer, (const uint8_t *)from, step);
	tp_commit(conn->tls->lower, conn->lower, step);
	conn->unflushed = true;
	return (int)step;
}

/* Flushing is the connection's business: a run of records is flushed once. */
static long bio_ctrl(BIO *bio, int command, long number, void *pointer)
{
	return command == BIO_CTRL_FLUSH;
}

BIO_METHOD *tls_bio_method_create(void)
{
	BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "weir");

	if (!method)
		return NULL;
	BIO_meth_set_read(method, bio_read);
	BIO_meth_set_write(method, bio_write);
	BIO_meth_set_ctrl(method, bio_ctrl);
	return method;
}

BIO *tls_bio_create(struct tls_conn *conn)
{
	BIO *bio = BIO_new(conn->tls->bio_method);

	if (!bio)
		return NULL;
	BIO_set_data(bio, conn);
	BIO_set_init(bio, 1);
	return bio;
}
