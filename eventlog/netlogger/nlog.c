/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/netlogger/nlog.h"

#include "common/base/hash.h"
#include "common/base/limits.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "eventlog/text/evout.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int NL_flush_on;

/* destinations of a trigger file: an operator names a few receivers */
#define NLOG_DESTINATIONS_MAX 16
#define FLUSH_NS NSEC_PER_SEC /* age at which a message is written */

/* all handles, for the helper and the end of the program */
static struct {
	struct inproc_lock lock;
	struct omig_nlog *first;
	bool has_helper;
	pid_t helped; /* the process that has the helper */
} all = { .lock = INPROC_LOCK_INIT };

static void free_handle(struct omig_nlog *h)
{
	evtrigger_free(h->trigger);
	evwrite_done(&h->w);
	evtypes_done(&h->types);
	pthread_mutex_destroy(&h->lock.mutex);
	free(h->program);
	free(h->tag);
	free(h->constants);
	free(h->url);
	free(h);
}

/*
 * Sends blocks. A block without room leaves a gap in the numbers of its stream: the receiver counts
 * its events as lost.
 */
static int send_blocks(const struct omig_nlog *h)
{
	const struct buf *b = &h->w.out;
	struct evblock head;
	int rc = 0;

	for (size_t at = 0; at < b->n; at += head.bytes) {
		evblock_head(b->p + at, &head);
		if (!evsend_put(h->out.send, &(const struct iovec){ b->p + at, head.bytes }, 1))
			rc = -1;
	}
	return rc;
}

static void write_blocks(struct omig_nlog *h)
{
	const struct buf *b = &h->w.out;

	for (size_t at = 0; at < b->n && !h->is_broken;) {
		const struct iovec left = { b->p + at, b->n - at };
		ssize_t n = inproc_writev(h->out.fd, &left, 1);

		if (n < 0 && errno != EINTR) {
			/* until the end of this call: the next block may be written again */
			h->is_broken = true;
			evwrite_dropped(&h->w, 1);
		}
		at += n > 0 ? (size_t)n : 0;
	}
}

static int flush_one(struct omig_nlog *h)
{
	if (evwrite_cut(&h->w, false, NULL))
		h->is_broken = true;
	if (!h->out.send)
		write_blocks(h);
	else if (send_blocks(h))
		h->is_broken = true;
	buf_clear(&h->w.out);
	if (!h->is_broken)
		return 0;
	h->is_broken = false;
	return -1;
}

/* True for a destination that could not be opened. */
static bool has_failed(const struct omig_nlog *h)
{
	return h->url && h->out.fd < 0 && !h->out.send;
}

int nlog_flush(struct omig_nlog *h)
{
	int rc = 0;

	for (; h; h = h->to)
		if (!has_failed(h))
			rc = flush_one(h) ? -1 : rc;
	return rc;
}

/* Tries failed destinations again, because the file has changed. */
static void forget_failures(struct omig_nlog *h)
{
	struct omig_nlog **at = &h->to;

	while (*at) {
		struct omig_nlog *to = *at;

		if (!has_failed(to)) {
			at = &to->to;
			continue;
		}
		*at = to->to;
		free_handle(to);
	}
}

/*
 * Reads the trigger without the handle's lock, so that a hanging file system does not stop its
 * writers.
 */
static void look_at_trigger(struct omig_nlog *h)
{
	evtrigger_read(h->trigger, clock_wall());
	inproc_lock(&h->lock);
	if (evtrigger_switch(h->trigger, clock_wall()))
		forget_failures(h);
	inproc_unlock(&h->lock);
}

static void flush_all(void)
{
	inproc_lock(&all.lock);
	for (struct omig_nlog *h = all.first; h; h = h->next) {
		if (h->trigger)
			look_at_trigger(h);
		inproc_lock(&h->lock);
		nlog_flush(h);
		inproc_unlock(&h->lock);
	}
	inproc_unlock(&all.lock);
}

/*
 * Waits at the end of the program for events on the way to receivers. All handles together have one
 * time limit.
 */
static void flush_and_wait(void)
{
	nsec_t until = clock_mono() + EVSEND_CLOSE_NS;

	flush_all();
	inproc_lock(&all.lock);
	for (struct omig_nlog *h = all.first; h; h = h->next)
		for (struct omig_nlog *to = h; to; to = to->to)
			if (to->out.send)
				evsend_flush(to->out.send, until - clock_mono());
	inproc_unlock(&all.lock);
}

static void *help(void *unused)
{
	const struct timespec t = { .tv_sec = FLUSH_NS / NSEC_PER_SEC };

	inproc_thread_begins();
	do {
		nanosleep(&t, NULL);
		flush_all();
	} while (!inproc_is_alone());
	inproc_thread_ends();
	return unused; /* this is the last thread */
}

