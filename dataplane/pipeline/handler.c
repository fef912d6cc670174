#include "dataplane/pipeline/handler.h"

#include <errno.h>
#include <string.h>

const char handler_usage[] = "respond or echo";

int handler_parse(const char *name, enum handler_kind *kind_out)
{
	if (strcmp(name, "respond") == 0)
		*kind_out = HANDLER_RESPOND;
	else if (strcmp(name, "echo") == 0)
		*kind_out = HANDLER_ECHO;
	else
		return -EINVAL;
	return 0;
}
