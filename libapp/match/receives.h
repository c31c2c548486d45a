/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receives of one process, numbered in the order of their posts. Messages arrive in that order
 * (MPI 4.0, section 3.5). The program may see them complete in another order.
 *
 * A receive of a given source and tag has its number when it is posted. There are two exceptions.
 * An earlier receive may leave its source or tag open, and may have taken a message of this
 * channel. Or an earlier receive of the channel is being cancelled. Then the number is open until
 * the earlier one has ended, and an end is reported later.
 *
 * One thread at a time calls these functions, as those of sends.h.
 */
#ifndef LIBAPP_MATCH_RECEIVES_H
#define LIBAPP_MATCH_RECEIVES_H

#include "libapp/match/sends.h"

#pragma GCC visibility push(hidden)

/* Limit of receives whose number is open at the same time. Beyond it all numbers are in doubt. */
#define MATCH_OPEN 256
/*
 * Limit of cancelled receives with later ones in their channel, since the start. Beyond it all
 * numbers are in doubt.
 */
#define MATCH_DROPS 64

struct match_pattern {
	uint64_t comm;
	int32_t source, tag; /* or MATCH_ANY */
};

/* A receive from its post to its end. The owner of the request stores it, and does not change it.
 */
struct match_ticket {
	uint64_t key; /* key of its channel; 0: the receive is open, and found by `place` */
	uint64_t n; /* posted number in the channel */
	uint64_t place; /* of an open receive: its number among all open ones */
	bool in_doubt;
};

struct match_open {
	uint64_t place;
	struct match_pattern from; /* of an ended one as it was received */
	uint64_t key, n; /* n 0: not numbered yet */
	uint64_t arg; /* of an ended one */
	bool has_ended, is_cancelling, is_forgotten, in_doubt;
};

struct match_receives {
	bool is_shared, in_doubt; /* as of struct match_sends */
	int32_t rank; /* of this process: the destination */
	uint64_t places;
	unsigned nopen, ndrop;
	struct match_open open[MATCH_OPEN]; /* in the order in which they were posted */
	struct match_drop {
		uint64_t key, n;
		bool is_over; /* it was cancelled; else it is not known whether it was */
	} drop[MATCH_DROPS];
	struct match_posting {
		struct match_pattern from;
		bool is_on, in_doubt;
	} posting[MATCH_THREADS];
	struct match_table table;
	/* Reports the id of an end that was late. arg and source: from match_end(). */
	void (*on_late)(uint64_t arg, int32_t source, const struct match_sent *received);
};

/* Called in front of the receive. */
void match_post(struct match_receives *r, const struct match_pattern *from, unsigned thread,
		struct match_ticket *out);

/* Called when the call that posted it has returned, before match_end(). */
void match_posted(struct match_receives *r, unsigned thread, struct match_ticket *t);

/*
 * The receive got a message. from: without MATCH_ANY. Returns false if the number is open: then
 * on_late reports it, maybe at once. Ends of other receives may be reported, too.
 */
bool match_end(struct match_receives *r, const struct match_ticket *t,
	       const struct match_pattern *from, uint64_t arg, struct match_sent *out);

/* MPI_Cancel was called: the receive may still get a message. */
void match_cancel(struct match_receives *r, const struct match_ticket *t);

/* The receive was cancelled: it gets no message. */
void match_cancelled(struct match_receives *r, const struct match_ticket *t);

/* The request was freed: numbers that depend on its end stay unknown. */
void match_abandon(struct match_receives *r, const struct match_ticket *t);

#pragma GCC visibility pop

#endif