/* Writes the constants of the stream. */
static int say_who(struct omig_nlog *h)
{
	char host[256] = "";
	struct evconst c[] = { { "HOST", { .kind = EV_STRING, .s = host } },
			       { "PROG", { .kind = EV_STRING, .s = h->program } },
			       { "pid", { .kind = EV_INT32, .i32 = (int32_t)getpid() } } };
	const struct evtype who = { .name = "", .nconst = 3, .constant = c };

	gethostname(host, sizeof(host) - 1);
	c[0].value.n = (uint32_t)strlen(host);
	c[1].value.n = (uint32_t)strnlen(h->program, 1024);
	return evwrite_define(&h->w, 0, &who, NULL);
}

/* --- fork: output of the parent stays with the parent, and the child has streams of its own */

static void before_fork(void)
{
	inproc_lock(&all.lock);
	for (struct omig_nlog *h = all.first; h; h = h->next)
		inproc_lock(&h->lock);
}

static void in_parent(void)
{
	for (struct omig_nlog *h = all.first; h; h = h->next)
		inproc_unlock(&h->lock);
	inproc_unlock(&all.lock);
}

static void start_helper(void);

static void begin_stream_of_child(struct omig_nlog *h)
{
	uint64_t stream = h->w.head.stream ^ hash_mix64((uint64_t)getpid());

	evwrite_done(&h->w);
	evtypes_done(&h->types);
	evwrite_init(&h->w, stream, false, 0);
	evtypes_init(&h->types);
	memset(&h->said, 0, sizeof(h->said));
	say_who(h);
	if (h->out.send)
		evsend_in_child(h->out.send);
}

static void in_child(void)
{
	inproc_no_threads();
	for (struct omig_nlog *h = all.first; h; h = h->next)
		for (struct omig_nlog *to = h; to; to = to->to)
			begin_stream_of_child(to);
	if (all.first)
		start_helper();
	in_parent();
}

