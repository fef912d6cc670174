/*
 * Options of any kind: in a SYN that calls an instance, in data, and in ACKs of what it sends, over
 * either family.
 *
 * Whatever the options are, the instance answers or drops the SYN, sends no segment larger than its
 * peer asked for (RFC 9293 3.7.1, RFC 6691), and lives on.
 *
 * An input is a row of options, each behind a byte with its length in the lower 6 bits. The first
 * are the SYN's, whose byte also says which family is spoken. The upper bits of the others say what
 * comes with them: data, an old ACK, nothing.
 */
#include "dataplane/core/bytes.h"
#include "dataplane/core/check.h"
#include "stacks/utcp/packet.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/link.h"

#include <string.h>

enum {
	OPTIONS_ROOM = 40, /* RFC 9293 3.1: a header has at most 15 words */
	SEGMENTS_MAX = 64,
	MSS_ABSENT = 536, /* RFC 9293 3.7.1 */
	MSS_ABSENT6 = 1220,
	MSS_FLOOR = 64,	   /* docs/utcp.md */
	OVER_IP6 = 1 << 6, /* of the SYN */
	WITH_DATA = 1 << 6,
	OLD_ACK = 1 << 7,
};

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_bytes);

/* The next options, filled up to whole words with the ends of the list; how many bytes. */
static size_t take_options(struct input *input, uint8_t control, uint8_t options[OPTIONS_ROOM])
{
	size_t bytes = (control & 63) % (OPTIONS_ROOM + 1);
	const uint8_t *run = input_run(input, &bytes);

	memset(options, TCP_OPTION_END, OPTIONS_ROOM);
	if (bytes > 0)
		memcpy(options, run, bytes);
	return (bytes + 3) / 4 * 4;
}

/* The largest MSS that a SYN's options name anywhere, read without care for what surrounds it. */
static size_t largest_asked(bool ip6, const uint8_t *options, size_t bytes)
{
	size_t largest = ip6 ? MSS_ABSENT6 : MSS_ABSENT;

	for (size_t i = 0; i + 4 <= bytes; i++)
		if (options[i] == TCP_OPTION_MSS && options[i + 1] == 4 &&
		    bytes_get_be16(options + i + 2) > largest)
			largest = bytes_get_be16(options + i + 2);
	return largest;
}

/* Whether the options are nothing but one MSS, whose meaning is then beyond doubt. */
static bool names_only_mss(const uint8_t *options, size_t bytes)
{
	return bytes == 4 && options[0] == TCP_OPTION_MSS && options[1] == 4;
}

static size_t most_allowed(bool ip6, const uint8_t *options, size_t bytes)
{
	size_t asked = names_only_mss(options, bytes) ? bytes_get_be16(options + 2)
						      : largest_asked(ip6, options, bytes);

	return asked < MSS_FLOOR ? MSS_FLOOR : asked;
}

/* Takes all that comes out; `ack` follows what was sent. */
static void take_all(struct link *link, size_t most, uint32_t *ack)
{
	while (link_take(link)) {
		CHECK(link->segment.bytes == 0 ||
		      link->segment.bytes + link->segment.options_bytes <= most);
		if (link->segment.bytes > 0)
			*ack = link->segment.seq + (uint32_t)link->segment.bytes;
	}
}

static void put_one(struct link *link, bool ip6, struct input *input, uint32_t *seq, uint32_t ack)
{
	static const uint8_t data[1400];
	uint8_t options[OPTIONS_ROOM], control = input_byte(input);
	struct peer_segment segment = {.seq = *seq,
				       .ack = control & OLD_ACK ? ack - 1000 : ack,
				       .window = 60000,
				       .port = PEER_PORT,
				       .own_port = OWN_PORT,
				       .flags = ACK,
				       .options = options,
				       .options_bytes = take_options(input, control, options),
				       .data = data,
				       .bytes = control & WITH_DATA ? sizeof(data) : 0};

	link_put_segment(link, &segment, ip6);
	*seq += (uint32_t)segment.bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct utcp_config config = link_config();
	struct input input = {bytes, count};
	uint8_t options[OPTIONS_ROOM], control = input_byte(&input);
	size_t options_bytes = take_options(&input, control, options);
	bool ip6 = (control & OVER_IP6) != 0;
	uint32_t seq = (uint32_t)PEER_ISN + 1, ack = (uint32_t)OWN_ISN + 1;
	static struct link link;

	link_open(&link, &config);
	link_connect(&link, ip6, options, options_bytes);
	for (unsigned i = 0; i < SEGMENTS_MAX && input.left > 0; i++) {
		put_one(&link, ip6, &input, &seq, ack);
		link_echo(&link);
		take_all(&link, most_allowed(ip6, options, options_bytes), &ack);
		link_advance(&link, 2 * MS);
	}
	link_close(&link);
	return 0;
}
