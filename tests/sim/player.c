#include "tests/sim/player.h"

#include "dataplane/core/bytes.h"
#include "dataplane/core/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct player_numbers player_numbers[] = {
	{1000, 5000},
	{0xffffffff, 0xffffffff}, /* the SYN is the last number */
	{0xfffffffe, 0xfffffffd}, /* the wrap is just behind the handshake */
	{0xfffffff8, 0xfffffff0}, /* within the first bytes */
	{0xfffffc18, 0xfffff800}, /* within the first segments */
	{0xffffc800, 0xffffd000}, /* within the first window */
	{0x7ffffffc, 0x7ffffff8}, /* where a signed comparison would change its mind */
};
const unsigned player_numbers_count = sizeof(player_numbers) / sizeof(player_numbers[0]);

static void __attribute__((format(printf, 2, 3)))
fail(struct player *player, const char *format, ...)
{
	va_list arguments;

	if (player->failure[0])
		return;
	va_start(arguments, format);
	vsnprintf(player->failure, sizeof(player->failure), format, arguments);
	va_end(arguments);
}

/* The byte at a place of a stream; different places of the window have different ones. */
static uint8_t byte_at(uint32_t place)
{
	return (uint8_t)(place * 31 + (place >> 8) * 7 + 1);
}

/* --- what we send ---------------------------------------------------------------------------- */

static void read_blocks(const struct player *player, const uint8_t *option, unsigned bytes,
			struct script_segment *seen)
{
	seen->fields |= FIELD_SACK;
	for (unsigned at = 2; at + 8 <= bytes && seen->sack_count < SCRIPT_SACK_MAX; at += 8) {
		seen->sack[seen->sack_count].begin =
			bytes_get_be32(option + at) - player->numbers.peer;
		seen->sack[seen->sack_count++].end =
			bytes_get_be32(option + at + 4) - player->numbers.peer;
	}
}

static void read_option(struct player *player, const uint8_t *option, unsigned bytes,
			struct script_segment *seen)
{
	switch (option[0]) {
	case 2:
		seen->fields |= FIELD_MSS;
		seen->mss = bytes_get_be16(option + 2);
		break;
	case 3:
		seen->fields |= FIELD_SCALE;
		seen->scale = option[2];
		break;
	case 4:
		seen->fields |= FIELD_SACK_OK;
		break;
	case 5:
		read_blocks(player, option, bytes, seen);
		break;
	case 8:
		seen->fields |= FIELD_TIMES;
		seen->time = player->time = bytes_get_be32(option + 2);
		seen->echo = bytes_get_be32(option + 6);
		break;
	default:
		fail(player, "we sent an option of kind %u", option[0]);
		break;
	}
}

static void read_options(struct player *player, const uint8_t *options, size_t bytes,
			 struct script_segment *seen)
{
	for (size_t at = 0; at < bytes && options[at] != 0;) {
		size_t length = options[at] == 1 || at + 1 == bytes ? 1 : options[at + 1];

		if (options[at] != 1) {
			if (length < 2 || at + length > bytes) {
				fail(player, "we sent an option of length %zu", length);
				return;
			}
			read_option(player, options + at, (unsigned)length, seen);
		}
		at += length;
	}
}

static uint32_t length_of(const struct script_segment *segment)
{
	return segment->bytes + !!(segment->flags & SYN) + !!(segment->flags & FIN);
}

/* Keeps one segment of ours, with its numbers made relative. */
static void keep(struct player *player, const struct peer_segment *raw)
{
	struct script_segment *seen;
	uint32_t end;

	if (raw->flags & SYN && player->tcp->own_ways)
		player->numbers.own = raw->seq;
	if (player->sent_first + player->sent_count == PLAYER_SENT_MAX) {
		fail(player, "we sent more than %d segments that nobody expected", PLAYER_SENT_MAX);
		return;
	}
	seen = &player->sent[player->sent_first + player->sent_count++].segment;
	*seen = (struct script_segment){.flags = raw->flags,
					.seq = raw->seq - player->numbers.own,
					.window = raw->window,
					.bytes = (uint32_t)raw->bytes};
	if (raw->flags & ACK)
		seen->ack = raw->ack - player->numbers.peer;
	if (raw->flags & SYN) /* the port that we call from is our own choice */
		player->peer.own_port = raw->own_port;
	read_options(player, raw->options, raw->options_bytes, seen);
	for (uint32_t i = 0; i < seen->bytes; i++)
		if (raw->data[i] != byte_at(seen->seq + i))
			fail(player, "we sent a wrong byte at %u", seen->seq + i);
	if (raw->flags & RST)
		return;
	end = seen->seq + length_of(seen);
	if ((int32_t)(end - player->ack) > 0)
		player->ack = end;
	if (raw->flags & ACK)
		player->edge = seen->ack +
			       ((uint32_t)seen->window << (raw->flags & SYN ? 0 : player->scale));
	if ((raw->flags & SYN) && (seen->fields & FIELD_SCALE))
		player->scale = seen->scale;
}

