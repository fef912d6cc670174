#include "apps/load/talk.h"

#include "apps/common/file.h"
#include "apps/load/dialect.h"
#include "dataplane/core/limits.h"
#include "dataplane/proto/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int read_answers(struct talk *talk, const char *path, struct tp_error *error)
{
	size_t bytes;
	char *data;
	int rc = file_read(path, TALK_FILE_BYTES, &data, &bytes, error);

	if (rc < 0)
		return rc;
	talk->memory = (uint8_t *)data;
	talk->response_bytes = (uint32_t)bytes;
	return 0;
}

static int fill_answers(struct talk *talk, uint32_t response_bytes, struct tp_error *error)
{
	talk->memory = malloc(LIMIT_CHUNK_BYTES);
	if (!talk->memory)
		return tp_fail(error, -ENOMEM, "no memory for the expected responses");
	memset(talk->memory, FRAME_FILL_BYTE, LIMIT_CHUNK_BYTES);
	talk->response_bytes = response_bytes;
	return 0;
}

/* Makes what responses are held against. */
static int make_answers(struct talk *talk, const struct talk_config *config, struct tp_error *error)
{
	int rc = 0;

	talk->answer = config->answer;
	switch (config->answer) {
	case TALK_FILL:
		rc = fill_answers(talk, config->response_bytes, error);
		break;
	case TALK_ECHO:
		talk->response_bytes = config->request_bytes;
		break;
	case TALK_FILE:
		rc = read_answers(talk, config->file, error);
		break;
	}
	talk->answers = talk->memory;
	return rc;
}

int talk_init(struct talk *talk, const struct talk_config *config, struct tp_error *error)
{
	int rc;

	*talk = (struct talk){.dialect = config->dialect};
	rc = make_answers(talk, config, error);
	if (rc == 0 && bodies_create(&talk->bodies, config->request_bytes) < 0)
		rc = tp_fail(error, -ENOMEM, "no memory for request bodies of %u bytes",
			     config->request_bytes);
	if (rc == 0)
		rc = config->dialect->prepare(talk, config, error);
	if (rc < 0)
		talk_fini(talk);
	return rc;
}

void talk_fini(struct talk *talk)
{
	bodies_destroy(&talk->bodies);
	free(talk->head);
	free(talk->memory);
	*talk = (struct talk){.dialect = NULL};
}
