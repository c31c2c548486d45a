/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a program of ours from inside a process that is not aware of it. That process gets no
 * SIGCHLD and no child for its wait(), and waits no longer than an exec. A child without an exit
 * signal, which shares the memory, makes the new process and ends; init adopts it. The new process
 * has a session of its own, all processors, the normal policy and no signals set. It has only the
 * descriptors that it is given. Its environment is that of the process without LD_PRELOAD.
 */
#ifndef COMMON_INPROC_APART_H
#define COMMON_INPROC_APART_H

#include <stdbool.h>
#include <stddef.h>

#define APART_FDS_MAX 8

struct apart {
	const char *path;
	const char *const *argv; /* ends with NULL */
	int fd[APART_FDS_MAX]; /* become 0, 1, ...; each >= nfd, or -1: /dev/null */
	unsigned nfd; /* at least 3 */
};

/* Returns 0, or -errno. A failing exec is not seen. Any thread. */
int apart_start(const struct apart *a);

/*
 * Finds a program: `set`, unless NULL, else bin/NAME beside the lib/ or lib/ARCHITECTURE/ or bin/
 * of the object that `here` is in. Returns false if there is none that can be executed.
 */
struct apart_wanted {
	const char *set, *name;
	const void *here;
};
bool apart_find(char *out, size_t size, const struct apart_wanted *w);

/* Returns a duplicate of `low` above the descriptors of a new process, closed by exec, or -1. */
int apart_dup(int low);

#endif
