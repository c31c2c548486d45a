/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of a watched call, and the values derived from them: bytes, partner, events,
 * actions. C and Fortran share this: wrappers fill par[] with the values of the C arguments, in the
 * order of calls.def.
 */
#ifndef LIBAPP_HOT_ARGS_H
#define LIBAPP_HOT_ARGS_H

#include "common/ring/calls.h"
#include "common/ring/calls_id.h"
#include "libapp/hot/flavour.h"
#include "libapp/hot/hook.h"
#include "libapp/hot/requests.h"

#pragma GCC visibility push(hidden)

enum args_lang {
	LANG_C,
	LANG_F, /* mpif.h and use mpi */
	LANG_F08, /* use mpi_f08 */
	LANG_TS, /* use mpi_f08, buffers are array descriptors */
};

#define ARGS_STATUS_BYTES 64 /* more than any MPI's status */

struct hook_args {
	int64_t par[CALL_PARAMS_MAX];
	const struct call_desc *desc;
	uint32_t word; /* of the hook */
	uint32_t func;
	enum args_lang lang;
	bool is_wide; /* arrays of counts have 64 bits each */
	int64_t out, in; /* bytes, after args_volume() */
	bool has_size; /* the call itself has moved `out` and `in` */
	int64_t length; /* of the event: bytes sent, else bytes received or requested */
	uint64_t span; /* ticks of the call, times 2^k if sampled; 0: not timed */
	int64_t partner,
		partner_in; /* world ranks, or CALL_PARTNER_X; partner_in: the source of `in` */
	bool any_source;
	struct posted_ref open[2]; /* entries of a call that is not over; a Sendrecv has two */
	bool is_short; /* args_message_ops->begin_short() has done all that is to be done */
	struct wait_set *wait; /* of wrappers that complete requests, else NULL */
	struct args_message {
		uint64_t begin; /* ticks of the call */
		uint64_t comm_id; /* 0: not known */
		int32_t to, from; /* world ranks; -1: there is none, or not known yet */
		struct match_sent sent;
		struct match_ticket ticket;
		bool has_ticket;
		int32_t ranks, role; /* of a collective call, whose id is in `sent`; role 0: none */
	} message; /* with HOOK_MESSAGE */
	uint64_t status[ARGS_STATUS_BYTES / 8]; /* used in place of an ignored one */
};

/*
 * Called before the call, with par, lang, is_wide and wait filled. May replace a status argument in
 * par[]; the wrapper then passes that one. Preserves errno.
 */
void hook_prepare(struct hook *h, struct hook_args *a);

/*
 * Called after the call. Adds out, in and the partner of a successful call, the receives that it
 * completed, and the partner table. Preserves errno.
 */
void hook_finish(struct hook *h, int rc);

/*
 * Notes the bytes per start of a call that made a persistent request while its hook is off. par,
 * lang, is_wide and func are filled; the rest is set here. Preserves errno.
 */
void args_keep(struct hook_args *a);

/*
 * Called before a request is freed by a call whose hook is off. request: the argument of that
 * call.
 */
void args_freed(const void *request, enum args_lang lang);

/* Adds to the (function, partner) sums of this thread. A full table counts the loss. */
void partner_add(uint32_t func, int64_t partner, int64_t out, int64_t in, uint64_t span);

/* Returns a number that differs from that of the thread's last call of many partners. */
uint32_t partner_call(void);

/*
 * For a call of many requests: counts the call and its time once per partner, for any number of
 * requests. call: from partner_call().
 */
void partner_add_once(uint32_t func, int64_t partner, uint32_t call, uint64_t span);

/*
 * The time of one call, divided among all partners that it may have waited for. With one partner
 * the result is certain. With several, the likely ones get equal parts. The time is marked as
 * possible for all of them.
 */
#define PARTNERS_MAX (WAIT_SET_MAX + 1)

struct partners {
	uint32_t func;
	bool counts;
	unsigned n, likely;
	struct seg_partner *at[PARTNERS_MAX];
	bool is_likely[PARTNERS_MAX];
};

struct partner_part {
	int64_t partner; /* world rank, CALL_PARTNER_UNKNOWN or CALL_PARTNER_ALL */
	int64_t out, in;
	uint32_t kind; /* SEG_FOR_X; 0: the awaited partner is not known */
	int32_t tag;
	bool is_likely;
};

