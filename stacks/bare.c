#include "stacks/bare.h"

#include <errno.h>

int bare_check_sizes(const struct bare_config *config, const char *stack, struct tp_error *error)
{
	uint32_t least = config->request_bytes < config->response_bytes ? config->request_bytes
									: config->response_bytes;
	uint32_t most = config->request_bytes + config->response_bytes - least;
	uint32_t repeated_end = config->repeat.offset + config->repeat.bytes;

	if (most > LIMIT_CHUNK_BYTES || least == 0)
		return tp_fail(error, -EINVAL,
			       "%s: requests of %u and responses of %u bytes; a bare echo has 1 to "
			       "%d of each",
			       stack, config->request_bytes, config->response_bytes,
			       LIMIT_CHUNK_BYTES);
	if (repeated_end > BARE_REPEATED_END || repeated_end > least)
		return tp_fail(error, -EINVAL,
			       "%s: a bare echo that repeats bytes up to %u wants requests and "
			       "responses of at least as many, and repeats none beyond %d",
			       stack, repeated_end, BARE_REPEATED_END);
	return 0;
}
