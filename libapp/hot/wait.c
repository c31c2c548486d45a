/* SPDX-License-Identifier: Apache-2.0 */
#include "libapp/hot/wait.h"

#include "common/base/array.h"
#include "libapp/hot/comm.h"
#include "libapp/hot/flavour.h"
#include "libapp/hot/listing.h"
#include "libapp/hot/site.h"
#include "libapp/hot/waited.h"

#include <stddef.h>

/* Arguments of a completing call: positions of C arguments + 1, 0 = none. */
static const struct wait_shape {
	uint8_t count, requests, flag, index, outcount, indices;
} shape_of[] = {
	[CALL_V_WAIT] = { .requests = 1 },
	[CALL_V_TEST] = { .requests = 1, .flag = 2 },
	[CALL_V_WAITANY] = { .count = 1, .requests = 2, .index = 3 },
	[CALL_V_TESTANY] = { .count = 1, .requests = 2, .index = 3, .flag = 4 },
	[CALL_V_WAITALL] = { .count = 1, .requests = 2 },
	[CALL_V_TESTALL] = { .count = 1, .requests = 2, .flag = 3 },
	[CALL_V_WAITSOME] = { .count = 1, .requests = 2, .outcount = 3, .indices = 4 },
	[CALL_V_REQUEST_FREE] = { .requests = 1 },
	[CALL_V_START] = { .requests = 1 },
	[CALL_V_STARTALL] = { .count = 1, .requests = 2 },
};

static const struct wait_shape *shape(const struct hook_args *a)
{
	unsigned rule = a->desc->volume;

	if (rule >= ARRAY_LEN(shape_of) || !shape_of[rule].requests)
		return NULL;
	return &shape_of[rule];
}

static void *pointer(const struct hook_args *a, uint8_t place)
{
	return (void *)(uintptr_t)a->par[place - 1];
}

static int int_at(const struct hook_args *a, uint8_t place)
{
	const int *p = place ? pointer(a, place) : NULL;

	return p ? *p : 0;
}

static uintptr_t request_at(const struct hook_args *a, const struct wait_shape *s, int i)
{
	return handle_at(a->lang == LANG_C, (const void *)(uintptr_t)a->par[s->requests - 1], i,
			 CALL_P_REQUEST);
}

static int requests_of(const struct hook_args *a, const struct wait_shape *s)
{
	return s->count ? (int)a->par[s->count - 1] : 1;
}

static bool statuses_are_ignored(const struct hook_args *a)
{
	const void *status = pointer(a, a->desc->status);

	if (a->lang == LANG_C)
		return (uintptr_t)status == flavour->statuses_ignore;
	return flavour->f_status_is_ignored(status, a->lang);
}

/*
 * Adds the bytes of a request to the counters of the call that made it. That call was counted for
 * its partner already, except when it posted a receive: its partner is known only now.
 */
static void count(const struct request *r, int64_t out, int64_t in, int64_t partner)
{
	struct seg_slot *s = &hook_thread.slots[r->func];
	uint32_t word = __atomic_load_n(&hook_word[r->func], __ATOMIC_RELAXED);

	if (word & HOOK_VOLUME) {
		__atomic_store_n(&s->seq, s->seq + 1, __ATOMIC_RELAXED);
		__atomic_store_n(&s->bytes_out, s->bytes_out + (uint64_t)out, __ATOMIC_RELEASE);
		__atomic_store_n(&s->bytes_in, s->bytes_in + (uint64_t)in, __ATOMIC_RELEASE);
		__atomic_store_n(&s->seq, s->seq + 1, __ATOMIC_RELEASE);
	}
	if (word & HOOK_VOLUME)
		size_add(r->func, out, in, r->span);
	if (!(word & HOOK_PARTNER))
		return;
	if (r->kind == REQUEST_RECV)
		partner_add(r->func, partner, out, in, r->span);
	else
		partner_bytes(r->func, partner, out, in);
}

/* Counts a request whose bytes will not be counted. */
static void count_lost(void)
{
	__atomic_fetch_add(&app_header()->w.requests_lost, 1, __ATOMIC_RELAXED);
}

static bool is_persistent(const struct request *r)
{
	return r->kind == REQUEST_SEND_INIT || r->kind == REQUEST_PSEND_INIT ||
	       r->kind == REQUEST_RECV_INIT;
}

