/*
 * tls_bench: what the TLS stage adds to its cipher.
 *
 * Seals records of 16 KiB through a TLS instance whose lower transport takes everything and keeps
 * nothing, and the same bytes with the cipher alone (EVP, a new nonce and the record's head as
 * associated data each time), in turns in one process. Prints throughput and ratio for each cipher;
 * the goal is a ratio of 0.85. Arguments: records a round, rounds, part of a cipher's name.
 */
#include "dataplane/core/clock.h"
#include "dataplane/tls/tls.h"
#include "stacks/memory/memory.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD = TLS_RECORD_BYTES, TAG = 16, NONCE = 12, HEAD = 5, ROUNDS_MAX = 101, TURNS = 1000 };

struct cipher {
	const char *suite;
	const EVP_CIPHER *(*evp)(void);
};

static const struct cipher ciphers[] = {
	{"TLS_AES_128_GCM_SHA256", EVP_aes_128_gcm},
	{"TLS_AES_256_GCM_SHA384", EVP_aes_256_gcm},
	{"TLS_CHACHA20_POLY1305_SHA256", EVP_chacha20_poly1305},
};

static const struct tp_limits limits = {.conn_max = 4, .recv_bytes = 65536, .send_bytes = 65536};

static void stop_if(bool wrong, const char *what)
{
	if (!wrong)
		return;
	fprintf(stderr, "tls_bench: %s\n", what);
	exit(1);
}

/* --- a lower transport that takes everything, once the handshake is over --- */

struct sink {
	struct tp base;
	struct tp_ops ops;
	struct tp *below;
	bool swallows;
	uint8_t bytes[65536];
};

static struct sink *sink_of(struct tp *tp)
{
	return (struct sink *)tp;
}

static int sink_listen(struct tp *tp, const struct tp_addr *addr, struct tp_error *error)
{
	return memory_ops.listen(sink_of(tp)->below, addr, error);
}

static unsigned sink_poll(struct tp *tp, struct tp_event *events, unsigned room, uint64_t wait_ns,
			  struct tp_turn *turn)
{
	return tp_poll(sink_of(tp)->below, events, room, wait_ns, turn);
}

static unsigned sink_peek(struct tp *tp, struct tp_conn *conn, struct span *spans, unsigned room)
{
	return tp_peek(sink_of(tp)->below, conn, spans, room);
}

static void sink_consume(struct tp *tp, struct tp_conn *conn, size_t bytes)
{
	tp_consume(sink_of(tp)->below, conn, bytes);
}

static unsigned sink_reserve(struct tp *tp, struct tp_conn *conn, size_t bytes,
			     struct room rooms[2])
{
	struct sink *sink = sink_of(tp);

	if (!sink->swallows)
		return tp_reserve(sink->below, conn, bytes, rooms);
	rooms[0] = (struct room){sink->bytes, bytes};
	return 1;
}

static void sink_commit(struct tp *tp, struct tp_conn *conn, size_t bytes)
{
	if (!sink_of(tp)->swallows)
		tp_commit(sink_of(tp)->below, conn, bytes);
}

static void sink_flush(struct tp *tp, struct tp_conn *conn)
{
	if (!sink_of(tp)->swallows)
		tp_flush(sink_of(tp)->below, conn);
}

static void sink_close(struct tp *tp)
{
	memory_ops.close(sink_of(tp)->below);
	free(tp);
}

static struct sink *sink_create(struct tp *below)
{
	struct sink *sink = calloc(1, sizeof(*sink));

	stop_if(!sink, "no memory");
	sink->ops = memory_ops;
	sink->ops.listen = sink_listen;
	sink->ops.poll = sink_poll;
	sink->ops.peek = sink_peek;
	sink->ops.consume = sink_consume;
	sink->ops.reserve = sink_reserve;
	sink->ops.commit = sink_commit;
	sink->ops.flush = sink_flush;
	sink->ops.close = sink_close;
	sink->base.ops = &sink->ops;
	sink->below = below;
	return sink;
}

/* --- a connection of one cipher --- */

struct stage {
	struct memory_net *net;
	struct sink *sink;
	struct tp *server;
	struct tp *client;
	struct tp_conn *conn; /* the server's end */
};

static struct tp *open_tls(struct tp *lower, bool server, const char *suite)
{
	const struct tls_config config = {.server = server,
					  .insecure = !server,
					  .ciphersuites = suite,
					  .version_min = TLS_1_3,
					  .version_max = TLS_1_3};
	struct tp_error error;
	struct tp *tp = NULL;

	stop_if(tls_open(&config, &limits, lower, &tp, &error) < 0, error.text);
	return tp;
}

