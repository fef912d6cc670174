#include "dataplane/handlers/static_path.h"

#include <string.h>

static int hex_of(uint8_t digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	digit |= 32;
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* The byte of the escape at `at`, or -1. */
static int unescape(struct span path, size_t at)
{
	int high, low;

	if (path.bytes - at < 3)
		return -1;
	high = hex_of(path.base[at + 1]);
	low = hex_of(path.base[at + 2]);
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* Whether a part of the name may begin with `byte`: none is empty or hidden. */
static bool may_begin(char byte)
{
	return byte != '/' && byte != '.';
}

/* Decodes all behind the first '/'; 0 or the code that refuses it. */
static unsigned decode(struct span path, char *name, size_t *bytes_out)
{
	size_t bytes = 0;

	for (size_t at = 1; at < path.bytes; at++) {
		int byte = path.base[at];
		bool escaped = byte == '%';

		if (escaped) {
			byte = unescape(path, at);
			at += 2;
		}
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

bool static_path_index(char name[STATIC_NAME_BYTES])
{
	size_t bytes = strlen(name);
	bool parted = bytes == 0 || name[bytes - 1] == '/';

	if (bytes + !parted + sizeof(STATIC_INDEX) > STATIC_NAME_BYTES)
		return false;
	if (!parted)
		name[bytes++] = '/';
	strcpy(name + bytes, STATIC_INDEX);
	return true;
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
	return static_path_index(name_out) ? 0 : 414;
}
