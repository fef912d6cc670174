#include "stacks/socket/selector.h"

#include <errno.h>
#include <linux/bpf.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	TCP_FLAGS_OFFSET = 13, /* in a TCP header */
	INDEX_OFFSET = -4,     /* of the chosen listener's place, on the program's stack */
	PASS = 22,	       /* the instruction that ends the choosing */
};

/* --- the words of the kernel's machine --- */

static struct bpf_insn word(unsigned code, unsigned to, unsigned from, int offset, int32_t value)
{
	return (struct bpf_insn){.code = (uint8_t)code,
				 .dst_reg = (uint8_t)(to & 0x0F),
				 .src_reg = (uint8_t)(from & 0x0F),
				 .off = (int16_t)offset,
				 .imm = value};
}

static struct bpf_insn copy(unsigned to, unsigned from)
{
	return word(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

/* An operation with a constant: BPF_MOV, BPF_ADD and so on. */
static struct bpf_insn compute(unsigned operation, unsigned to, int32_t value)
{
	return word(BPF_ALU64 | operation | BPF_K, to, 0, 0, value);
}

static struct bpf_insn load(unsigned width, unsigned to, unsigned from, int offset)
{
	return word(BPF_LDX | BPF_MEM | width, to, from, offset, 0);
}

/* The first half of an instruction that takes two; `kind` says what of the map is meant. */
static struct bpf_insn map(unsigned kind, unsigned to, int fd)
{
	return word(BPF_LD | BPF_IMM | BPF_DW, to, kind, 0, fd);
}

/* --- the program --- */

static int call_bpf(enum bpf_cmd command, union bpf_attr *attr, uint64_t *calls)
{
	long result = syscall(SYS_bpf, command, attr, sizeof(*attr));

	++*calls;
	return result < 0 ? -errno : (int)result;
}

static int make_map(enum bpf_map_type type, uint32_t value_bytes, uint32_t entries, uint64_t *calls)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = sizeof(uint32_t);
	attr.value_size = value_bytes;
	attr.max_entries = entries;
	return call_bpf(BPF_MAP_CREATE, &attr, calls);
}

/*
 * Only the packet that asks for a connection (SYN) takes a turn. Any other that gets as far as the
 * listeners, an acknowledgement under SYN cookies above all, is left to the kernel's hash: were it
 * counted too, each connection would take two turns, and of two workers one would get them all. The
 * count is raised in one atomic step, since CPUs take packets in at the same time. A place that is
 * empty, for a worker that has left or not come yet, makes the call fail and the kernel hash.
 */
static int load_program(const struct selector *selector, unsigned workers, uint64_t *calls)
{
	const struct bpf_insn code[] = {
		/* 0: the packet, from its TCP header on, is in registers 2 to 3 */
		copy(BPF_REG_6, BPF_REG_1),
		load(BPF_DW, BPF_REG_2, BPF_REG_1, offsetof(struct sk_reuseport_md, data)),
		load(BPF_DW, BPF_REG_3, BPF_REG_1, offsetof(struct sk_reuseport_md, data_end)),
		copy(BPF_REG_4, BPF_REG_2),
		compute(BPF_ADD, BPF_REG_4, TCP_FLAGS_OFFSET + 1),
		word(BPF_JMP | BPF_JGT | BPF_X, BPF_REG_4, BPF_REG_3, PASS - 6, 0),
		/* 6: does it ask for a connection? */
		load(BPF_B, BPF_REG_4, BPF_REG_2, TCP_FLAGS_OFFSET),
		compute(BPF_AND, BPF_REG_4, TH_SYN | TH_ACK),
		word(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_4, 0, PASS - 9, TH_SYN),
		/* 9: take the count, and raise it */
		map(BPF_PSEUDO_MAP_VALUE, BPF_REG_2, selector->count_fd),
		{0},
		compute(BPF_MOV, BPF_REG_1, 1),
		word(BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_2, BPF_REG_1, 0, BPF_ADD | BPF_FETCH),
		/* 13: the place is what is left of it */
		compute(BPF_MOD, BPF_REG_1, (int32_t)workers),
		word(BPF_STX | BPF_MEM | BPF_W, BPF_REG_10, BPF_REG_1, INDEX_OFFSET, 0),
		/* 15: the listener there shall have the packet */
		copy(BPF_REG_1, BPF_REG_6),
		map(BPF_PSEUDO_MAP_FD, BPF_REG_2, selector->listeners_fd),
		{0},
		copy(BPF_REG_3, BPF_REG_10),
		compute(BPF_ADD, BPF_REG_3, INDEX_OFFSET),
		compute(BPF_MOV, BPF_REG_4, 0),
		word(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_sk_select_reuseport),
		[PASS] = compute(BPF_MOV, BPF_REG_0, SK_PASS),
		word(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SK_REUSEPORT;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = sizeof(code) / sizeof(code[0]);
	attr.license = (uintptr_t) "Apache-2.0";
	return call_bpf(BPF_PROG_LOAD, &attr, calls);
}

/* Each descriptor that is there so far is closed if one is not to be had. */
int selector_open(struct selector *selector_out, unsigned workers, uint64_t *calls)
{
	struct selector selector = {.listeners_fd = -1, .program_fd = -1};
	int code;

	selector.count_fd = code = make_map(BPF_MAP_TYPE_ARRAY, sizeof(uint64_t), 1, calls);
	if (code >= 0)
		selector.listeners_fd = code = make_map(BPF_MAP_TYPE_REUSEPORT_SOCKARRAY,
							sizeof(uint64_t), workers, calls);
	if (code >= 0)
		selector.program_fd = code = load_program(&selector, workers, calls);
	if (code < 0) {
		selector_close(&selector, calls);
		return code;
	}
	*selector_out = selector;
	return 0;
}

int selector_attach(const struct selector *selector, int fd, uint64_t *calls)
{
	++*calls;
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_EBPF, &selector->program_fd,
			  sizeof(selector->program_fd)) < 0
		       ? -errno
		       : 0;
}

int selector_put(const struct selector *selector, unsigned index, int fd, uint64_t *calls)
{
	uint32_t key = index;
	uint64_t value = (uint64_t)fd;
	union bpf_attr attr;
	int code;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)selector->listeners_fd;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)&value;
	attr.flags = BPF_ANY;
	code = call_bpf(BPF_MAP_UPDATE_ELEM, &attr, calls);
	return code < 0 ? code : 0;
}

static void close_if_open(int fd, uint64_t *calls)
{
	if (fd < 0)
		return;
	close(fd);
	++*calls;
}

void selector_close(struct selector *selector, uint64_t *calls)
{
	close_if_open(selector->program_fd, calls);
	close_if_open(selector->listeners_fd, calls);
	close_if_open(selector->count_fd, calls);
	*selector = (struct selector){-1, -1, -1};
}
