#include "stacks/dpdk/descriptor.h"

#include <dirent.h>
#include <stdlib.h>

unsigned descriptor_find(descriptor_match *match, const void *wanted, int *fd_out)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	unsigned count = 0;

	*fd_out = -1;
	if (!folder)
		return 0;
	while ((entry = readdir(folder))) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] == '.' || !match(fd, wanted))
			continue;
		if (count++ == 0 || fd < *fd_out)
			*fd_out = fd;
	}
	closedir(folder);
	return count;
}
