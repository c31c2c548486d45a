/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "tools/session/node_fields.h"
#include "tools/session/now_fields.h"
#include "tools/session/reply_each.h"
#include "tools/session/session.h"
#include "tools/view/top.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const top_class_names[TOP_CLASSES] = { "send",	   "receive",	    "message_probe",
						   "wait",	   "collective",    "barrier",
						   "onesided",	   "onesided_sync", "io",
						   "communicator", "other" };

/* Values of proc_get_info, in the order of the flags. */
enum {
	PROC_RANK,
	PROC_NODE,
	PROC_PID,
	PROC_STATE,
	PROC_TOTAL_TIME,
	PROC_RESIDENT_SIZE,
	PROC_PROGRAM,
	PROC_JOB
};
#define PROC_FLAGS (1 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 15 | 1 << 25 | 1 << 28)
#define NODE_FLAGS                                                             \
	(NODE_FLAG(NODE_NAME) | NODE_FLAG(NODE_CPUS) | NODE_FLAG(NODE_PAGES) | \
	 NODE_FLAG(NODE_RUNNING) | NODE_FLAG(NODE_PAGES_USED) | NODE_FLAG(NODE_CPU_SOME))
enum { CALL_CLASS = 1, CALL_COUNT_AT, CALL_DELAY, CALL_IN_CALL, CALL_OUT, CALL_IN };

/* A class of a later monitor is among the others. */
static enum top_class class_of(const char *name)
{
	for (size_t i = 0; i < TOP_CLASSES; i++)
		if (str_eq(top_class_names[i], name))
			return (enum top_class)i;
	return TOP_OTHER;
}

enum top_class top_class_of(const char *name)
{
	return class_of(name);
}

void top_sample_done(struct top_sample *s)
{
	free(s->rank);
	free(s->node);
	omis_reply_free(s->reply);
	memset(s, 0, sizeof(*s));
}

const struct top_node *top_node_find(const struct top_sample *s, const char *token)
{
	for (size_t i = 0; i < s->nnode; i++)
		if (str_eq(s->node[i].token, token))
			return &s->node[i];
	return NULL;
}

static int by_token(const void *a, const void *b)
{
	return strcmp(((const struct top_rank *)a)->token, ((const struct top_rank *)b)->token);
}

void top_index(struct top_sample *s)
{
	if (s->nrank > 1)
		qsort(s->rank, s->nrank, sizeof(*s->rank), by_token);
	s->is_indexed = true;
}

/* The rank is expected at `guess`: the services of one reply list ranks in the same order. */
static struct top_rank *find_rank(const struct top_sample *s, const char *token, size_t guess)
{
	struct top_rank key;

	if (!s || !s->nrank)
		return NULL;
	if (guess < s->nrank && str_eq(s->rank[guess].token, token))
		return &s->rank[guess];
	if (s->is_indexed) {
		str_copy(key.token, sizeof(key.token), token);
		return bsearch(&key, s->rank, s->nrank, sizeof(key), by_token);
	}
	for (size_t i = 0; i < s->nrank; i++)
		if (str_eq(s->rank[i].token, token))
			return &s->rank[i];
	return NULL;
}

const struct top_rank *top_rank_find(const struct top_sample *s, const char *token)
{
	return find_rank(s, token, 0);
}

/* --- reading replies */

static void no_rates(struct top_rank *r)
{
	for (size_t i = 0; i < TOP_CLASSES; i++)
		r->share[i] = (double)NAN;
	r->mpi = r->calls_s = r->messages_s = r->out_s = r->in_s = r->cpu = (double)NAN;
}

