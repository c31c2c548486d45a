/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of a watched call, and what follows from them: bytes, partner,
 * events, actions. The same for C and Fortran: wrappers fill par[] with the
 * values of the C arguments, in the order of calls.def.
 */
#ifndef LIBAPP_HOT_ARGS_H
#define LIBAPP_HOT_ARGS_H

#include "common/ring/calls.h"
#include "common/ring/calls_id.h"
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
	bool has_size; /* the call itself has moved out and in */
	int64_t length; /* of the event: what went out, else what came in or was requested */
	uint64_t span; /* ticks that the call took, multiplied by 2^k when sampled; 0: it was not
			  timed */
	int64_t partner,
		partner_in; /* world ranks, or CALL_PARTNER_X; partner_in: where `in` came from */
	bool any_source;
	struct posted_ref open[2]; /* entries of a call that is not over; a Sendrecv has two */
	struct wait_set *wait; /* of wrappers that complete requests, else NULL */
	uint64_t status[ARGS_STATUS_BYTES / 8]; /* in place of an ignored one */
};

/*
 * Before the call, par, lang, is_wide and wait filled: may replace par[] of a status
 * argument, which the wrapper then passes on instead of its own. errno is kept.
 */
void hook_prepare(struct hook *h, struct hook_args *a);

/*
 * After the call: out, in and partner of one that succeeded, completions
 * (figures of the receives that ended here), the partner table. errno is kept.
 */
void hook_finish(struct hook *h, int rc);

/*
 * Of a call that made a persistent request while its hook is off: what the request moves each
 * time. par, lang, is_wide and func filled; the rest is set here. errno is kept.
 */
void args_keep(struct hook_args *a);

/* A request is about to be freed while the hook of that call is off. request: its argument. */
void args_freed(const void *request, enum args_lang lang);

/* Adds to the (function, partner) sums of this thread; a full table counts the loss. */
void partner_add(uint32_t func, int64_t partner, int64_t out, int64_t in, uint64_t span);

/* Another number than that of the thread's last call of many partners. */
uint32_t partner_call(void);

/*
 * Of a call of many requests: the call and its time count once for a partner, however many of the
 * requests it has. call: of partner_call().
 */
void partner_add_once(uint32_t func, int64_t partner, uint32_t call, uint64_t span);

/*
 * The time of one call, shared out among all that it may have waited for. With one partner that is
 * certain. With several the time goes in equal parts to those that are likely. Such time is
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
	uint32_t kind; /* SEG_FOR_X; 0: it is not known what was waited for */
	int32_t tag;
	bool is_likely;
};

/* counts: the call counts once for each partner; a wait does not, for what it completes has. */
void partners_begin(struct partners *p, uint32_t func, bool counts);
void partners_add(struct partners *p, const struct partner_part *part);
void partners_end(const struct partners *p, uint64_t span);

/* Time of a call that is not counted, because it had begun before its hook was on. */
void partner_late(uint32_t func, int64_t partner, uint64_t span);

/* The same of the call that this thread is in, whose arguments are those that it noted. errno is
 * kept. */
void args_late(uint32_t func, uint64_t span);

/* Partner of that call, or CALL_PARTNER_X. errno is kept. */
int64_t args_late_partner(uint32_t func);

/* Bytes of a call that was added already. */
void partner_bytes(uint32_t func, int64_t partner, int64_t out, int64_t in);

/* count x size of a send or receive with one buffer, or of the arguments at two places from 0. */
int64_t args_posted(const struct hook_args *a);
int64_t args_block(const struct hook_args *a, unsigned count, unsigned type);

/* out and in of a call that is to begin (CALL_START: what is known then) or has succeeded. */
void args_volume(struct hook_args *a, enum call_phase phase);

/* The bytes that a persistent request moves at each start; of a partitioned send, with each
 * partition. */
void args_persistent(struct hook_args *a, int64_t *out, int64_t *in);

/* Where a Sendrecv has its source; 0: no Sendrecv. */
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

/* partner and any_source from the arguments; at the end, with the status, any source is known. */
void args_partner(struct hook_args *a, enum call_phase phase);

/* Fortran's integer handle as the C word. Used by the generated wrappers. */
int64_t args_from_fortran(unsigned kind, const void *fint);

/* The record of (func, phase) in the thread's ring, and its actions. */
void event_put(const struct hook *h, enum call_phase phase, uint64_t now, int rc);
void event_act(const struct hook *h, enum call_phase phase, uint64_t now, int rc);

/* The start of a call that is ending, for actions that came while it lasted. */
void event_begin_late(const struct hook *h);

/* Start and end of a call whose end was not watched when it began. begin: ticks, or 0 when its
 * start was not, too. */
void event_late(uint32_t func, int64_t partner, uint64_t begin, uint64_t now);

/* The chain of e, over the cells of this thread. */
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
