/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a program of Omig from inside a foreign process, so that the process does not notice. It
 * gets no SIGCHLD and no child for its wait(), and waits no longer than an exec. A child without an
 * exit signal, which shares the memory, makes the new process and ends; init adopts the new
 * process. The new process has a session of its own, all processors, the normal policy and default
 * signals. It has only the given descriptors, and the environment of the process without
 * LD_PRELOAD.
 */
#ifndef COMMON_INPROC_APART_H
#define COMMON_INPROC_APART_H

#include <stdbool.h>
#include <stddef.h>

#define APART_FDS_MAX 8

struct apart {
	const char *path;
	const char *const *argv; /* ends with NULL */
	/* become descriptors 0, 1, ...; each is >= nfd, or -1 for /dev/null */
	int fd[APART_FDS_MAX];
	unsigned nfd; /* at least 3 */
};

/* Returns 0, or -errno. A failure of the exec is not detected. Any thread. */
int apart_start(const struct apart *a);

/*
 * How to find a program: `set`, unless it is NULL; otherwise libexec/omig/NAME or bin/NAME
 * beside the folder lib/, lib/ARCHITECTURE/ or bin/ of the object that contains `here`.
 * apart_find() returns false if there is not an executable.
 */
struct apart_wanted {
	const char *set, *name;
	const void *here;
};
bool apart_find(char *out, size_t size, const struct apart_wanted *w);

/*
 * Returns a duplicate of `low`, or -1. It is closed by exec, and above the descriptors of a new
 * process.
 */
int apart_dup(int low);

#endif