/* Called with all.lock held. If there is no helper, messages wait for the next flush. */
static void start_helper(void)
{
	sigset_t every, before;
	pthread_t thread;

	if (all.helped == getpid())
		return;
	if (!all.has_helper) {
		atexit(flush_and_wait);
		pthread_atfork(before_fork, in_parent, in_child);
	}
	all.has_helper = true;
	all.helped = getpid();
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	if (!pthread_create(&thread, NULL, help, NULL))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* --- handles */

/* Makes a handle that is in no list. Takes the output, also on failure. */
static struct omig_nlog *make_handle(const struct nlout *out, const char *program)
{
	struct omig_nlog *h = calloc(1, sizeof(*h));
	uint64_t stream;

	if (!h || rng_fill_random(&stream, sizeof(stream), NULL)) {
		nlout_close(out);
		free(h);
		errno = ENOMEM;
		return NULL;
	}
	pthread_mutex_init(&h->lock.mutex, NULL);
	evwrite_init(&h->w, stream, false, 0);
	evtypes_init(&h->types);
	h->out = *out;
	h->is_on = true;
	h->level = EV_NLEVELS;
	h->program = str_dup(program);
	if (!h->program || say_who(h)) {
		nlout_close(out);
		free_handle(h);
		errno = ENOMEM;
		return NULL;
	}
	return h;
}

struct omig_nlog *nlog_new(const struct nlout *out, const char *program)
{
	struct omig_nlog *h = make_handle(out, program);

	if (!h)
		return NULL;
	inproc_lock(&all.lock);
	h->next = all.first;
	all.first = h;
	start_helper();
	inproc_unlock(&all.lock);
	return h;
}

/* Writes the last events of one stream. */
static int end_one(struct omig_nlog *h)
{
	int rc = 0;

	if (!has_failed(h))
		rc = evwrite_cut(&h->w, true, NULL) | flush_one(h);
	if (h->out.fd >= 0 && !h->out.is_borrowed)
		rc |= close(h->out.fd);
	if (evsend_close(h->out.send, EVSEND_CLOSE_NS, NULL))
		rc = -1;
	free_handle(h);
	return rc ? -1 : 0;
}

int nlog_close(struct omig_nlog *h)
{
	struct omig_nlog **at = &all.first, *to;
	int rc = 0;

	inproc_lock(&all.lock);
	while (*at && *at != h)
		at = &(*at)->next;
	if (*at)
		*at = h->next;
	inproc_unlock(&all.lock);
	inproc_lock(&h->lock); /* waits until another thread's last call has ended */
	inproc_unlock(&h->lock);
	for (; h; h = to) {
		to = h->to;
		rc = end_one(h) ? -1 : rc;
	}
	return rc;
}

/* --- triggers */

/* Called under all.lock, which the helper also holds when it reads the trigger. */
int nlog_set_trigger(struct omig_nlog *h, const char *file, nsec_t interval)
{
	struct evtrigger *t = file && *file ? evtrigger_new(file, interval) : NULL, *before;

	if (file && *file && !t) {
		errno = ENOMEM;
		return -1;
	}
	if (t)
		evtrigger_look(t, clock_wall());
	inproc_lock(&all.lock);
	inproc_lock(&h->lock);
	before = h->trigger;
	h->trigger = t;
	inproc_unlock(&h->lock);
	inproc_unlock(&all.lock);
	evtrigger_free(before);
	return 0;
}

/*
 * Returns NULL if the destination cannot be opened, or if there are too many. A failed destination
 * is remembered as such.
 */
static struct omig_nlog *open_destination(struct omig_nlog *h, const char *url)
{
	struct omig_nlog *to;
	struct nlout out;

	nlurl_open(url, true, &out);
	to = make_handle(&out, h->program);
	if (to)
		to->url = str_dup(url);
	if (!to || !to->url) {
		if (to) {
			nlout_close(&out);
			free_handle(to);
		}
		return NULL;
	}
	to->to = h->to;
	h->to = to;
	return to;
}

static struct omig_nlog *destination(struct omig_nlog *h, const char *url)
{
	unsigned n = 0;

	for (struct omig_nlog *to = h->to; to; to = to->to, n++)
		if (str_eq(to->url, url))
			return to;
	return n < NLOG_DESTINATIONS_MAX ? open_destination(h, url) : NULL;
}

/* --- messages */

static struct evtype shape(const struct omig_nlog *h, int level, const char *event,
			   struct evfield *field, struct evconst *constant)
{
	const struct nlfields *f = &h->fields;

	for (unsigned i = 0; i < f->nconst; i++)
		constant[i] = (struct evconst){ f->name[i], f->value[i] };
	for (unsigned i = f->nconst; i < f->n; i++)
		field[i - f->nconst] = (struct evfield){ f->name[i], f->value[i].kind };
	return (struct evtype){ .name = event,
				.level = level > 0 && level < EV_NLEVELS ? (unsigned)level
									 : EV_UNSAID,
				.nfield = f->n - f->nconst,
				.nconst = f->nconst,
				.field = field,
				.constant = constant };
}

static int describe(void *arg)
{
	return say_who(arg);
}

static int put_event(struct omig_nlog *to, const struct event *ev)
{
	struct evalone alone = {
		.w = &to->w, .types = &to->types, .said = &to->said, .describe = describe, .arg = to
	};
	unsigned number;
	bool is_new;
	int rc;

	if (to->out.send) {
		alone.block_bytes = evsend_block_bytes(to->out.send);
		return evalone_event(&alone, ev, NULL);
	}
	rc = evtypes_number(&to->types, ev, &number, &is_new, NULL);
	rc = !rc && is_new ? evwrite_define(&to->w, number, ev->type, NULL) : rc;
	return rc ? rc : evwrite_event(&to->w, number, ev, NULL);
}

static int write_to(struct omig_nlog *to, const struct event *ev)
{
	if (put_event(to, ev)) {
		evwrite_dropped(&to->w, 1);
		return -1;
	}
	if ((to->w.out.n || NL_flush_on) && flush_one(to))
		return -1;
	return 1;
}

static int write_as_triggered(struct omig_nlog *h, const struct event *ev)
{
	/* `until` applies to the present time, also for events with a time of their own */
	const struct evtrigger_entry *entry =
		evtrigger_find(h->trigger, ev->type->name, clock_wall());
	struct omig_nlog *to = h;

	if (!entry || ev->type->level > entry->level || !evattr_fulfil(ev, &entry->where))
		return 0;
	if (entry->to)
		to = destination(h, entry->to);
	if (to && !has_failed(to))
		return write_to(to, ev);
	evwrite_dropped(&h->w, 1);
	return -1;
}

int nlog_write(struct omig_nlog *h, nsec_t wall, int level, const char *event)
{
	struct evfield field[EV_FIELDS_MAX];
	struct evconst constant[EV_FIELDS_MAX];
	const struct evtype t = shape(h, level, event, field, constant);
	const struct event ev = { .type = &t,
				  .ticks = (uint64_t)wall,
				  .wall_ns = wall,
				  .value = h->fields.value + h->fields.nconst };

	if (h->fields.has_failed || !event) {
		evwrite_dropped(&h->w, 1);
		return -1;
	}
	return h->trigger ? write_as_triggered(h, &ev) : write_to(h, &ev);
}
