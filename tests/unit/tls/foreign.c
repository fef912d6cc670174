#include "tests/unit/tls/foreign.h"

#include "dataplane/tls/instance.h"
#include "tests/support/suite.h"

enum { TURNS = 20000, PIECE = 1024 };

static void on_info(const SSL *ssl, int where, int value)
{
	struct foreign *foreign = SSL_get_app_data(ssl);

	if ((where & SSL_CB_READ_ALERT) == SSL_CB_READ_ALERT)
		foreign->alert = value & 0xff;
}

static void open_over(struct foreign *foreign, SSL_CTX *context)
{
	*foreign = (struct foreign){.alert = -1, .context = context};
	SSL_CTX_set_info_callback(context, on_info);
	foreign->ssl = SSL_new(context);
	foreign->in = BIO_new(BIO_s_mem());
	foreign->out = BIO_new(BIO_s_mem());
	SSL_set_bio(foreign->ssl, foreign->in, foreign->out);
	SSL_set_app_data(foreign->ssl, foreign);
}

void foreign_open(struct foreign *foreign)
{
	open_over(foreign, SSL_CTX_new(TLS_client_method()));
	SSL_set_connect_state(foreign->ssl);
}

void foreign_open_server(struct foreign *foreign)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());
	struct tp_error error;

	CU_ASSERT_EQUAL(tls_certificate_self_signed(context, &error), 0);
	open_over(foreign, context);
	SSL_set_accept_state(foreign->ssl);
}

static bool is_over(const struct foreign *foreign)
{
	return foreign->seen->bits & TP_CLOSED;
}

static void send_out(struct foreign *foreign)
{
	uint8_t piece[PIECE];
	size_t most = foreign->step_bytes ? foreign->step_bytes : PIECE;
	int bytes;

	while (!is_over(foreign) && (bytes = BIO_read(foreign->out, piece, (int)most)) > 0) {
		CU_ASSERT_TRUE(seen_write(foreign->seen, piece, (size_t)bytes));
		if (foreign->step_bytes)
			return;
	}
}

void foreign_turn(struct world *world, struct foreign *foreign)
{
	uint8_t piece[PIECE];
	size_t bytes;

	send_out(foreign);
	world_turn(world);
	while ((bytes = seen_read(foreign->seen, piece, sizeof(piece))) > 0)
		BIO_write(foreign->in, piece, (int)bytes);
}

/* Whether the handshake can still come to something. */
static bool shakes_hands(struct foreign *foreign)
{
	int done = SSL_do_handshake(foreign->ssl);

	return done != 1 && SSL_get_error(foreign->ssl, done) == SSL_ERROR_WANT_READ;
}

void foreign_try(struct world *world, struct foreign *foreign)
{
	foreign->seen = world_connect(world);
	for (unsigned i = 0; i < TURNS && shakes_hands(foreign) && !is_over(foreign); i++)
		foreign_turn(world, foreign);
}

bool foreign_join(struct world *world, struct foreign *foreign)
{
	unsigned before = world->accepted_count;

	foreign_try(world, foreign);
	for (unsigned i = 0; i < TURNS && world->accepted_count == before; i++)
		foreign_turn(world, foreign);
	if (world->accepted_count == before)
		return false;
	foreign->server = world->accepted[before];
	return SSL_is_init_finished(foreign->ssl);
}

bool foreign_meet(struct world *world, struct foreign *foreign)
{
	unsigned before = world->accepted_count;

	foreign->server = world_connect(world);
	for (unsigned i = 0; i < TURNS && world->accepted_count == before; i++)
		world_turn(world);
	if (world->accepted_count == before)
		return false;
	foreign->seen = world->accepted[before];
	return true;
}

bool foreign_accept(struct world *world, struct foreign *foreign)
{
	if (!foreign_meet(world, foreign))
		return false;
	for (unsigned i = 0; i < TURNS && shakes_hands(foreign) && !is_over(foreign); i++)
		foreign_turn(world, foreign);
	return foreign_until(world, foreign, TP_CONNECTED) && SSL_is_init_finished(foreign->ssl);
}

bool foreign_until(struct world *world, struct foreign *foreign, unsigned bits)
{
	for (unsigned i = 0; i < TURNS && (foreign->server->bits & bits) != bits; i++)
		foreign_turn(world, foreign);
	return (foreign->server->bits & bits) == bits;
}

int foreign_alert(struct world *world, struct foreign *foreign)
{
	uint8_t byte;

	for (unsigned i = 0; i < TURNS && foreign->alert < 0; i++) {
		foreign_turn(world, foreign);
		SSL_read(foreign->ssl, &byte, 1);
	}
	return foreign->alert;
}

void foreign_inject(struct foreign *foreign, const void *bytes, size_t count)
{
	BIO_write(foreign->out, bytes, (int)count);
}

void foreign_close(struct foreign *foreign)
{
	SSL_free(foreign->ssl);
	SSL_CTX_free(foreign->context);
}
