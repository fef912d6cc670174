#include "dataplane/handlers/static_path.h"

#include "dataplane/handlers/path.h"

#include <stdbool.h>
#include <string.h>

/* Whether a part of the name may begin with `byte`: none is empty or hidden. */
static bool may_begin(char byte)
{
	return byte != '/' && byte != '.';
}

/* Decodes all behind the first '/'; 0 or the code that refuses it. */
static unsigned decode(struct span path, char *name, size_t *bytes_out)
{
	size_t bytes = 0;

	for (size_t at = 1; at < path.bytes;) {
		bool escaped = path.base[at] == '%';
		int byte = path_next(path, &at);

		if (byte < 0)
			return 400;
		if (byte == '\0' || (escaped && byte == '/'))
			return 404;
		if ((bytes == 0 || name[bytes - 1] == '/') && !may_begin((char)byte))
			return 404;
		if (bytes == STATIC_NAME_BYTES - 1)
			return 414;
		name[bytes++] = (char)byte;
	}
	*bytes_out = bytes;
	return 0;
}

unsigned static_path_name(struct span path, char name_out[STATIC_NAME_BYTES])
{
	size_t bytes;
	unsigned code;

	if (path.bytes == 0 || path.base[0] != '/')
		return 404; /* "*" */
	code = decode(path, name_out, &bytes);
	if (code)
		return code;
	name_out[bytes] = '\0';
	if (bytes > 0 && name_out[bytes - 1] != '/')
		return 0;
	if (bytes + sizeof(STATIC_INDEX) > STATIC_NAME_BYTES)
		return 414;
	strcpy(name_out + bytes, STATIC_INDEX);
	return 0;
}