static void lose_ticket(struct request *r)
{
	if (r->has_ticket && args_message_ops)
		args_message_ops->lost(r);
}

/*
 * Called for more requests than there is room for: their receives count as posted now, and the
 * bytes of persistent requests are unknown.
 */
static void give_up(const struct hook_args *a, const struct wait_shape *s)
{
	struct request r;
	int n = requests_of(a, s);

	for (int i = 0; i < n; i++) {
		if (!request_take(request_at(a, s, i), &r))
			continue;
		listing_lose(&r);
		lose_ticket(&r);
		if (r.kind == REQUEST_RECV)
			count(&r, 0, r.bytes, r.partner);
		else if (r.kind == REQUEST_RECV_INIT)
			count_lost();
		if (is_persistent(&r))
			request_put(&r);
	}
}

static bool is_start(const struct hook_args *a)
{
	return a->desc->volume == CALL_V_START || a->desc->volume == CALL_V_STARTALL;
}

static bool is_of_partners(const struct hook_args *a)
{
	return a->word & HOOK_PARTNER && call_waits(a->desc);
}

static void take(struct wait_set *w, uintptr_t handle, int place)
{
	struct wait_entry *e = &w->entry[w->n];

	if (!request_take(handle, &e->request)) {
		w->has_unknown |=
			handle_is_usable(CALL_P_REQUEST, handle) && !waited_is_done(handle);
		return;
	}
	e->place = (uint32_t)place;
	e->has_ended = false;
	e->partner = e->request.partner;
	w->n++;
}

void wait_prepare(struct hook_args *a)
{
	const struct wait_shape *s = shape(a);
	struct wait_set *w = a->wait;
	int n;

	w->n = 0;
	w->has_unknown = false;
	if (!s || is_start(a) || (requests_are_none() && !is_of_partners(a)))
		return;
	n = requests_of(a, s);
	if (n > WAIT_SET_MAX) {
		give_up(a, s);
		w->has_unknown = true;
		return;
	}
	for (int i = 0; i < n; i++)
		take(w, request_at(a, s, i), i);
	if (is_of_partners(a))
		waited_note(a);
	if (a->desc->volume == CALL_V_REQUEST_FREE)
		request_drop(request_at(a, s, 0));
	if (w->n && a->desc->status && statuses_are_ignored(a))
		a->par[a->desc->status - 1] = (int64_t)(uintptr_t)w->statuses;
}

static int64_t partner_of(const struct request *r, int source)
{
	if (r->partner >= 0)
		return r->partner;
	/* Any source: the communicator may be queried only while none has been freed since. */
	return r->generation == comm_generation() ? comm_world_rank(r->comm, false, source) : -1;
}

static bool receives(const struct request *r)
{
	return r->kind == REQUEST_RECV || r->kind == REQUEST_RECV_INIT ||
	       (r->kind == REQUEST_LISTED && call_table[r->func].class == CALL_RECV);
}

/*
 * The empty status of a persistent receive that was not started has no source; a cancelled request
 * had no partner.
 */
static void received(struct wait_entry *e, const uint8_t *status)
{
	struct status_view v;

	flavour->status_read(status, &v);
	if (e->request.has_ticket && args_message_ops)
		args_message_ops->ended(&e->request, &v);
	if (v.cancelled || v.bytes < 0 || v.source == flavour->any_source) {
		e->partner = CALL_PARTNER_NONE;
		return;
	}
	e->partner = partner_of(&e->request, v.source);
	if (e->request.kind != REQUEST_LISTED)
		count(&e->request, 0, v.bytes, e->partner);
}

/* The request is over: its entry is not put back, unless it is persistent. */
static void ended(struct wait_entry *e, const uint8_t *status)
{
	struct request *r = &e->request;

	listing_take(r);
	e->has_ended = true;
	if (receives(r))
		received(e, status);
	if (r->kind == REQUEST_RECV || r->kind == REQUEST_LISTED)
		r->kind = REQUEST_FREE;
}

