/*
 * sweep_test: the script, with the n-th call of each kind failing, for every n.
 *
 *	sweep_STACK [WORD...]                all sweeps, TAP; words choose among their names
 *	sweep_STACK --replay CALL ERROR N    one run again, with what every end did:
 *	                                     recv ECONNRESET 17; ERROR may be `short`
 *	sweep_STACK --replay CALL ERROR N M  the same, each M-th call after it failing too
 */
#include "dataplane/core/clock.h"
#include "tests/faults/ground.h"
#include "tests/faults/script.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 3000, NAME_BYTES = 160, ERRNO_END = 134 };

/* Buffers that the large amounts do not fit. */
static const char spec[] = FAULT_STACK ",send-buffer=8KiB,recv-buffer=16KiB" FAULT_OPTIONS;

/* What a failure may do to the run. */
enum outcome {
	NOTHING,	 /* all goes as scripted */
	ONE_STRAYS,	 /* one connection ends otherwise */
	SETUP_OR_STRAYS, /* or it is not opened, or the stack is not, with words that say why */
};

struct row {
	const char *stack; /* which makes such calls; NULL: each */
	enum inject_call call;
	int error;
	uint64_t every; /* of inject_fault */
	enum outcome outcome;
	unsigned reasons; /* bits (1 << enum tp_reason), one of which the strayed one has; 0: any */
};

