#include "dataplane/pipeline/codec.h"

#include <string.h>

static const struct codec *const codecs[] = {&codec_framed, &codec_http1};

const char *const codec_names[] = {"framed", "http1", NULL};

const struct codec *codec_find(const char *name)
{
	for (unsigned i = 0; codec_names[i]; i++)
		if (strcmp(codec_names[i], name) == 0)
			return codecs[i];
	return NULL;
}
