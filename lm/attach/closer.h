/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closes descriptors from other processes. The last close of some may block for any time that
 * their creator chooses. Examples are a lingering socket, a file on FUSE, and a socket that holds
 * such descriptors unread. Threads close those.
 */
#ifndef LM_ATTACH_CLOSER_H
#define LM_ATTACH_CLOSER_H

#include <stdbool.h>

#define CLOSER_THREADS_MAX 16 /* threads that wait; one process can use all of them */
/* descriptors that wait for a thread: more than a burst of new processes sends */
#define CLOSER_QUEUE_MAX 128

struct closer;

/* Returns NULL without memory. */
struct closer *closer_new(void);

/* Does not wait for the threads, which close their descriptors later. */
void closer_free(struct closer *c);

/*
 * Never blocks on the close. Closes a memory file at once. Without memory the descriptor stays
 * open.
 */
void closer_close(struct closer *c, int fd);

/* True if CLOSER_QUEUE_MAX descriptors wait, so that no process should be accepted. */
bool closer_is_full(struct closer *c);

/*
 * True if the descriptor has seals, so that it is a memory file. Unlike fstat(), this never blocks.
 */
bool closer_is_memory(int fd);

#endif