static void add_rank(void *arg, const char *token, const Omis_value *v)
{
	struct top_sample *s = arg;
	struct top_rank *r;

	if (array_grow(&s->rank, &s->rank_cap, s->nrank + 1, sizeof(*s->rank), OMIS_OBJECTS_MAX))
		return;
	r = &s->rank[s->nrank++];
	memset(r, 0, sizeof(*r));
	str_copy(r->token, sizeof(r->token), token);
	r->rank = value_at(v, PROC_RANK) ? value_int(v, PROC_RANK) : -1;
	str_copy(r->node, sizeof(r->node), value_text(v, PROC_NODE));
	r->pid = value_int(v, PROC_PID);
	r->state = value_int(v, PROC_STATE);
	r->cpu_s = value_float(v, PROC_TOTAL_TIME);
	r->rss_bytes = value_float(v, PROC_RESIDENT_SIZE);
	str_copy(r->program, sizeof(r->program), value_text(v, PROC_PROGRAM));
	str_copy(r->job, sizeof(r->job), value_text(v, PROC_JOB));
	r->call.state = TOP_CALL_UNKNOWN;
	no_rates(r);
}

static double node_value(const Omis_value *v, enum node_field field)
{
	return value_float(v, node_field_at(field, NODE_FLAGS));
}

static void add_node(void *arg, const char *token, const Omis_value *v)
{
	struct top_sample *s = arg;
	struct top_node *n;
	double page = node_value(v, NODE_PAGE_SIZE);

	if (array_grow(&s->node, &s->node_cap, s->nnode + 1, sizeof(*s->node), OMIS_OBJECTS_MAX))
		return;
	n = &s->node[s->nnode++];
	memset(n, 0, sizeof(*n));
	str_copy(n->token, sizeof(n->token), token);
	str_copy(n->name, sizeof(n->name), value_text(v, node_field_at(NODE_NAME, NODE_FLAGS)));
	n->cpus = node_value(v, NODE_CPUS);
	n->running = node_value(v, NODE_RUNNING);
	n->load = node_value(v, NODE_LOAD_1MIN);
	n->mem_bytes = node_value(v, NODE_PAGES) * page;
	n->mem_used_bytes = node_value(v, NODE_PAGES_USED) * page;
	n->cpu_some = node_value(v, NODE_CPU_SOME);
	n->memory_some = node_value(v, NODE_MEMORY_SOME);
	n->memory_full = node_value(v, NODE_MEMORY_FULL);
	n->io_some = node_value(v, NODE_IO_SOME);
	n->io_full = node_value(v, NODE_IO_FULL);
}

static void add_calls(void *arg, const char *token, const Omis_value *v)
{
	struct top_sample *s = arg;
	struct top_rank *r = find_rank(s, token, s->cursor);
	const Omis_value *c;
	enum top_class k;

	if (!r)
		return;
	s->cursor = (size_t)(r - s->rank) + 1;
	r->time_ns = value_int(v, 0);
	for (size_t i = 1; (c = value_at(v, i)); i++) {
		k = class_of(value_text(c, CALL_CLASS));
		r->class_calls[k] += (double)value_int(c, CALL_COUNT_AT);
		r->delay_ns[k] += value_float(c, CALL_DELAY);
		r->class_out[k] += value_float(c, CALL_OUT);
		r->class_in[k] += value_float(c, CALL_IN);
	}
	for (size_t i = 0; i < TOP_CLASSES; i++) {
		r->calls += r->class_calls[i];
		r->bytes_out += r->class_out[i];
		r->bytes_in += r->class_in[i];
	}
}

/* --- the call that each is in: omig_calls_now */

static enum top_call_kind kind_of(const char *class)
{
	switch (class_of(class)) {
	case TOP_SEND:
		return TOP_CALL_SENDS;
	case TOP_RECEIVE:
	case TOP_MESSAGE_PROBE:
		return TOP_CALL_RECEIVES;
	case TOP_COLLECTIVE:
	case TOP_BARRIER:
	case TOP_COMMUNICATOR:
	case TOP_OTHER:
		return TOP_CALL_TOGETHER;
	default:
		return TOP_CALL_OTHER;
	}
}