void player_collect(struct player *player)
{
	struct peer_segment raw;

	while (player->tcp->take(player, &raw))
		keep(player, &raw);
	if (player->sent_count == 0)
		player->sent_first = 0;
}

const struct script_segment *player_sent(struct player *player)
{
	if (player->sent_count == 0)
		return NULL;
	player->sent_count--;
	return &player->sent[player->sent_first++].segment;
}

/* --- what the peer sends --------------------------------------------------------------------- */

static size_t put_blocks(const struct player *player, const struct script_segment *segment,
			 uint8_t *to)
{
	to[0] = 5;
	to[1] = (uint8_t)(2 + 8 * segment->sack_count);
	for (unsigned i = 0; i < segment->sack_count; i++) {
		bytes_put_be32(to + 2 + 8 * i, segment->sack[i].begin + player->numbers.own);
		bytes_put_be32(to + 6 + 8 * i, segment->sack[i].end + player->numbers.own);
	}
	return to[1];
}

/* Writes the options, padded with NOPs; how many bytes. */
static size_t put_options(const struct player *player, const struct script_segment *segment,
			  uint8_t to[SCRIPT_OPTIONS_BYTES])
{
	size_t at = 0;

	if (segment->fields & FIELD_RAW) {
		memcpy(to, segment->raw, segment->raw_bytes);
		at = segment->raw_bytes;
	}
	if (segment->fields & FIELD_MSS) {
		to[at] = 2, to[at + 1] = 4;
		bytes_put_be16(to + at + 2, segment->mss);
		at += 4;
	}
	if (segment->fields & FIELD_SCALE) {
		to[at] = 3, to[at + 1] = 3, to[at + 2] = segment->scale;
		at += 3;
	}
	if (segment->fields & FIELD_SACK_OK) {
		to[at] = 4, to[at + 1] = 2;
		at += 2;
	}
	if (segment->fields & FIELD_TIMES) {
		to[at] = 8, to[at + 1] = 10;
		bytes_put_be32(to + at + 2, segment->time);
		/* What is to be echoed is only known from what we sent. */
		bytes_put_be32(to + at + 6, player->time + segment->echo);
		at += 10;
	}
	if (segment->fields & FIELD_SACK)
		at += put_blocks(player, segment, to + at);
	while (at % 4 != 0)
		to[at++] = 1;
	CHECK(at <= SCRIPT_OPTIONS_BYTES);
	return at;
}

void player_send(struct player *player, const struct script_segment *segment)
{
	static uint8_t data[FRAME_ROOM];
	uint8_t options[SCRIPT_OPTIONS_BYTES + 8];
	bool given = segment->fields & FIELD_SEQ, first = segment->flags & SYN;
	uint32_t seq = given ? segment->seq : first ? 0 : player->seq;
	struct peer_segment raw = {.seq = seq + player->numbers.peer,
				   .window = segment->fields & FIELD_WINDOW ? segment->window
									    : player->peer.window,
				   .port = player->peer.port,
				   .own_port = player->peer.own_port,
				   .flags = segment->flags,
				   .urgent = segment->urgent,
				   .options = options,
				   .options_bytes = put_options(player, segment, options),
				   .data = data,
				   .bytes = segment->bytes};

	if (segment->flags & ACK || segment->fields & FIELD_ACK)
		raw.ack = (segment->fields & FIELD_ACK ? segment->ack : player->ack) +
			  player->numbers.own;
	CHECK(segment->bytes <= sizeof(data) - 100);
	for (uint32_t i = 0; i < segment->bytes; i++)
		data[i] = segment->fields & FIELD_FILL
				  ? segment->fill
				  : byte_at(seq + (segment->flags & SYN ? 1 : 0) + i);
	if (first && !(segment->fields & FIELD_SCALE)) /* RFC 7323 2.2: then nobody scales */
		player->scale = 0;
	player->tcp->put(player, &raw);
	if (!given)
		player->seq = seq + length_of(segment);
	player_collect(player);
}

