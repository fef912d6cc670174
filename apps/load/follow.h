/*
 * follow: a client whose mode is that of the server that it loads.
 *
 * The server's effective configuration is made from its files as the server makes it (weir.json
 * included), and what both sides must agree on becomes the client's, unless its command line says
 * otherwise.
 *
 * Plane: setup.
 */
#ifndef WEIR_APPS_LOAD_FOLLOW_H
#define WEIR_APPS_LOAD_FOLLOW_H

#include "apps/load/load.h"

/*
 * Takes over what the files of --from-config say, if there are any, behind flags_parse. True to go
 * on; else what is wrong has been printed, and `status_out` is the verb's exit status.
 */
bool follow_server(struct load_options *options, struct flags *flags, int *status_out);

/*
 * What the client's handler lets it expect of each response's body: fills `answer` and
 * `response_bytes` of `config`. 0; -EINVAL with `error` filled if only a file could tell.
 */
int follow_answer(const struct load_options *options, struct talk_config *config,
		  struct tp_error *error);

#endif