static void read_call(const Omis_value *v, struct top_call *c)
{
	int64_t state = value_int(v, NOW_STATE);

	str_copy(c->name, sizeof(c->name), value_text(v, NOW_NAME));
	c->state = state >= TOP_CALL_IN && state <= TOP_CALL_OUT ? (enum top_call_state)state
								 : TOP_CALL_UNKNOWN;
	c->kind = kind_of(value_text(v, NOW_CLASS));
	c->seconds = value_float(v, NOW_SECONDS);
	c->is_exact = value_int(v, NOW_EXACT);
	c->partner = value_int(v, NOW_PARTNER);
	c->tag = value_int(v, NOW_TAG);
	c->source = value_at(v, NOW_SOURCE) ? value_int(v, NOW_SOURCE) : -1;
	c->source_tag = value_at(v, NOW_SOURCE_TAG) ? value_int(v, NOW_SOURCE_TAG) : -1;
	c->is_of_world = value_at(v, NOW_WORLD) && value_int(v, NOW_WORLD);
}

/* Files and one-sided data are transferred during such a call. */
static double waits_for(const Omis_value *v, const struct top_call *c)
{
	enum top_class class = class_of(value_text(v, NOW_CLASS));
	bool moves = class == TOP_IO || class == TOP_ONESIDED;

	return c->state == TOP_CALL_ASKS || (c->state == TOP_CALL_IN && !moves) ? c->seconds : 0;
}

static void add_now(void *arg, const char *token, const Omis_value *v)
{
	struct top_sample *s = arg;
	struct top_rank *r = find_rank(s, token, s->cursor);
	struct top_call c;
	const Omis_value *at;

	if (!r)
		return;
	s->cursor = (size_t)(r - s->rank) + 1;
	r->world_size = value_int(v, NOW_SIZE);
	for (size_t i = NOW_FIRST; (at = value_at(v, i)); i++) {
		double stuck;

		read_call(at, &c);
		stuck = waits_for(at, &c);
		if (i == NOW_FIRST || stuck < r->stuck_s)
			r->stuck_s = stuck;
		if (i == NOW_FIRST || value_int(at, NOW_TID) == r->pid)
			r->call = c;
	}
}

static void read_reply(struct top_sample *s, Omis_reply r)
{
	static const reply_each_fn add[] = { add_rank, add_node, add_calls, add_now };

	for (size_t i = 0; r[0] && i < ARRAY_LEN(add) && r[i + 1]; i++) {
		s->cursor = 0;
		reply_each(r[i + 1], add[i], s);
	}
}

/* --- rates */

static double rate(double now, double before, double seconds)
{
	return seconds > 0 && now >= before ? (now - before) / seconds : (double)NAN;
}

static void rank_rates(struct top_rank *r, const struct top_rank *b, double wall_s)
{
	double s = (double)(r->time_ns - b->time_ns) / 1e9;

	r->cpu = 100 * rate(r->cpu_s, b->cpu_s, wall_s);
	if (r->time_ns == 0 || b->time_ns == 0 || s <= 0)
		return;
	r->mpi = 0;
	for (size_t i = 0; i < TOP_CLASSES; i++) {
		r->share[i] = 100 * rate(r->delay_ns[i] / 1e9, b->delay_ns[i] / 1e9, s);
		r->mpi += r->share[i];
	}
	r->calls_s = rate(r->calls, b->calls, s);
	r->messages_s = rate(r->class_calls[TOP_SEND], b->class_calls[TOP_SEND], s);
	r->out_s = rate(r->bytes_out, b->bytes_out, s);
	r->in_s = rate(r->bytes_in, b->bytes_in, s);
}

static void add_rates(struct top_sample *s, const struct top_sample *before)
{
	double wall_s = (double)(s->wall - before->wall) / 1e9;
	const struct top_rank *b;

	for (size_t i = 0; i < s->nrank; i++) {
		b = find_rank(before, s->rank[i].token, i);
		if (b)
			rank_rates(&s->rank[i], b, wall_s);
	}
}

/* --- asking */

#define ENABLE_BATCH 200 /* tokens in one request: far below its size limit */