/* --- the application and time ---------------------------------------------------------------- */

static void write_bytes(struct player *player, uint64_t bytes)
{
	uint8_t data[FRAME_ROOM * 8];

	CHECK(bytes <= sizeof(data));
	for (uint32_t i = 0; i < bytes; i++)
		data[i] = byte_at(player->wrote + i);
	if (!player->tcp->write(player, data, bytes))
		fail(player, "there is no room for %llu bytes", (unsigned long long)bytes);
	player->wrote += (uint32_t)bytes;
}

static void read_bytes(struct player *player, const struct script_step *step)
{
	static uint8_t data[1 << 17];
	uint32_t there = player_readable(player);

	if (there != step->number) {
		fail(player, "%u bytes can be read", there);
		return;
	}
	if (there == 0)
		return;
	CHECK(player->tcp->read(player, data, sizeof(data)) == there);
	for (uint32_t i = 0; i < there && !step->any; i++)
		if (data[i] != byte_at(player->taken + i))
			fail(player, "the byte at %u is not the one sent", player->taken + i);
	player->taken += there;
}

void player_wait(struct player *player, uint64_t ns)
{
	player->tcp->wait(player, ns);
}

uint32_t player_readable(const struct player *player)
{
	return player->tcp->readable(player);
}

bool player_finished(const struct player *player)
{
	return player->tcp->finished(player);
}

const char *player_state(const struct player *player)
{
	return player->tcp->state(player);
}

const char *player_end(const struct player *player)
{
	return player->tcp->end(player);
}

/* --- expectations ---------------------------------------------------------------------------- */

/* The segment in the words of a script. Returns `text`. */
static const char *describe(const struct script_segment *segment, char text[160])
{
	char flags[9];
	int at = snprintf(text, 160, "> %s seq %u ack %u win %u len %u",
			  script_flags(segment->flags & (uint8_t)~PSH, flags), segment->seq,
			  segment->ack, segment->window, segment->bytes);

	for (unsigned i = 0; i < segment->sack_count; i++)
		at += snprintf(text + at, (size_t)(160 - at), "%s%u-%u", i == 0 ? " sack " : ",",
			       segment->sack[i].begin, segment->sack[i].end);
	return text;
}

/* Whether the options that were named are as named. */
static bool options_match(const struct script_segment *want, const struct script_segment *seen)
{
	static const unsigned shown = FIELD_MSS | FIELD_SCALE | FIELD_SACK_OK | FIELD_TIMES;

	if ((want->fields & shown & ~seen->fields) != 0)
		return false;
	if (want->fields & FIELD_MSS && want->mss != seen->mss)
		return false;
	if (want->fields & FIELD_SCALE && want->scale != seen->scale)
		return false;
	if (want->fields & FIELD_TIMES && want->echo != seen->echo)
		return false;
	if (!(want->fields & FIELD_SACK))
		return true;
	for (unsigned i = 0; i < want->sack_count; i++)
		if (want->sack[i].begin != seen->sack[i].begin ||
		    want->sack[i].end != seen->sack[i].end)
			return false;
	return want->sack_count == seen->sack_count;
}

static bool window_matches(const struct player *player, uint16_t want, uint16_t seen)
{
	return player->tcp->own_ways ? !want == !seen : want == seen;
}

static bool matches(const struct player *player, const struct script_segment *want,
		    const struct script_segment *seen)
{
	if (((want->flags ^ seen->flags) & ~PSH) != 0)
		return false;
	if (want->fields & FIELD_SEQ && want->seq != seen->seq)
		return false;
	if (want->fields & FIELD_ACK && want->ack != seen->ack)
		return false;
	if (want->fields & FIELD_WINDOW && !window_matches(player, want->window, seen->window))
		return false;
	if (want->fields & FIELD_BYTES && want->bytes != seen->bytes)
		return false;
	return options_match(want, seen);
}

static void expect(struct player *player, const struct script_segment *want)
{
	const struct script_segment *seen;
	char text[160];

	player->tcp->await(player);
	seen = player_sent(player);
	if (!seen)
		fail(player, "nothing was sent");
	else if (!matches(player, want, seen))
		fail(player, "sent was %s", describe(seen, text));
}

