/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/netlogger/nlog.h"

#include "common/base/hash.h"
#include "common/base/rng.h"
#include "common/base/str.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int NL_flush_on;

#define FLUSH_NS NSEC_PER_SEC /* so old a message may become before it is written */

/* All handles, for the helper and the end of the program. */
static struct {
	struct inproc_lock lock;
	struct omig_nlog *first;
	bool has_helper;
	pid_t helped; /* the process that the helper is of */
} all = { .lock = INPROC_LOCK_INIT };

int nlog_flush(struct omig_nlog *h)
{
	struct buf *b = &h->w.out;

	if (evwrite_cut(&h->w, false, NULL))
		h->is_broken = true;
	for (size_t at = 0; at < b->n && !h->is_broken;) {
		const struct iovec left = { b->p + at, b->n - at };
		ssize_t n = inproc_writev(h->fd, &left, 1);

		if (n < 0 && errno != EINTR) {
			/* for this once: the next block may be written again */
			h->is_broken = true;
			evwrite_dropped(&h->w, 1);
		}
		at += n > 0 ? (size_t)n : 0;
	}
	buf_clear(b);
	if (!h->is_broken)
		return 0;
	h->is_broken = false;
	return -1;
}

static void flush_all(void)
{
	inproc_lock(&all.lock);
	for (struct omig_nlog *h = all.first; h; h = h->next) {
		inproc_lock(&h->lock);
		nlog_flush(h);
		inproc_unlock(&h->lock);
	}
	inproc_unlock(&all.lock);
}

static void *help(void *unused)
{
	const struct timespec t = { .tv_sec = FLUSH_NS / NSEC_PER_SEC };

	do {
		nanosleep(&t, NULL);
		flush_all();
	} while (!inproc_is_alone());
	return unused; /* the last thread */
}

/* The stream's own constants. */
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

/* --- fork: what the parent has not written yet is the parent's; the child has streams of
 * its own */

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

static void in_child(void)
{
	for (struct omig_nlog *h = all.first; h; h = h->next) {
		uint64_t stream = h->w.head.stream ^ hash_mix64((uint64_t)getpid());

		evwrite_done(&h->w);
		evtypes_done(&h->types);
		evwrite_init(&h->w, stream, false, 0);
		evtypes_init(&h->types);
		say_who(h);
	}
	if (all.first)
		start_helper();
	in_parent();
}

/* Under all.lock. Without a helper what is written waits for the next flush. */
static void start_helper(void)
{
	sigset_t every, before;
	pthread_t thread;

	if (all.helped == getpid())
		return;
	if (!all.has_helper) {
		atexit(flush_all);
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

static void free_handle(struct omig_nlog *h)
{
	evwrite_done(&h->w);
	evtypes_done(&h->types);
	pthread_mutex_destroy(&h->lock.mutex);
	free(h->program);
	free(h->tag);
	free(h->constants);
	free(h);
}

struct omig_nlog *nlog_new(int fd, bool is_borrowed, const char *program)
{
	struct omig_nlog *h = calloc(1, sizeof(*h));
	uint64_t stream;

	if (!h || rng_fill_random(&stream, sizeof(stream), NULL)) {
		free(h);
		errno = ENOMEM;
		return NULL;
	}
	pthread_mutex_init(&h->lock.mutex, NULL);
	evwrite_init(&h->w, stream, false, 0);
	evtypes_init(&h->types);
	h->fd = fd;
	h->is_borrowed = is_borrowed;
	h->is_on = true;
	h->level = EV_NLEVELS;
	h->program = str_dup(program);
	if (!h->program || say_who(h)) {
		free_handle(h);
		errno = ENOMEM;
		return NULL;
	}
	inproc_lock(&all.lock);
	h->next = all.first;
	all.first = h;
	start_helper();
	inproc_unlock(&all.lock);
	return h;
}

int nlog_close(struct omig_nlog *h)
{
	struct omig_nlog **at = &all.first;
	int rc;

	inproc_lock(&all.lock);
	while (*at && *at != h)
		at = &(*at)->next;
	if (*at)
		*at = h->next;
	inproc_unlock(&all.lock);
	inproc_lock(&h->lock);
	rc = evwrite_cut(&h->w, true, NULL) | nlog_flush(h);
	inproc_unlock(&h->lock);
	if (!h->is_borrowed && close(h->fd))
		rc = -1;
	free_handle(h);
	return rc ? -1 : 0;
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

int nlog_write(struct omig_nlog *h, nsec_t wall, int level, const char *event)
{
	struct evfield field[EV_FIELDS_MAX];
	struct evconst constant[EV_FIELDS_MAX];
	const struct evtype t = shape(h, level, event, field, constant);
	const struct evvalue *v = h->fields.value + h->fields.nconst;
	unsigned number;
	bool is_new;

	if (h->fields.has_failed || !event ||
	    evtypes_number(&h->types, &(struct event){ .type = &t }, &number, &is_new, NULL) ||
	    (is_new && evwrite_define(&h->w, number, &t, NULL)) ||
	    evwrite_event(&h->w, number,
			  &(struct event){ .type = &t, .ticks = (uint64_t)wall, .value = v },
			  NULL)) {
		evwrite_dropped(&h->w, 1);
		return -1;
	}
	if ((h->w.out.n || NL_flush_on) && nlog_flush(h))
		return -1;
	return 1;
}
