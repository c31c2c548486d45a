/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/self.h"

#include "common/base/str.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct segview *self_open(void)
{
	DIR *fds = opendir("/proc/self/fd");
	struct segview *v = NULL;
	char link[256];
	struct dirent *d;
	ssize_t n;

	while (fds && !v && (d = readdir(fds))) {
		uint64_t fd;

		n = readlinkat(dirfd(fds), d->d_name, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = 0;
		if (str_has_prefix(link, "/memfd:" SEG_MEMFD_PREFIX) &&
		    !str_to_u64(d->d_name, 0, INT32_MAX, &fd))
			segview_open((int)fd, getuid(), &v, NULL);
	}
	if (fds)
		closedir(fds);
	return v;
}
