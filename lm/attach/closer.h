/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closes descriptors that come from other processes. The last close of some waits for as long as
 * their maker likes: of a socket that lingers, of a file on FUSE, of a socket that holds such
 * descriptors unread. Threads do those.
 */
#ifndef LM_ATTACH_CLOSER_H
#define LM_ATTACH_CLOSER_H

#include <stdbool.h>

#define CLOSER_THREADS_MAX 16 /* that wait at once: one process can have them all */
/* descriptors that wait for a thread: a burst of processes that come has fewer */
#define CLOSER_QUEUE_MAX 128

struct closer;

/* NULL: no memory. */
struct closer *closer_new(void);

/* Does not wait for threads: what they still close is closed when they can. */
void closer_free(struct closer *c);

/* Never waits for the close. A memory file is closed at once. Without memory the descriptor stays
 * open. */
void closer_close(struct closer *c, int fd);

/* CLOSER_QUEUE_MAX descriptors wait for a thread: no other should be taken in. */
bool closer_is_full(struct closer *c);

/* Nothing but a memory file has seals. Asking waits for nothing, unlike fstat(). */
bool closer_is_memory(int fd);

#endif
