/*
 * turner: what a worker of the server turns: the request pipeline, or a stack's bare echo.
 *
 * Both run on the same thread, pinned and waiting in the same way, under the same account of busy
 * time, and fill the same copy; so what `serve` prints differs by what was turned alone.
 *
 * Owned by one worker from open to close. Legal order: open, { turn, copy }*, drain, { turn, copy
 * }* until idle or a deadline of the caller's, close. Planes: open and close are setup, turn and
 * drain are turn, copy is report on the worker's thread.
 */
#ifndef WEIR_APPS_TURNER_H
#define WEIR_APPS_TURNER_H

#include "apps/serve/serve.h"

#include <stdbool.h>
#include <stdint.h>

struct turner_ops;

/* Implementations embed it first. */
struct turner {
	const struct turner_ops *ops;
	const struct busy *busy; /* the account of its turns */
	uint32_t capabilities;	 /* enum tp_capability, of what it opened */
};

struct turner_ops {
	/* Opens and listens as worker `index`. 0, or negative errno with `error` filled. */
	int (*open)(const struct serve_options *options, uint16_t index, struct turner **turner_out,
		    struct tp_error *error);
	/* One turn; sleeps at most `wait_ns`. */
	void (*turn)(struct turner *turner, uint64_t wait_ns);
	/* What of the device was taken away, so that nothing can come any more; or NULL. */
	const char *(*gone_part)(const struct turner *turner);
	/* Serves what has been received and ends every connection, as far as it can. */
	void (*drain)(struct turner *turner);
	/* Whether draining has nothing left to do. */
	bool (*idle)(const struct turner *turner);
	void (*copy)(const struct turner *turner, struct serve_copy *copy_out);
	/* Resets what is still open. */
	void (*close)(struct turner *turner);
};

extern const struct turner_ops pipeline_turner;
extern const struct turner_ops bare_turner;

#endif
