#include "stacks/socket/steer.h"

#include "stacks/socket/rota.h"
#include "stacks/socket/selector.h"

#include <errno.h>
#include <linux/filter.h>
#include <sys/socket.h>

enum { IP6_HEADER_BYTES = 40 };

/* As the filter sees it: from the start of the IP header. */
#define FROM_IP(offset) ((uint32_t)(SKF_NET_OFF + (offset)))

/*
 * The index of a listener is the order of joining the group, and workers join one after the other.
 * A client is given every second port, so the port is halved. The program runs when the headers
 * have been passed and has to reach back for them; an index out of range (a worker has left) makes
 * the kernel hash.
 */
int steer_by_port(int fd, unsigned workers)
{
	struct sock_filter code[] = {
		/* version and header length */
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, FROM_IP(0)),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 6, 0, 2),
		/* IPv6: extension headers do not come with connections as clients open them */
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, FROM_IP(IP6_HEADER_BYTES)),
		BPF_STMT(BPF_JMP | BPF_JA, 5),
		/* IPv4: behind as many words as the header has */
		BPF_STMT(BPF_MISC | BPF_TXA, 0),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x0F),
		BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 2),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, FROM_IP(0)),
		/* the source port */
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 1),
		BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, workers),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof(program)) < 0
		       ? -errno
		       : 0;
}

int steer_by_cpu(int fd, int cpu)
{
	return setsockopt(fd, SOL_SOCKET, SO_INCOMING_CPU, &cpu, sizeof(cpu)) < 0 ? -errno : 0;
}

int steer_in_turn(int fd, unsigned workers)
{
	struct selector selector;
	uint64_t calls = 0;
	int code = selector_open(&selector, workers, &calls);

	if (code < 0)
		return code;
	code = selector_attach(&selector, fd, &calls);
	selector_close(&selector, &calls);
	return code;
}

void steer_listener(int fd, const struct tp_addr *addr, const struct socket_settings *settings,
		    uint64_t *calls)
{
	enum socket_steer steer = settings->steer;

	if (settings->workers < 2)
		return;
	if (steer == SOCKET_STEER_TURN && rota_join(fd, addr, settings, calls) < 0)
		steer = SOCKET_STEER_PORT;
	if (steer == SOCKET_STEER_PORT && settings->worker == 0) {
		steer_by_port(fd, settings->workers);
		++*calls;
	} else if (steer == SOCKET_STEER_CPU && settings->cpu >= 0) {
		steer_by_cpu(fd, settings->cpu);
		++*calls;
	}
}
