#include "dataplane/handlers/path.h"

static int hex_of(uint8_t digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	digit |= 32;
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

int path_next(struct span path, size_t *at)
{
	size_t begin = *at;
	int high, low;

	*at += path.base[begin] == '%' ? 3 : 1;
	if (path.base[begin] != '%')
		return path.base[begin];
	if (path.bytes - begin < 3)
		return -1;
	high = hex_of(path.base[begin + 1]);
	low = hex_of(path.base[begin + 2]);
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

bool path_has_dots(struct span path)
{
	unsigned dots = 0;
	bool other = false; /* the part at hand has anything else */

	for (size_t at = 0; at < path.bytes;) {
		int byte = path_next(path, &at);
		bool parts = byte == '/' || byte == '\\';

		if ((parts || byte == ';') && !other && (dots == 1 || dots == 2))
			return true;
		dots = parts ? 0 : dots + (byte == '.');
		other = !parts && (other || byte != '.');
	}
	return !other && (dots == 1 || dots == 2);
}