bool player_is_silent(struct player *player)
{
	const struct script_segment *seen = player_sent(player);
	char text[160];

	if (seen)
		fail(player, "before it, nobody expected %s", describe(seen, text));
	return !seen;
}

/* --- plays ----------------------------------------------------------------------------------- */

void player_open(struct player *player, const struct script_book *book, const struct script *script,
		 const struct player_numbers *numbers)
{
	player_open_at(player, &player_utcp, book, script, numbers);
}

void player_open_at(struct player *player, const struct player_tcp *tcp,
		    const struct script_book *book, const struct script *script,
		    const struct player_numbers *numbers)
{
	memset(player, 0, sizeof(*player));
	player->tcp = tcp;
	player->book = book;
	player->numbers = *numbers;
	player->taken = player->wrote = 1;
	tcp->open(player, script);
}

void player_close(struct player *player)
{
	player->tcp->close(player);
}

static void expect_word(struct player *player, const char *want, const char *is)
{
	if (strcmp(want, is) != 0)
		fail(player, "it is %s", is);
}

static void expect_count(struct player *player, const struct script_step *step)
{
	uint64_t moved = player->tcp->count(player, step);

	if (moved != step->number)
		fail(player, "it moved by %llu", (unsigned long long)moved);
}

static void play_block(struct player *player, const struct script_step *step)
{
	const struct script *block = script_block(player->book, step->name);

	if (block)
		player_play(player, block);
	else
		fail(player, "there is no such block");
}

/* What a step asks of the application or of time. */
static void act(struct player *player, const struct script_step *step)
{
	switch (step->kind) {
	case STEP_DO:
		play_block(player, step);
		break;
	case STEP_PORT:
		player->peer.own_port = (uint16_t)step->number;
		break;
	case STEP_CONNECT:
		player->tcp->connect(player);
		break;
	case STEP_WRITE:
		write_bytes(player, step->number);
		break;
	case STEP_READ:
		read_bytes(player, step);
		break;
	case STEP_FINISH:
		player->tcp->finish(player);
		break;
	case STEP_ABORT:
		player->tcp->abort(player);
		break;
	case STEP_SEND:
		player_send(player, &step->segment);
		break;
	case STEP_WAIT:
		player_wait(player, step->number);
		break;
	default:
		break;
	}
	player_collect(player);
}

/* What a step says of what has happened. */
static bool judge(struct player *player, const struct script_step *step)
{
	switch (step->kind) {
	case STEP_EXPECT:
		expect(player, &step->segment);
		return true;
	case STEP_DRAIN:
		while (player_sent(player))
			;
		return true;
	case STEP_STATE:
		expect_word(player, step->name, player_state(player));
		return true;
	case STEP_END:
		expect_word(player, step->name, player_end(player));
		return true;
	case STEP_COUNT:
		expect_count(player, step);
		return true;
	default:
		return false;
	}
}

/* Whether a step may not begin before all that was sent was looked at. */
static bool wants_silence(const struct player *player, const struct script_step *step)
{
	if (step->kind == STEP_WAIT) /* for an ACK, that is, which may have come already */
		return !player->tcp->own_ways || step->number > PLAYER_ACK_NS;
	return step->kind == STEP_SEND;
}

static void play_step(struct player *player, const struct script_step *step)
{
	if (judge(player, step))
		return;
	/* An application that acts does so in the turn in which something came. */
	if (wants_silence(player, step))
		player_is_silent(player);
	if (!player->failure[0])
		act(player, step);
}

/* Puts the place before what went wrong. */
static void place_failure(struct player *player, const struct script *script,
			  const struct script_step *step)
{
	char why[256];
	const char *name = strrchr(script->path, '/');

	snprintf(why, sizeof(why), "%.255s", player->failure);
	snprintf(player->failure, sizeof(player->failure), "%s:%u: `%.100s`: %s",
		 name ? name + 1 : script->path, step ? step->line : 0,
		 step ? step->text : "its end", why);
}

bool player_play(struct player *player, const struct script *script)
{
	for (unsigned i = 0; i < script->step_count; i++) {
		bool held = !player->failure[0];

		play_step(player, &script->steps[i]);
		if (player->failure[0]) {
			if (held && script->steps[i].kind != STEP_DO)
				place_failure(player, script, &script->steps[i]);
			return false;
		}
	}
	if (!script->block && !player_is_silent(player))
		place_failure(player, script, NULL);
	return !player->failure[0];
}