/* Entries are in ascending order of place. */
static struct wait_entry *entry_at(struct wait_set *w, uint32_t place)
{
	unsigned low = 0, high = w->n;

	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (w->entry[mid].place == place)
			return &w->entry[mid];
		if (w->entry[mid].place < place)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

static bool has_index(const int *index, int n, int64_t value)
{
	for (int i = 0; i < n; i++)
		if (index[i] == value)
			return true;
	return false;
}

/*
 * Fortran counts from 1, but the mpi_f08 of MPICH 4.0 returns C's indices in MPI_Waitany and
 * MPI_Waitsome. The base of this library is inferred from the first unambiguous indices.
 */
enum { BASE_UNKNOWN = -1 };
static int f08_base = BASE_UNKNOWN;

/* True for a request (not a persistent one) whose handle is not null: it has not ended. */
static bool is_open(const struct hook_args *a, const struct wait_shape *s, int place)
{
	const struct wait_entry *e = place >= 0 ? entry_at(a->wait, (uint32_t)place) : NULL;

	return e && (e->request.kind == REQUEST_RECV || e->request.kind == REQUEST_LISTED) &&
	       handle_is_usable(CALL_P_REQUEST, request_at(a, s, place));
}

/*
 * True if the indices can be counted from base: they name no open receive, and each that has ended.
 */
static bool base_fits(const struct hook_args *a, const struct wait_shape *s, const int *index,
		      int n, int base)
{
	const struct wait_entry *e = a->wait->entry;
	int requests = requests_of(a, s);

	for (int i = 0; i < n; i++)
		if (index[i] < base || index[i] >= requests + base ||
		    is_open(a, s, index[i] - base))
			return false;
	for (unsigned i = 0; i < a->wait->n; i++)
		if (!handle_is_usable(CALL_P_REQUEST, request_at(a, s, (int)e[i].place)) &&
		    !has_index(index, n, (int64_t)e[i].place + base))
			return false;
	return true;
}

static int learn_base(const struct hook_args *a, const struct wait_shape *s, const int *index,
		      int n)
{
	bool from_0 = base_fits(a, s, index, n, 0), from_1 = base_fits(a, s, index, n, 1);

	return from_0 == from_1 ? BASE_UNKNOWN : from_1;
}

static int index_base(const struct hook_args *a, const struct wait_shape *s, const int *index,
		      int n)
{
	int base = __atomic_load_n(&f08_base, __ATOMIC_RELAXED);

	if (a->lang == LANG_C || a->lang == LANG_F)
		return a->lang == LANG_F;
	if (base != BASE_UNKNOWN)
		return base;
	base = learn_base(a, s, index, n);
	__atomic_store_n(&f08_base, base, __ATOMIC_RELAXED);
	return base == BASE_UNKNOWN ? 1 : base;
}

static void ended_at(const struct hook_args *a, int place, unsigned status)
{
	struct wait_entry *e = place >= 0 ? entry_at(a->wait, (uint32_t)place) : NULL;

	if (e)
		ended(e, (const uint8_t *)pointer(a, a->desc->status) +
				 (size_t)status * flavour->status_bytes);
}

static void ended_all(const struct hook_args *a)
{
	const uint8_t *status = pointer(a, a->desc->status);
	struct wait_entry *e = a->wait->entry;

	for (unsigned i = 0; i < a->wait->n; i++)
		ended(&e[i], status + (size_t)e[i].place * flavour->status_bytes);
}

static void ended_some(const struct hook_args *a, const struct wait_shape *s, const int *index,
		       int n)
{
	int base;

	if (n == flavour->undefined || n <= 0)
		return;
	base = index_base(a, s, index, n);
	for (int i = 0; i < n && i < WAIT_SET_MAX; i++)
		if (index[i] != flavour->undefined)
			ended_at(a, index[i] - base, (unsigned)i);
}

/* A request without room in the table counts as it was posted; a persistent one remains unknown. */
static void put_back(struct request *r)
{
	if (request_put(r))
		return;
	listing_lose(r);
	lose_ticket(r);
	if (r->kind == REQUEST_RECV)
		count(r, 0, r->bytes, r->partner);
	if (is_persistent(r))
		count_lost();
}

/* Collectives are not in the list of posted requests. */
static void start(struct hook_args *a, struct request *r)
{
	r->active = REQUEST_STARTED;
	if (a->word & HOOK_MESSAGE && args_message_ops)
		args_message_ops->started(a, r);
	if (r->kind == REQUEST_SEND_INIT) {
		count(r, r->bytes, r->bytes_in, r->partner);
		a->length += r->bytes;
	}
	if (a->word & HOOK_QUEUE && call_table[r->func].peer && r->partner != CALL_PARTNER_NONE)
		listing_put(r);
}

/* A started request keeps its handle, and its place in the table: their number is not bounded. */
static void start_all(struct hook_args *a, const struct wait_shape *s)
{
	uint32_t call = a->word & HOOK_PARTNER ? partner_call() : 0;
	int n = requests_of(a, s);
	struct request r;

	for (int i = 0; i < n; i++) {
		if (!request_take(request_at(a, s, i), &r))
			continue;
		listing_take(&r);
		if (a->word & HOOK_PARTNER)
			partner_add_once(a->func, r.partner, call, a->span);
		start(a, &r);
		put_back(&r);
	}
}

/* Returns how many partitions the call marks as ready, and the position of its request. */
static int64_t partitions_of(const struct hook_args *a, unsigned *request)
{
	*request = a->desc->volume == CALL_V_PREADY ? 1 : 2;
	if (a->desc->volume == CALL_V_PREADY)
		return 1;
	return a->desc->volume == CALL_V_PREADY_RANGE ? a->par[1] - a->par[0] + 1 : a->par[0];
}

void wait_ready(const struct hook_args *a)
{
	unsigned request;
	int64_t n = partitions_of(a, &request);
	struct request r;

	if (n > 0 && request_peek((uintptr_t)a->par[request], &r))
		count(&r, n * r.bytes, 0, r.partner);
}

/* MPI completes a freed request at any later time, and does not report it. */
static void freed(struct request *r)
{
	listing_lose(r);
	lose_ticket(r);
	r->kind = REQUEST_FREE;
}

static void wait_succeeded(struct hook_args *a, const struct wait_shape *s)
{
	unsigned rule = a->desc->volume;

	if (s->flag && !int_at(a, s->flag))
		return;
	if (rule == CALL_V_REQUEST_FREE)
		freed(&a->wait->entry[0].request);
	else if (s->indices)
		ended_some(a, s, pointer(a, s->indices), int_at(a, s->outcount));
	else if (s->index)
		ended_some(a, s, pointer(a, s->index), 1);
	else
		ended_all(a);
}

/* The number of requests that the call reports as ended; -1: it reports none. */
static int reported(const struct hook_args *a, const struct wait_shape *s)
{
	int n = s->indices ? int_at(a, s->outcount) : 1;

	if (s->index && int_at(a, s->index) == flavour->undefined)
		n = 0;
	return (s->flag && !int_at(a, s->flag)) || n <= 0 ? -1 : n;
}

/* A test that found no end has examined all of its requests. */
static enum waited waited_for(const struct hook_args *a, const struct wait_shape *s, int rc)
{
	int n = rc || !(s->index || s->indices) ? -1 : reported(a, s), ended = 0;