static struct tp *open_memory(struct memory_net *net)
{
	const struct tp_config config = {.shared = net, .limits = limits, .cpu = -1, .workers = 1};
	struct tp_error error;
	struct tp *tp = NULL;

	stop_if(memory_ops.open(&config, &tp, &error) < 0, error.text);
	return tp;
}

static void stage_open(struct stage *stage, const char *suite)
{
	const struct tp_addr addr = {.port = 1};
	struct tp_event events[4];
	struct tp_conn *client;
	struct tp_error error;
	struct tp_turn turn;

	*stage = (struct stage){0};
	stop_if(memory_net_create(&stage->net) < 0, "no memory");
	stage->sink = sink_create(open_memory(stage->net));
	stage->server = open_tls(&stage->sink->base, true, suite);
	stage->client = open_tls(open_memory(stage->net), false, suite);
	stop_if(stage->server->ops->listen(stage->server, &addr, &error) < 0, error.text);
	stop_if(stage->client->ops->connect(stage->client, &addr, NULL, &client, &error) < 0,
		error.text);
	for (unsigned i = 0; i < TURNS && !stage->conn; i++) {
		tp_poll(stage->client, events, 4, 0, &turn);
		if (tp_poll(stage->server, events, 4, 0, &turn) > 0)
			stage->conn = events[0].conn;
	}
	stop_if(!stage->conn, "no handshake");
	stop_if(strcmp(tls_conn_cipher(stage->conn), suite) != 0, "another cipher was chosen");
	stage->sink->swallows = true;
}

static void stage_close(struct stage *stage)
{
	stage->client->ops->close(stage->client);
	stage->server->ops->close(stage->server);
	memory_net_destroy(stage->net);
}

/* --- the two ways --- */

static double stage_seal(struct stage *stage, unsigned records)
{
	uint64_t start_ns = clock_now_ns();
	struct room rooms[2];

	for (unsigned i = 0; i < records; i++) {
		stop_if(tp_reserve(stage->server, stage->conn, RECORD, rooms) != 1, "refused");
		tp_commit(stage->server, stage->conn, RECORD);
		tp_flush(stage->server, stage->conn);
	}
	return (double)records * RECORD / (double)(clock_now_ns() - start_ns);
}

static double bare_seal(EVP_CIPHER_CTX *context, unsigned records)
{
	static uint8_t from[RECORD], to[RECORD + TAG];
	static const uint8_t head[HEAD] = {23, 3, 3, 0x40, 0x11};
	uint8_t nonce[NONCE] = {0};
	uint64_t start_ns = clock_now_ns();
	int bytes;

	for (unsigned i = 0; i < records; i++) {
		memcpy(nonce, &i, sizeof(i));
		EVP_EncryptInit_ex(context, NULL, NULL, NULL, nonce);
		EVP_EncryptUpdate(context, NULL, &bytes, head, HEAD);
		EVP_EncryptUpdate(context, to, &bytes, from, RECORD);
		EVP_EncryptFinal_ex(context, to + bytes, &bytes);
		EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG, to + RECORD);
	}
	return (double)records * RECORD / (double)(clock_now_ns() - start_ns);
}

static int compare(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

static double median(double *values, unsigned count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

static void measure(const struct cipher *cipher, unsigned records, unsigned rounds)
{
	static const uint8_t key[32] = {1};
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	double bare[ROUNDS_MAX], sealed[ROUNDS_MAX], ratio[ROUNDS_MAX];
	struct stage stage;

	stage_open(&stage, cipher->suite);
	EVP_EncryptInit_ex(context, cipher->evp(), NULL, key, NULL);
	for (unsigned i = 0; i < rounds; i++) {
		bare[i] = bare_seal(context, records);
		sealed[i] = stage_seal(&stage, records);
		ratio[i] = sealed[i] / bare[i];
	}
	printf("%-30s %10.2f %10.2f %8.3f\n", cipher->suite, median(bare, rounds),
	       median(sealed, rounds), median(ratio, rounds));
	EVP_CIPHER_CTX_free(context);
	stage_close(&stage);
}

int main(int argc, char **argv)
{
	unsigned records = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2000;
	unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 11;
	const char *part = argc > 3 ? argv[3] : "";

	if (records == 0 || rounds == 0 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: tls_bench [RECORDS [ROUNDS, at most %d [CIPHER]]]\n",
			ROUNDS_MAX);
		return 4;
	}
	clock_start();
	printf("%s; records of 16 KiB, TLS 1.3\n", tls_provider());
	printf("%-30s %10s %10s %8s\n", "cipher", "bare GB/s", "TLS GB/s", "ratio");
	for (unsigned i = 0; i < sizeof(ciphers) / sizeof(ciphers[0]); i++)
		if (strstr(ciphers[i].suite, part))
			measure(&ciphers[i], records, rounds);
	return 0;
}