static void ignore(Omis_reply r, void *arg)
{
	omis_reply_free(r);
}

/* A process that ended meanwhile is not a failure; a missing right is. */
static int enable_some(const struct buf *tokens, const char *what, bool waits)
{
	struct buf text = BUF_INIT(ENABLE_BATCH * TOP_TOKEN_BYTES + 64);
	Omis_reply r;
	int rc = CMD_OK;

	buf_printf(&text, ":omig_calls_enable([%s],\"%s\")", buf_str(tokens), what);
	r = omis_request_n(buf_str(&text), text.n, waits ? NULL : ignore, NULL, 0);
	buf_done(&text);
	if (!r)
		return CMD_OK;
	if (omis_reply_status(r) == OMIS_NO_PERMISSION)
		rc = cmd_fail(CMD_DENIED, "counting cannot be switched on: not permitted");
	omis_reply_free(r);
	return rc;
}

bool top_is_partial(const struct top_sample *s)
{
	Omis_coverage c = { 0 };

	if (s->reply)
		omis_reply_coverage(s->reply, &c);
	return c.answered < c.asked;
}

bool top_rank_has_ended(const struct top_rank *r)
{
	return r->state == TOP_ZOMBIE || r->state == TOP_ENDED;
}

/*
 * Counting is on already. A process without calls is enabled again, because it may become a rank.
 */
static bool is_on(const struct top_sample *before, const struct top_rank *r, size_t guess)
{
	const struct top_rank *then = find_rank(before, r->token, guess);

	return then && then->time_ns;
}

static int enable_new(const struct top_sample *s, const struct top_sample *before, const char *what,
		      bool waits)
{
	struct buf list = BUF_INIT(ENABLE_BATCH * TOP_TOKEN_BYTES);
	size_t n = 0;
	int rc = CMD_OK;

	for (size_t i = 0; i < s->nrank && rc == CMD_OK; i++) {
		if (is_on(before, &s->rank[i], i) || top_rank_has_ended(&s->rank[i]))
			continue;
		buf_printf(&list, "%s%s", n ? "," : "", s->rank[i].token);
		if (++n == ENABLE_BATCH) {
			rc = enable_some(&list, what, waits);
			buf_clear(&list);
			n = 0;
		}
	}
	if (n && rc == CMD_OK)
		rc = enable_some(&list, what, waits);
	buf_done(&list);
	return rc;
}

/* Counting is switched on once per process: the count then continues without a gap. */
int top_sample_enable(const struct top_sample *s, const struct top_sample *before, const char *what)
{
	return enable_new(s, before, what, true);
}

void top_sample_stop(void)
{
	omis_reply_free(omis_request_n(":omig_calls_disable([])", 23, NULL, NULL, 0));
}

#define SAMPLE_REQUEST \
	":proc_get_info([],%d) node_get_info([],%d) omig_calls_read([],1) omig_calls_now([])"

static int read_job(struct top_sample *s, const char *job)
{
	int rc = session_attach(job);

	memset(s, 0, sizeof(*s));
	s->wall = clock_wall();
	if (rc == CMD_OK)
		rc = session_ask(&s->reply, SAMPLE_REQUEST, PROC_FLAGS, NODE_FLAGS);
	if (rc == CMD_OK)
		read_reply(s, s->reply);
	return rc;
}

int top_sample_read(struct top_sample *s, const char *job)
{
	return read_job(s, job);
}

static bool has_new(const struct top_sample *s, const struct top_sample *before)
{
	for (size_t i = 0; i < s->nrank; i++)
		if (!find_rank(before, s->rank[i].token, i))
			return true;
	return false;
}

int top_sample_take(struct top_sample *s, const struct top_sample *before, const char *job)
{
	int rc = read_job(s, job);

	if (rc != CMD_OK)
		return rc;
	rc = top_sample_enable(s, before, "volume");
	/* The next rates begin at the values read after counting was switched on. */
	if (rc == CMD_OK && has_new(s, before)) {
		top_sample_done(s);
		rc = read_job(s, job);
	}
	if (before)
		add_rates(s, before);
	return rc;
}