	for (unsigned i = 0; i < a->wait->n; i++)
		ended += a->wait->entry[i].has_ended;
	if (n < 0)
		return WAITED_ALL;
	return ended < n ? WAITED_OTHERS : WAITED_ENDED;
}

void wait_finish(struct hook_args *a, int rc)
{
	const struct wait_shape *s = shape(a);
	struct wait_entry *e = a->wait->entry;

	if (s && !rc && is_start(a))
		start_all(a, s);
	else if (s && !rc && a->wait->n)
		wait_succeeded(a, s);
	if (s && is_of_partners(a))
		waited_add(a, waited_for(a, s, rc));
	/*
	 * Requests that have not ended are put back into the table. After an error it is unknown
	 * which have ended; a stale entry has no effect.
	 */
	for (unsigned i = 0; i < a->wait->n; i++)
		if (e[i].request.kind != REQUEST_FREE) {
			if (e[i].has_ended)
				e[i].request.active = REQUEST_IDLE;
			put_back(&e[i].request);
		}
}

/* True if the end of a request will be detected. */
static bool ends_are_watched(void)
{
	return __atomic_load_n(&hook_word[CALL_ID_Wait], __ATOMIC_RELAXED) &
	       __atomic_load_n(&hook_word[CALL_ID_Waitall], __ATOMIC_RELAXED) &
	       __atomic_load_n(&hook_word[CALL_ID_Test], __ATOMIC_RELAXED) & HOOK_VOLUME;
}

/* True if any waiting call has its time measured by partners. */
static bool waits_are_watched(void)
{
	static const uint16_t waits[] = { CALL_ID_Wait,	    CALL_ID_Waitall, CALL_ID_Waitany,
					  CALL_ID_Waitsome, CALL_ID_Test,    CALL_ID_Testall,
					  CALL_ID_Testany,  CALL_ID_Testsome };
	uint32_t words = 0;

	for (size_t i = 0; i < ARRAY_LEN(waits); i++)
		words |= __atomic_load_n(&hook_word[waits[i]], __ATOMIC_RELAXED);
	return words & HOOK_PARTNER;
}

static enum request_kind kind_posted(const struct call_desc *d)
{
	switch (d->volume) {
	case CALL_V_RECV_POST:
	case CALL_V_MRECV_POST:
		return REQUEST_RECV;
	case CALL_V_RECV_INIT:
	case CALL_V_PRECV_INIT:
		return REQUEST_RECV_INIT;
	case CALL_V_PSEND_INIT:
		return REQUEST_PSEND_INIT;
	default:
		return d->persistent && d->volume != CALL_V_NONE ? REQUEST_SEND_INIT : REQUEST_FREE;
	}
}

/* Computes the bytes that starting or completing it moves. */
static void weigh(struct request *r, struct hook_args *a)
{
	if (!a->desc->persistent) {
		r->bytes = r->kind == REQUEST_LISTED ? a->out : a->in;
		return;
	}
	args_persistent(a, &r->bytes, &r->bytes_in);
	if (r->kind == REQUEST_RECV_INIT)
		r->bytes = r->bytes_in;
}

/* Fills the data for the list; a persistent request is listed when it is started. */
static void describe(struct request *r, const struct hook_args *a, bool is_listed)
{
	if (is_listed || r->kind != REQUEST_LISTED)
		r->room = !is_persistent(r)		  ? args_posted(a)
			  : r->kind == REQUEST_PSEND_INIT ? a->par[1] * r->bytes
							  : r->bytes;
	r->tag = listing_tag(a->par[a->desc->peer]);
	if (is_listed && !is_persistent(r))
		listing_put(r);
}

/* A request without a partner moves no bytes, and a wait for it waits for no process. */
static void make_null(struct request *r)
{
	r->kind = REQUEST_SEND_INIT;
	r->bytes = r->bytes_in = 0;
}

void wait_posted(struct hook *h, struct hook_args *a)
{
	const struct call_desc *d = a->desc;
	struct request r = { .kind = kind_posted(d), .func = h->func };
	bool is_listed = listing_is_wanted(a), is_null;

	r.key = handle_at(a->lang == LANG_C, (const void *)(uintptr_t)a->par[d->nparam - 1], 0,
			  CALL_P_REQUEST);
	if (!ends_are_watched() && !is_persistent(&r))
		r.kind = REQUEST_FREE;
	if (a->word & HOOK_MESSAGE && args_message_ops && args_message_ops->made(a, &r))
		r.kind = r.kind == REQUEST_FREE ? REQUEST_LISTED : r.kind;
	if (r.kind == REQUEST_FREE &&
	    (is_listed || (waits_are_watched() && !waited_is_done(r.key))))
		r.kind = REQUEST_LISTED;
	is_null = d->peer && a->par[d->peer - 1] == flavour->proc_null;
	if (r.kind == REQUEST_FREE || (is_null && !is_persistent(&r))) {
		request_drop(r.key);
		return;
	}
	weigh(&r, a);
	if (is_null)
		make_null(&r);
	r.span = r.kind == REQUEST_RECV ? a->span : 0;
	r.partner = a->partner;
	r.comm = d->comm ? (uintptr_t)a->par[d->comm - 1] : 0;
	r.generation = comm_generation();
	if (d->peer)
		describe(&r, a, is_listed);
	if (!request_put(&r)) {
		listing_lose(&r);
		lose_ticket(&r);
		if (is_persistent(&r))
			count_lost();
	} else if (r.kind == REQUEST_RECV) {
		a->in = 0;
		a->has_size = false;
		h->word &= ~(uint32_t)HOOK_PARTNER; /* counted with the bytes */
	}
}
