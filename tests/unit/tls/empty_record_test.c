/*
 * Records of application data with nothing in them: TLS 1.3 allows them (RFC 8446, section 5.1),
 * OpenSSL sends none, so they are sealed here with the keys that a foreign peer agreed on.
 */
#include "tests/support/suite.h"
#include "tests/unit/tls/foreign.h"
#include "tests/unit/tls/rig.h"

#include <openssl/hmac.h>
#include <string.h>

enum { SECRET = 32, KEY = 16, NONCE = 12, TAG = 16, HEAD = 5, MOST = 64 };

static struct world world;
static struct foreign foreign;

/* --- records of our own making --- */

static uint8_t secret[SECRET];
static const char *wanted_secret; /* of whom that sends */
static uint64_t sealed_count;

/* "CLIENT_TRAFFIC_SECRET_0 RANDOM SECRET", both in hex. */
static void take_secret(const SSL *ssl, const char *line)
{
	if (strncmp(line, wanted_secret, strlen(wanted_secret)) != 0)
		return;
	line = strrchr(line, ' ') + 1;
	for (unsigned i = 0; i < SECRET; i++)
		CU_ASSERT_EQUAL(sscanf(line + 2 * i, "%2hhx", &secret[i]), 1);
}

/* HKDF-Expand-Label of at most one block: RFC 8446, section 7.1; RFC 5869, section 2.3. */
static void expand(const char *label, uint8_t *to, uint8_t bytes)
{
	uint8_t info[64] = {0, bytes}, block[SECRET];
	size_t at = 2;

	info[at++] = (uint8_t)(6 + strlen(label));
	at += (size_t)sprintf((char *)info + at, "tls13 %s", label);
	info[at++] = 0;
	info[at++] = 1;
	HMAC(EVP_sha256(), secret, SECRET, info, at, block, NULL);
	memcpy(to, block, bytes);
}

/* Seals and sends the next record, of so many bytes 'x'. */
static void send_sealed(size_t bytes)
{
	uint8_t key[KEY], nonce[NONCE], plain[MOST], record[HEAD + MOST + TAG];
	size_t inner = bytes + 1;
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	int step;

	memset(plain, 'x', bytes);
	plain[bytes] = SSL3_RT_APPLICATION_DATA;
	memcpy(record, (uint8_t[]){SSL3_RT_APPLICATION_DATA, 3, 3, 0, (uint8_t)(inner + TAG)},
	       HEAD);
	expand("key", key, KEY);
	expand("iv", nonce, NONCE);
	for (unsigned i = 0; i < 8; i++)
		nonce[NONCE - 1 - i] ^= (uint8_t)(sealed_count >> 8 * i);
	sealed_count++;
	EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), NULL, key, nonce);
	EVP_EncryptUpdate(context, NULL, &step, record, HEAD);
	EVP_EncryptUpdate(context, record + HEAD, &step, plain, (int)inner);
	EVP_EncryptFinal_ex(context, record + HEAD + step, &step);
	EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG, record + HEAD + inner);
	EVP_CIPHER_CTX_free(context);
	foreign_inject(&foreign, record, HEAD + inner + TAG);
}

/* --- a foreign peer on either side --- */

static bool join(bool foreign_serves, uint32_t recv_bytes)
{
	const struct tp_limits large = {.conn_max = 16, .recv_bytes = 65536, .send_bytes = 65536};
	const struct tp_limits ours = {
		.conn_max = 16, .recv_bytes = recv_bytes, .send_bytes = 65536};

	rig_reset();
	rig_server.plain = rig_client.in_crumbs = foreign_serves;
	rig_client.plain = rig_server.in_crumbs = !foreign_serves;
	if (!world_open_uneven(&world, foreign_serves ? &large : &ours,
			       foreign_serves ? &ours : &large))
		return false;
	if (foreign_serves)
		foreign_open_server(&foreign);
	else
		foreign_open(&foreign);
	sealed_count = 0;
	wanted_secret = foreign_serves ? "SERVER_TRAFFIC_SECRET_0" : "CLIENT_TRAFFIC_SECRET_0";
	SSL_CTX_set_keylog_callback(foreign.context, take_secret);
	SSL_set_num_tickets(foreign.ssl, 0);
	SSL_set_ciphersuites(foreign.ssl, "TLS_AES_128_GCM_SHA256");
	if (foreign_serves ? foreign_accept(&world, &foreign) : foreign_join(&world, &foreign))
		return true;
	CU_FAIL("no handshake");
	return false;
}

