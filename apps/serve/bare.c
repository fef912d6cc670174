#include "apps/serve/turner.h"

#include "dataplane/pipeline/filler.h"
#include "dataplane/pipeline/codec.h"
#include "dataplane/pipeline/date.h"
#include "dataplane/pipeline/http1_answer.h"
#include "dataplane/proto/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct bare_echo {
	struct turner base;
	const struct bare_ops *ops;
	struct bare *bare;
	struct busy busy;
};

static const struct bare_echo *echo_of(const struct turner *turner)
{
	return (const struct bare_echo *)turner;
}

/* Requests and answers as the framed protocol has them. */
static void expect_frames(const struct serve_options *options, struct bare_config *config,
			  uint8_t *answer)
{
	config->request_bytes = FRAME_HEAD_BYTES + options->request_bytes;
	config->response_bytes = FRAME_HEAD_BYTES + options->response_bytes;
	bare_answer_frames(config, answer);
}

/* HTTP: the very answer that the handler `respond` gives, with the Date of the start. */
static void expect_http1(const struct serve_options *options, struct bare_config *config,
			 uint8_t *answer)
{
	struct date date;
	size_t head_bytes;

	date_init(&date);
	head_bytes =
		http1_answer_head(answer, &filler_response(options->response_bytes),
				  &(struct http1_answer){.date = date_text(&date, clock_now_ns())});
	memset(answer + head_bytes, FRAME_FILL_BYTE, options->response_bytes);
	config->request_bytes = options->request_bytes;
	config->response_bytes = (uint32_t)head_bytes + options->response_bytes;
	config->response = answer;
}

static int echo_open(const struct serve_options *options, uint16_t index,
		     struct turner **turner_out, struct tp_error *error)
{
	struct bare_config config = {.listen = &options->listen};
	struct tp_limits limits = {.conn_max = options->conn_max};
	uint8_t answer[CODEC_HEAD_BYTES + LIMIT_CHUNK_BYTES];
	struct bare_echo *echo = calloc(1, sizeof(*echo));
	int rc;

	if (!echo)
		return tp_fail(error, -ENOMEM, "no memory for a bare echo");
	if (strcmp(codec_names[options->protocol], "http1") == 0)
		expect_http1(options, &config, answer);
	else
		expect_frames(options, &config, answer);
	rc = stack_open_bare(&options->stack, index, &limits, &config, &echo->bare, error);
	if (rc < 0) {
		free(echo);
		return rc;
	}
	/* it sends nothing but its answers */
	echo->base = (struct turner){.ops = &bare_turner,
				     .busy = &echo->busy,
				     .capabilities = options->stack.stack->ops->capabilities &
						     ~(uint32_t)TP_SENDS_FILES};
	echo->ops = options->stack.stack->bare;
	*turner_out = &echo->base;
	return 0;
}

static void echo_turn(struct turner *turner, uint64_t wait_ns)
{
	struct bare_echo *echo = (struct bare_echo *)turner;
	struct tp_turn turn;

	echo->ops->turn(echo->bare, wait_ns, &turn);
	busy_account(&echo->busy, &turn);
}

/* A bare echo neither looks after its device nor ends in good order: closing resets. */
static const char *echo_gone_part(const struct turner *turner)
{
	return NULL;
}

static void echo_drain(struct turner *turner)
{
}

static bool echo_idle(const struct turner *turner)
{
	return true;
}

static void echo_copy(const struct turner *turner, struct serve_copy *copy_out)
{
	const struct bare_echo *echo = echo_of(turner);
	struct bare_counts counts;

	*copy_out = (struct serve_copy){.server.busy = echo->busy};
	echo->ops->counts(echo->bare, &counts, &copy_out->transport.counters);
	copy_out->server.requests = copy_out->server.responses = counts.requests;
	copy_out->server.connections = counts.connections;
}

static void echo_close(struct turner *turner)
{
	struct bare_echo *echo = (struct bare_echo *)turner;

	echo->ops->close(echo->bare);
	free(echo);
}

const struct turner_ops bare_turner = {
	.open = echo_open,
	.turn = echo_turn,
	.gone_part = echo_gone_part,
	.drain = echo_drain,
	.idle = echo_idle,
	.copy = echo_copy,
	.close = echo_close,
};