/* --- the same without waiting */

static void send_soon(const char *request, void (*fn)(Omis_reply r, void *arg), void *arg)
{
	Omis_reply r = omis_request_n(request, strlen(request), fn, arg, 0);

	if (r)
		fn(r, arg);
}

void top_sample_ask(const char *job, void (*fn)(Omis_reply r, void *arg), void *arg)
{
	char text[512];

	if (!job)
		send_soon(":site_attach([]) node_attach([]) proc_attach([])", ignore, NULL);
	else if (session_is_plain(job) && strlen(job) < 400) {
		snprintf(text, sizeof(text), ":omig_job_attach(\"%s\")", job);
		send_soon(text, ignore, NULL);
	}
	snprintf(text, sizeof(text), SAMPLE_REQUEST, PROC_FLAGS, NODE_FLAGS);
	send_soon(text, fn, arg);
}

bool top_sample_make(struct top_sample *s, Omis_reply r, const struct top_sample *before)
{
	memset(s, 0, sizeof(*s));
	if (!r || !r[0] || (r[0]->obj_list && r[0]->status >= OMIS_FIRST_ERROR)) {
		omis_reply_free(r);
		return false;
	}
	s->wall = clock_wall();
	s->reply = r;
	read_reply(s, r);
	enable_new(s, before, "volume", false);
	if (before)
		add_rates(s, before);
	return true;
}

/* --- order */

void top_drop_ended(struct top_sample *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nrank; i++)
		if (!top_rank_has_ended(&s->rank[i]))
			s->rank[n++] = s->rank[i];
	s->nended += s->nrank - n;
	s->nrank = n;
}

const char *const top_sort_names[TOP_SORTS] = {
	"rank", "mpi", "for", "calls", "bytes", "cpu", "rss"
};

static double key(const struct top_rank *r, enum top_sort by)
{
	switch (by) {
	case TOP_BY_MPI:
		return r->mpi;
	case TOP_BY_CALLS:
		return r->calls_s;
	case TOP_BY_BYTES:
		return r->out_s + r->in_s;
	case TOP_BY_CPU:
		return r->cpu;
	case TOP_BY_RSS:
		return r->rss_bytes;
	case TOP_BY_FOR:
		return r->call.state == TOP_CALL_IN || r->call.state == TOP_CALL_ASKS
			       ? r->call.seconds
			       : 0;
	default:
		return 0;
	}
}

static int compare(const void *pa, const void *pb, void *arg)
{
	const struct top_rank *a = pa, *b = pb;
	enum top_sort by = *(const enum top_sort *)arg;
	double ka = key(a, by), kb = key(b, by);
	int d = strverscmp(a->job, b->job);

	ka = isnan(ka) ? -1 : ka;
	kb = isnan(kb) ? -1 : kb;
	if (ka != kb)
		return ka < kb ? 1 : -1;
	if (d)
		return d;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return strcmp(a->token, b->token);
}

static int compare_nodes(const void *pa, const void *pb)
{
	const struct top_node *a = pa, *b = pb;
	int d = strverscmp(a->name, b->name); /* node2 before node10 */

	return d ? d : strcmp(a->token, b->token);
}

void top_sort(struct top_sample *s, enum top_sort by)
{
	if (s->nnode > 1)
		qsort(s->node, s->nnode, sizeof(*s->node), compare_nodes);
	if (s->nrank > 1)
		qsort_r(s->rank, s->nrank, sizeof(*s->rank), compare, &by);
}

double top_counted(const struct top_rank *r, double total)
{
	return r->time_ns ? total : (double)NAN;
}

const char *top_state_name(int64_t state)
{
	static const char *const names[] = { "run",	"wait",	 "ready", "ended",
					     "stopped", "ended", "silent" };

	return state >= 0 && state < (int64_t)ARRAY_LEN(names) ? names[state] : "?";
}