static void close_all(void)
{
	foreign_close(&foreign);
	world_close(&world);
}

/* --- the tests, for both sides --- */

/* Between them stands a byte: it alone is told of, once, and the connection goes on. */
static void pass_over(bool foreign_serves)
{
	enum { FEW = 20 };
	uint8_t bytes[8];
	int received = -1;

	if (!join(foreign_serves, 65536))
		return;
	for (unsigned i = 0; i < 2 * FEW + 1; i++)
		send_sealed(i == FEW);
	CU_ASSERT_TRUE(foreign_until(&world, &foreign, TP_READABLE));
	world_idle(&world);
	CU_ASSERT_EQUAL(seen_count(foreign.server, TP_READABLE), 1);
	CU_ASSERT_EQUAL(seen_read(foreign.server, bytes, sizeof(bytes)), 1);
	CU_ASSERT_EQUAL(bytes[0], 'x');
	CU_ASSERT_FALSE(foreign.server->bits & TP_CLOSED);
	CU_ASSERT_TRUE(seen_write(foreign.server, bytes, 1));
	for (unsigned i = 0; i < 1000 && received < 0; i++) {
		foreign_turn(&world, &foreign);
		received = SSL_read(foreign.ssl, bytes, sizeof(bytes));
	}
	CU_ASSERT_EQUAL(received, 1);
	close_all();
}

static void few_are_passed_over(void)
{
	pass_over(false);
	pass_over(true);
}

static void break_flood(bool foreign_serves)
{
	enum { MANY = 1000 };

	if (!join(foreign_serves, 65536))
		return;
	for (unsigned i = 0; i < MANY; i++)
		send_sealed(0);
	CU_ASSERT_TRUE(foreign_until(&world, &foreign, TP_CLOSED));
	CU_ASSERT_EQUAL(foreign.server->reason, TP_FAILED);
	CU_ASSERT_EQUAL(seen_count(foreign.server, TP_CLOSED), 1);
	CU_ASSERT_EQUAL(seen_count(foreign.server, TP_READABLE), 0);
	CU_ASSERT_PTR_NOT_NULL(tp_fault_of(foreign.server->tp, foreign.server->conn).text);
	CU_ASSERT_EQUAL(rig_detail(foreign.server->tp, "broken"), 1);
	close_all();
}

static void flood_breaks_its_connection(void)
{
	break_flood(false);
	break_flood(true);
}

/* With a byte now and then a flood is legal; a turn takes no more of it than receive memory. */
static void bound_share(bool foreign_serves)
{
	enum { GROUPS = 80, EMPTY = 30, RECV = 8192, TURNS = 1000 };
	uint8_t bytes[GROUPS];
	size_t received = 0;
	unsigned turns = 0;

	if (!join(foreign_serves, RECV))
		return;
	for (unsigned i = 0; i < GROUPS * (EMPTY + 1); i++)
		send_sealed(i % (EMPTY + 1) == EMPTY);
	for (; turns < TURNS && received < GROUPS; turns++) {
		uint64_t before = rig_consumed_bytes;

		foreign_turn(&world, &foreign);
		CU_ASSERT_TRUE(rig_consumed_bytes - before <= RECV);
		received += seen_read(foreign.server, bytes, sizeof(bytes));
	}
	CU_ASSERT_EQUAL(received, GROUPS);
	CU_ASSERT_TRUE(turns >= sealed_count * (HEAD + 1 + TAG) / RECV);
	CU_ASSERT_FALSE(foreign.server->bits & TP_CLOSED);
	close_all();
}

static void legal_flood_has_a_share(void)
{
	bound_share(false);
	bound_share(true);
}

static const struct suite_test tests[] = {
	{"a few are passed over, and what stands between them arrives", few_are_passed_over},
	{"a flood breaks its connection", flood_breaks_its_connection},
	{"a flood with bytes between has a bounded share of a turn", legal_flood_has_a_share},
};

SUITE_MAIN("tls empty record", tests)
