/*
 * script: a conversation between a peer's TCP and ours, written down.
 *
 * A book is a text file of scripts. Numbers are relative to the initial numbers of who sends the
 * byte, so that SYN is 0 and data begin at 1, and the same script is played with any initial
 * numbers and against any TCP. One step a line:
 *
 *  == title | source      begins a script: a sentence, and where it is written
 *  :: NAME                begins a block, that `do NAME` puts into scripts
 *  config NAME NUMBER     before all else: recv, send, mtu, conns
 *  port N                 the peer's segments go to this port of ours, which hears at 7878
 *  connect                our application calls the peer
 *  write N                it writes N bytes
 *  finish, abort          what else it does
 *  read N                 it reads N bytes, which are all that is there and the right ones
 *  read N any             the same, whatever the bytes are
 *  < FLAGS [FIELD...]     the peer sends; FLAGS are of FSRPAUEC, or -
 *  > FLAGS [FIELD...]     we sent exactly this next; what is not said is not looked at
 *  +20ms                  time passes (ns, us, ms, s)
 *  drain                  whatever we sent is passed over
 *  is STATE               our connection's state, CLOSED when it is gone
 *  end REASON             the application was told: done, reset, refused, timeout, aborted
 *  count NAME N           our counter of that name has moved by N since the script began
 *
 * FIELDs: seq N, ack N, win N, len N, fill N (all bytes N), urgent N, mss N, wscale N, sackok,
 * ts VALUE ECHO, sack B-E,B-E... (`none` for no block), raw HEX (options as they are). A segment of
 * the peer without seq or ack has the next and the latest; seq moves on by itself, but not from one
 * that was given. Its ts echoes our newest value plus ECHO; of ours, only the echo is looked at.
 * All that we send must be expected: silence is an expectation, too.
 *
 * Plane: tests. Books are read whole, and a mistake in one ends the program with its place.
 */
#ifndef WEIR_TESTS_SIM_SCRIPT_H
#define WEIR_TESTS_SIM_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

enum {
	SCRIPT_STEPS_MAX = 64,
	SCRIPT_BOOK_MAX = 160, /* scripts and blocks */
	SCRIPT_TITLE_BYTES = 160,
	SCRIPT_NAME_BYTES = 32,
	SCRIPT_LINE_BYTES = 160,
	SCRIPT_OPTIONS_BYTES = 40,
	SCRIPT_SACK_MAX = 4,
};

enum script_step_kind {
	STEP_CONFIG,
	STEP_DO,
	STEP_PORT,
	STEP_CONNECT,
	STEP_WRITE,
	STEP_READ,
	STEP_FINISH,
	STEP_ABORT,
	STEP_SEND,
	STEP_EXPECT,
	STEP_WAIT,
	STEP_DRAIN,
	STEP_STATE,
	STEP_END,
	STEP_COUNT,
};

/* Fields that a segment's line names. */
enum script_field {
	FIELD_SEQ = 1 << 0,
	FIELD_ACK = 1 << 1,
	FIELD_WINDOW = 1 << 2,
	FIELD_BYTES = 1 << 3,
	FIELD_FILL = 1 << 4,
	FIELD_MSS = 1 << 5,
	FIELD_SCALE = 1 << 6,
	FIELD_SACK_OK = 1 << 7,
	FIELD_TIMES = 1 << 8,
	FIELD_SACK = 1 << 9,
	FIELD_RAW = 1 << 10,
};

struct script_segment {
	unsigned fields; /* enum script_field that are set */
	uint8_t flags;
	uint32_t seq; /* relative, both */
	uint32_t ack;
	uint16_t window;
	uint16_t urgent;
	uint32_t bytes;
	uint8_t fill;
	uint16_t mss;
	uint8_t scale;
	uint32_t time;
	uint32_t echo;
	unsigned sack_count;
	struct {
		uint32_t begin; /* relative */
		uint32_t end;
	} sack[SCRIPT_SACK_MAX];
	unsigned raw_bytes;
	uint8_t raw[SCRIPT_OPTIONS_BYTES];
};

struct script_step {
	enum script_step_kind kind;
	unsigned line;
	char text[SCRIPT_LINE_BYTES]; /* as written */
	char name[SCRIPT_NAME_BYTES]; /* of a block, state, reason, counter or setting */
	uint64_t number;	      /* bytes, a count, or ns */
	bool any;
	struct script_segment segment;
};

struct script {
	char title[SCRIPT_TITLE_BYTES];	 /* or the block's name */
	char source[SCRIPT_TITLE_BYTES]; /* the RFC and section; empty for a block */
	const char *path;		 /* of its file; lent */
	bool block;
	unsigned step_count;
	struct script_step steps[SCRIPT_STEPS_MAX];
};

struct script_book {
	unsigned count;
	struct script scripts[SCRIPT_BOOK_MAX];
};

/* Reads `path`, which is lent, behind what the book has. Ends the program if it is wrong. */
void script_read(struct script_book *book, const char *path);

/* The block of a name; NULL if there is none. */
const struct script *script_block(const struct script_book *book, const char *name);

/* The letters of a segment's flags. Returns `text`. */
const char *script_flags(uint8_t flags, char text[9]);

#endif
