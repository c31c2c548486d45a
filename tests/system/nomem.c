/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded before libomig: a host whose memory for shared files is full.
 * NOMEM=memfd: no memfd at all; else a memfd that cannot be filled.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <fcntl.h>
#include <unistd.h>

#define OFFERED __attribute__((visibility("default")))

OFFERED int memfd_create(const char *name, unsigned flags)
{
	const char *how = getenv("NOMEM");

	if (!strncmp(name, "omig-", 5) && how && !strcmp(how, "memfd")) {
		errno = ENOMEM;
		return -1;
	}
	return (int)syscall(SYS_memfd_create, name, flags);
}

OFFERED int fallocate(int fd, int mode, off_t at, off_t bytes)
{
	errno = ENOSPC;
	return -1;
}
