/*
 * ask: one server of a plan started, asked fixed requests, and ended.
 *
 * The process part of parity: the server and the client that asks it (`weir load --digest`) are
 * started as a sample's are, with the sample's own arguments but for the load's.
 *
 * Plane: setup and report.
 */
#ifndef WEIR_RUN_ASK_H
#define WEIR_RUN_ASK_H

#include "apps/provenance/sha256.h"
#include "apps/run/store/directory.h"
#include "apps/run/sample/interrupt.h"
#include "apps/run/plan/plan.h"

enum { ASK_PREFIX_BYTES = 64 };

struct answer {
	char hex[SHA256_HEX_BYTES]; /* of all that was answered; "" if not all was */
	unsigned long long bytes;   /* of it */
	bool verified;		    /* each answer was right */
	char failure[1024];	    /* why there is no digest, or what was wrong; "" if nothing */
};

/*
 * Asks the server of a sample that is not being carried out; the logs go to PREFIX.server.log and
 * PREFIX.client.log in the directory, whose folder exists. 0 with `answer_out` filled, or -EINTR,
 * -ENOMEM, or the directory's failure. Nothing is left running.
 */
int ask_server(const struct plan_sample *sample, struct directory *directory,
	       struct interrupt *interrupt, const char *prefix, struct answer *answer_out);

#endif
