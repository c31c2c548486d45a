/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closes descriptors that come from other processes. The last close of some waits for as long as
 * their maker likes: of a socket that lingers, of a file on FUSE, of a socket that holds such
 * descriptors unread. Threads do those.
 */
#ifndef LM_ATTACH_CLOSER_H
#define LM_ATTACH_CLOSER_H

#include <stdbool.h>

#define CLOSER_THREADS_MAX 16 /* threads that wait; one process can use all of them */
/* descriptors that wait for a thread: more than a burst of new processes has */
#define CLOSER_QUEUE_MAX 128

struct closer;

/* NULL: no memory. */
struct closer *closer_new(void);

/* Does not wait for threads: they close their descriptors later. */
void closer_free(struct closer *c);

/* Never waits for the close. A memory file is closed at once. Without memory the descriptor stays
 * open. */
void closer_close(struct closer *c, int fd);

/* True: CLOSER_QUEUE_MAX descriptors wait, so no process should be accepted. */
bool closer_is_full(struct closer *c);

/* True: the descriptor has seals, so it is a memory file. Unlike fstat(), this never waits. */
bool closer_is_memory(int fd);

#endif
