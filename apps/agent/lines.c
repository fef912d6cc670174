#include "apps/agent/agent.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* The line at the front if it is whole, its end replaced by a NUL, or NULL. */
static char *take_line(struct agent_lines *lines)
{
	char *end;

	memmove(lines->data, lines->data + lines->given, lines->used - lines->given);
	lines->used -= lines->given;
	lines->given = 0;
	end = memchr(lines->data, '\n', lines->used);
	if (!end)
		return NULL;
	*end = '\0';
	lines->given = (size_t)(end + 1 - lines->data);
	return lines->data;
}

/* Reads what there is. False at the end, or where a line is longer than any should be. */
static bool read_more(struct agent_lines *lines)
{
	size_t room = sizeof(lines->data) - lines->used;
	ssize_t got = room ? read(STDIN_FILENO, lines->data + lines->used, room) : 0;

	if (got < 0)
		return errno == EINTR || errno == EAGAIN;
	lines->used += (size_t)got;
	return got > 0;
}

int agent_next_line(struct agent_lines *lines, int also_fd, uint64_t silence_ns, char **line_out)
{
	uint64_t deadline_ns = clock_monotonic_ns() + silence_ns;
	struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
				{.fd = also_fd, .events = POLLIN}};
	uint64_t now_ns;
	char *line;

	while (!(line = take_line(lines))) {
		now_ns = clock_monotonic_ns();
		if (now_ns >= deadline_ns)
			return -1;
		poll(fds, 2, (int)((deadline_ns - now_ns) / CLOCK_MS_NS + 1));
		if (fds[1].revents)
			return 0;
		if (fds[0].revents && !read_more(lines))
			return -1;
	}
	*line_out = line;
	return 1;
}