#define REASON(name) (1u << TP_##name)
#define HARMLESS(stack, call, error)                       \
	{stack, INJECT_##call, error, 0, NOTHING, 0},      \
	{                                                  \
		stack, INJECT_##call, error, 2, NOTHING, 0 \
	}
/* A turn makes two such calls, one a side: every second would be the same side's for ever. */
#define WITHIN_A_TURN(stack, call, error)                  \
	{stack, INJECT_##call, error, 0, NOTHING, 0},      \
	{                                                  \
		stack, INJECT_##call, error, 3, NOTHING, 0 \
	}
#define FATAL(stack, call, error, reasons)                          \
	{                                                           \
		stack, INJECT_##call, error, 0, ONE_STRAYS, reasons \
	}
#define SETUP(stack, call, error)                                  \
	{                                                          \
		stack, INJECT_##call, error, 0, SETUP_OR_STRAYS, 0 \
	}
#define ALWAYS_SHORT(stack, call)                      \
	{                                              \
		stack, INJECT_##call, 0, 1, NOTHING, 0 \
	}

static const struct row rows[] = {
	HARMLESS("epoll", accept, EAGAIN),
	HARMLESS("epoll", accept, EINTR),
	HARMLESS("epoll", accept, ECONNABORTED),
	HARMLESS("epoll", accept, EPROTO),
	HARMLESS("epoll", accept, EPERM),
	{"epoll", INJECT_accept, EMFILE, 0, NOTHING, 0},
	{"epoll", INJECT_accept, ENFILE, 0, NOTHING, 0},
	{"epoll", INJECT_accept, ENOBUFS, 0, NOTHING, 0},
	{"epoll", INJECT_accept, ENOMEM, 0, NOTHING, 0},
	HARMLESS("epoll", recv, EAGAIN),
	HARMLESS("epoll", recv, EINTR),
	HARMLESS("epoll", recv, 0),
	ALWAYS_SHORT("epoll", recv),
	FATAL("epoll", recv, ECONNRESET, REASON(RESET)),
	FATAL("epoll", recv, ETIMEDOUT, REASON(TIMEOUT)),
	FATAL("epoll", recv, EHOSTUNREACH, REASON(UNREACHABLE)),
	FATAL("epoll", recv, ENOMEM, REASON(FAILED)),
	FATAL("epoll", recv, ENOBUFS, REASON(FAILED)),
	HARMLESS("epoll", send, EAGAIN),
	HARMLESS("epoll", send, EINTR),
	HARMLESS("epoll", send, 0),
	ALWAYS_SHORT("epoll", send),
	FATAL("epoll", send, ECONNRESET, REASON(RESET)),
	FATAL("epoll", send, EPIPE, REASON(RESET)),
	FATAL("epoll", send, ETIMEDOUT, REASON(TIMEOUT)),
	FATAL("epoll", send, ENOBUFS, REASON(FAILED)),
	FATAL("epoll", send, ENOMEM, REASON(FAILED)),
	SETUP("epoll", epoll_create, EMFILE),
	SETUP("epoll", epoll_create, ENFILE),
	SETUP("epoll", epoll_create, ENOMEM),
	SETUP("epoll", epoll_ctl, ENOMEM),
	SETUP("epoll", epoll_ctl, ENOSPC),
	SETUP("epoll", epoll_ctl, EPERM),
	WITHIN_A_TURN("epoll", epoll_wait, EINTR),
	WITHIN_A_TURN("epoll", epoll_pwait2, EINTR),
	{"epoll", INJECT_epoll_pwait2, ENOSYS, 1, NOTHING, 0},
	{"epoll", INJECT_epoll_pwait2, EPERM, 1, NOTHING, 0},
	HARMLESS("epoll", close, EINTR),
	HARMLESS("epoll", close, EIO),
	SETUP(NULL, socket, EMFILE),
	SETUP(NULL, socket, ENFILE),
	SETUP(NULL, socket, ENOBUFS),
	SETUP(NULL, socket, ENOMEM),
	SETUP(NULL, setsockopt, ENOMEM),
	SETUP(NULL, setsockopt, ENOBUFS),
	SETUP(NULL, setsockopt, EPERM),
	FATAL(NULL, connect, ECONNREFUSED, REASON(REFUSED) | REASON(ABORTED)),
	FATAL(NULL, connect, ENETUNREACH, REASON(UNREACHABLE) | REASON(ABORTED)),
	FATAL(NULL, connect, ETIMEDOUT, REASON(TIMEOUT) | REASON(ABORTED)),
	SETUP(NULL, connect, EADDRNOTAVAIL),
	SETUP(NULL, connect, EAGAIN),
	SETUP(NULL, connect, ENOBUFS),
	SETUP(NULL, connect, EPERM),
	FATAL(NULL, shutdown, ENOTCONN, REASON(RESET) | REASON(FAILED)),
	SETUP("uring", ring_setup, ENOMEM),
	SETUP("uring", ring_setup, EPERM),
	SETUP("uring", ring_setup, ENOSYS),
	SETUP("uring", ring_setup, EMFILE),
	HARMLESS("uring", ring_setup, EINVAL),
	SETUP("uring", ring_buffers, ENOMEM),
	{"uring", INJECT_ring_buffers, EINVAL, 1, NOTHING, 0},
	WITHIN_A_TURN("uring", ring_enter, EINTR),
	WITHIN_A_TURN("uring", ring_enter, EAGAIN),
	WITHIN_A_TURN("uring", ring_enter, EBUSY),
	WITHIN_A_TURN("uring", ring_enter, ENOMEM),
	HARMLESS("uring", ring_accept, EAGAIN),
	HARMLESS("uring", ring_accept, EINTR),
	HARMLESS("uring", ring_accept, ECONNABORTED),
	HARMLESS("uring", ring_accept, ECANCELED),
	{"uring", INJECT_ring_accept, EMFILE, 0, NOTHING, 0},
	{"uring", INJECT_ring_accept, ENFILE, 0, NOTHING, 0},
	{"uring", INJECT_ring_accept, ENOMEM, 0, NOTHING, 0},
	ALWAYS_SHORT("uring", ring_accept),
	HARMLESS("uring", ring_recv, EAGAIN),
	HARMLESS("uring", ring_recv, EINTR),
	HARMLESS("uring", ring_recv, ENOBUFS),
	HARMLESS("uring", ring_recv, ECANCELED),
	HARMLESS("uring", ring_recv, 0),
	ALWAYS_SHORT("uring", ring_recv),
	FATAL("uring", ring_recv, ECONNRESET, REASON(RESET)),
	FATAL("uring", ring_recv, ETIMEDOUT, REASON(TIMEOUT) | REASON(RESET)),
	FATAL("uring", ring_recv, ENOMEM, REASON(FAILED)),
	HARMLESS("uring", ring_send, EAGAIN),
	HARMLESS("uring", ring_send, EINTR),
	HARMLESS("uring", ring_send, ECANCELED),
	HARMLESS("uring", ring_send, 0),
	ALWAYS_SHORT("uring", ring_send),
	/* a receive may be the first to find the socket disconnected, and says ENOTCONN */
	FATAL("uring", ring_send, ECONNRESET, REASON(RESET) | REASON(FAILED)),
	FATAL("uring", ring_send, EPIPE, REASON(RESET) | REASON(FAILED)),
	FATAL("uring", ring_send, ENOBUFS, REASON(FAILED)),
	FATAL("uring", ring_send, ENOMEM, REASON(FAILED)),
	FATAL("uring", ring_poll, ENOMEM, REASON(FAILED)),
	HARMLESS("uring", ring_poll, EINTR),
	HARMLESS("uring", ring_cancel, ENOENT),
	HARMLESS("uring", ring_cancel, EALREADY),
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* --- words --- */

static const char *error_name(int error)
{
	return error ? strerrorname_np(error) : "short";
}

static int error_of(const char *name)
{
	for (int error = 1; error < ERRNO_END; error++)
		if (strerrorname_np(error) && strcmp(strerrorname_np(error), name) == 0)
			return error;
	return strcmp(name, "short") == 0 ? 0 : -1;
}

static void name_row(const struct row *row, char name[NAME_BYTES])
{
	const char *call = inject_call_name(row->call);
	const char *what = row->error ? error_name(row->error) : "a short count";

	if (row->every == 0)
		snprintf(name, NAME_BYTES, "%s: %s at the n-th call, for every n, %s", call, what,
			 row->outcome == NOTHING ? "harms nothing"
						 : "harms one connection at most");
	else
		snprintf(name, NAME_BYTES, "%s: %s at %s call harms nothing", call, what,
			 row->every == 1   ? "each"
			 : row->every == 2 ? "every second"
					   : "every third");
}

/* --- one run --- */

/* The rule that the row adds to those of the script; NULL if it holds. */
static const char *judge(const struct row *row, const struct script_result *result)
{
	if (result->is_unready)
		return row->outcome != SETUP_OR_STRAYS ? "the stack did not open"
		       : result->trouble[0]	       ? NULL
						       : "a stack that does not open says nothing";
	if (result->trouble[0])
		return result->trouble;
	if (result->strayed > (row->outcome == NOTHING ? 0u : 1u))
		return "more connections were harmed than may be";
	if (result->strayed && row->reasons && !(result->strayed_reasons & row->reasons))
		return "the harmed connection has another reason";
	return NULL;
}

static void say_replay(const struct row *row, uint64_t nth)
{
	printf("# replay: sweep_%s --replay %s %s %llu", FAULT_NAME, inject_call_name(row->call),
	       error_name(row->error), (unsigned long long)nth);
	if (row->every)
		printf(" %llu", (unsigned long long)row->every);
	printf("\n");
}

static bool run_once(const struct row *row, uint64_t nth, bool is_traced,
		     struct script_result *result_out)
{
	struct script_config config = {
		.spec = spec,
		.fault = {row->call, row->error, nth, row->every},
		.shrink = row->every == 1 && row->error == 0 ? 20 : 1,
		.is_traced = is_traced,
	};
	unsigned before = ground_descriptors();
	const char *broken;
	unsigned after;

	script_run(&config, result_out);
	after = ground_descriptors();
	broken = judge(row, result_out);
	if (!broken && after != before)
		broken = "descriptors were left open";
	if (!broken)
		return true;
	printf("# %s %s %llu: %s (strayed: %u, reasons: 0x%x, descriptors: %u, then %u)\n",
	       inject_call_name(row->call), error_name(row->error), (unsigned long long)nth, broken,
	       result_out->strayed, result_out->strayed_reasons, before, after);
	say_replay(row, nth);
	return false;
}

/* --- all --- */

/* A row with each n until there is none; how many runs there were. */
static bool run_row(const struct row *row, uint64_t *runs_out)
{
	struct script_result result = {.struck = 1};
	uint64_t last = row->every ? row->every : RUNS_MAX;
	uint64_t struck = 0;
	bool held = true;

	for (uint64_t nth = 1; nth <= last && result.struck > 0 && held; nth++) {
		held = run_once(row, nth, false, &result);
		struck += result.struck;
		++*runs_out;
	}
	if (struck == 0)
		printf("# no such call was made: nothing was tested\n");
	if (!row->every && result.struck > 0 && held)
		printf("# the sweep did not reach its end\n");
	return held && struck > 0 && (row->every || result.struck == 0);
}

static bool is_wanted(const struct row *row, int word_count, char **words)
{
	char name[NAME_BYTES];

	if (row->stack && strcmp(row->stack, FAULT_STACK) != 0)
		return false;
	name_row(row, name);
	for (int i = 0; i < word_count; i++)
		if (strstr(name, words[i]))
			return true;
	return word_count == 0;
}

static bool changes_requests(enum inject_call call)
{
	return call >= INJECT_ring_accept;
}

static bool run_rows(int word_count, char **words)
{
	unsigned number = 0;
	bool passed = true;

	for (unsigned i = 0; i < ROWS; i++) {
		char name[NAME_BYTES];
		uint64_t runs = 0;
		bool held;

		if (!is_wanted(&rows[i], word_count, words))
			continue;
		name_row(&rows[i], name);
		if (changes_requests(rows[i].call) && !inject_rings_work()) {
			printf("ok %u - %s # SKIP this kernel cannot give a request its result "
			       "(since 6.11)\n",
			       ++number, name);
			continue;
		}
		held = run_row(&rows[i], &runs);
		passed &= held;
		printf("%s %u - %s\n# %llu runs\n", held ? "ok" : "not ok", ++number, name,
		       (unsigned long long)runs);
		fflush(stdout);
	}
	printf("1..%u\n", number);
	return passed;
}

/* The reason that this host lacks the stack; or the script itself does not hold; or all is well. */
static int try_unharmed(void)
{
	const struct row row = {.outcome = NOTHING};
	struct script_config config = {.spec = spec, .shrink = 1};
	struct script_result result;

	script_run(&config, &result);
	if (result.is_absent) {
		printf("1..0 # SKIP %s\n", result.trouble);
		return -1;
	}
	if (!judge(&row, &result))
		return 0;
	config.is_traced = true;
	script_run(&config, &result);
	printf("# without any failure: %s\nnot ok 1 - the script holds when nothing fails\n1..1\n",
	       judge(&row, &result));
	return 1;
}

static int replay(int argc, char **argv)
{
	struct script_result result;
	struct row row = {.outcome = SETUP_OR_STRAYS};
	bool held;

	if (argc < 3)
		return 2;
	row.call = inject_call_of(argv[0]);
	row.error = error_of(argv[1]);
	if (row.call == INJECT_CALL_COUNT || row.error < 0)
		return 2;
	row.every = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	for (unsigned i = 0; i < ROWS; i++)
		if (rows[i].call == row.call && rows[i].error == row.error &&
		    rows[i].every == row.every)
			row = rows[i];
	held = run_once(&row, strtoull(argv[2], NULL, 10), true, &result);
	printf("# %llu calls were made to fail\n%s 1 - %s %s %s\n1..1\n",
	       (unsigned long long)result.struck, held ? "ok" : "not ok", argv[0], argv[1],
	       argv[2]);
	return held ? 0 : 1;
}

int main(int argc, char **argv)
{
	int trouble;

	clock_start();
	if (argc > 1 && strcmp(argv[1], "--replay") == 0)
		return replay(argc - 2, argv + 2);
	trouble = try_unharmed();
	if (trouble)
		return trouble > 0;
	return run_rows(argc - 1, argv + 1) ? 0 : 1;
}