/*
 * counts: the call counts once for each partner. A wait does not count, because the completed
 * requests have.
 */
void partners_begin(struct partners *p, uint32_t func, bool counts);
void partners_add(struct partners *p, const struct partner_part *part);
void partners_end(const struct partners *p, uint64_t span);

/* Adds the time of a call that is not counted, because it began before its hook was on. */
void partner_late(uint32_t func, int64_t partner, uint64_t span);

/*
 * The same for the current call of this thread, with the arguments that it noted. Preserves errno.
 */
void args_late(uint32_t func, uint64_t span);

/* Returns the partner of that call, or CALL_PARTNER_X. Preserves errno. */
int64_t args_late_partner(uint32_t func);

/* Adds bytes of a call that was counted already. */
void partner_bytes(uint32_t func, int64_t partner, int64_t out, int64_t in);

/* Returns count x size of a send or receive, or of the arguments at two positions from 0. */
int64_t args_posted(const struct hook_args *a);
int64_t args_block(const struct hook_args *a, unsigned count, unsigned type);

/* Sets out and in of a call that has succeeded, or that begins (CALL_START: as far as known). */
void args_volume(struct hook_args *a, enum call_phase phase);

/*
 * Returns the bytes that a persistent request moves at each start; for a partitioned send, per
 * partition.
 */
void args_persistent(struct hook_args *a, int64_t *out, int64_t *in);

/* Returns the position of the source of a Sendrecv; 0: not a Sendrecv. */
static inline unsigned args_source_place(const struct call_desc *d)
{
	switch (d->volume) {
	case CALL_V_SENDRECV:
	case CALL_V_ISENDRECV:
		return 9;
	case CALL_V_SENDRECV_REPLACE:
	case CALL_V_ISENDRECV_REPLACE:
		return 6;
	default:
		return 0;
	}
}

/* Sets partner and any_source from the arguments. At the end the status resolves any source. */
void args_partner(struct hook_args *a, enum call_phase phase);

/*
 * Functions of libapp/vertex, for calls with HOOK_MESSAGE. Requests that are tracked have the
 * tickets of their receives.
 */
struct args_message_ops {
	void (*begin)(struct hook_args *a); /* in front of the call */
	void (*end)(struct hook_args *a, int rc); /* behind it, before its requests */
	/*
	 * The same for a call that needs nothing but HOOK_MESSAGE: func, par and lang are filled.
	 * They touch neither MPI nor errno. Returns false, and does nothing, if the call must take
	 * the long way.
	 */
	bool (*begin_short)(struct hook_args *a);
	void (*end_short)(struct hook_args *a, int rc);
	/* The call made a request: fills comm_id and ticket. Returns true if it must be tracked. */
	bool (*made)(const struct hook_args *a, struct request *r);
	void (*started)(const struct hook_args *a, struct request *r); /* a persistent one */
	void (*ended)(struct request *r, const struct status_view *v);
	void (*lost)(struct request *r); /* the end of the request cannot be detected */
};
extern const struct args_message_ops *args_message_ops;

/* Converts Fortran's integer handle to the C word. Used by the generated wrappers. */
int64_t args_from_fortran(unsigned kind, const void *fint);

/* Writes the record of (func, phase) to the thread's ring, and runs its actions. */
void event_put(const struct hook *h, enum call_phase phase, uint64_t now, int rc);
void event_act(const struct hook *h, enum call_phase phase, uint64_t now, int rc);

/* Starts actions late, for a call that is ending and began before they were installed. */
void event_begin_late(const struct hook *h);

/*
 * Starts and ends a call whose end was not watched when it began. begin: ticks, or 0 if its start
 * was not watched either.
 */
void event_late(uint32_t func, int64_t partner, uint64_t begin, uint64_t now);

/* Runs the chain of e over the cells of this thread. */
void event_run(const struct action_event *e);

static inline struct ring event_ring(struct seg_thread *block)
{
	return (struct ring){ .bytes = (uint8_t *)block + app_state.plan.ring_offset,
			      .size = app_state.plan.ring_bytes,
			      .head = &block->ring_head,
			      .tail = &block->ring_tail,
			      .dropped = &block->ring_dropped };
}

#pragma GCC visibility pop

#endif
