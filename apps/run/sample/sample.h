/*
 * sample: one measurement: a fresh server, a client against it, and what became of both.
 *
 * The server is started and waited for by its ready line; the client runs its warm-up and its
 * measured window on it; the server is asked for a snapshot of its accounts as the window begins
 * and as it ends; then it is told to stop, and killed if it does not. Whatever goes wrong with
 * either makes the sample invalid, with the cause in words, and nothing is left running.
 *
 * There may be several clients, here or on other hosts (hosts.h). They begin together once all have
 * connected, and the server is asked as the last of them begins to measure and as the first ends.
 *
 * Plane: setup and report.
 */
#ifndef WEIR_RUN_SAMPLE_H
#define WEIR_RUN_SAMPLE_H

#include "apps/run/store/directory.h"
#include "apps/run/sample/interrupt.h"
#include "apps/run/plan/plan.h"

/*
 * Carries out one sample and writes its folder. The result (result.json), owned by the caller, goes
 * to `result_out`, untouched if it was interrupted. `hosts` (NULL: this one alone) are open. 0, or
 * -EINTR, or the directory's failure, or -EHOSTDOWN, said in the directory's error, when a host was
 * lost too often in a row.
 */
int sample_run(const struct plan_sample *sample, const struct experiment *experiment,
	       struct directory *directory, struct interrupt *interrupt, struct hosts *hosts,
	       json_t **result_out);

#endif
