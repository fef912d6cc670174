#include "tests/interop/capture.h"

/* pcap with nanoseconds (draft-ietf-opsawg-pcap), in this host's byte order. */
enum { VERSION_MAJOR = 2, VERSION_MINOR = 4, LINK_ETHERNET = 1, FRAME_MAX = 65535 };

#define MAGIC 0xa1b23c4du

FILE *capture_open(const char *path)
{
	struct {
		uint32_t magic;
		uint16_t major, minor;
		uint32_t reserved[2], frame_max, link;
	} head = {MAGIC, VERSION_MAJOR, VERSION_MINOR, {0}, FRAME_MAX, LINK_ETHERNET};
	FILE *file = fopen(path, "wb");

	if (file)
		fwrite(&head, sizeof(head), 1, file);
	return file;
}

void capture_add(FILE *file, const uint8_t *frame, size_t bytes, uint64_t now_ns)
{
	uint32_t head[] = {(uint32_t)(now_ns / 1000000000), (uint32_t)(now_ns % 1000000000),
			   (uint32_t)bytes, (uint32_t)bytes};

	fwrite(head, sizeof(head), 1, file);
	fwrite(frame, bytes, 1, file);
}
