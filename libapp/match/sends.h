/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sends of one process. One thread at a time calls these functions. With MPI_THREAD_MULTIPLE a
 * lock of the caller covers each of them, but not the send itself. Then the order of two sends in
 * one channel is not known if one begins before the other has returned: both are in doubt.
 */
#ifndef LIBAPP_MATCH_SENDS_H
#define LIBAPP_MATCH_SENDS_H

#include "libapp/match/key.h"

#pragma GCC visibility push(hidden)

#define MATCH_THREADS 64 /* in MPI calls at once: as many as have blocks in a segment */

struct match_sends {
	bool is_shared; /* shared by threads: MPI_THREAD_MULTIPLE */
	bool in_doubt; /* all further ids are in doubt, because a send was not counted */
	struct match_sending {
		uint64_t key; /* 0: the thread is in no send */
		bool in_doubt;
	} sending[MATCH_THREADS];
	struct match_table table;
};

struct match_sent {
	uint64_t id; /* 0: not known */
	bool in_doubt; /* another send of the channel may have this number */
};

/* Called in front of the send. The thread's index is below MATCH_THREADS. */
struct match_sent match_send(struct match_sends *s, const struct match_channel *c, unsigned thread);

/* Called after the send. Sets *sent in doubt if another thread was in a send of the channel. */
void match_send_done(struct match_sends *s, unsigned thread, struct match_sent *sent);

#pragma GCC visibility pop

#endif
