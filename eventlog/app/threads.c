/* SPDX-License-Identifier: Apache-2.0 */
/* Threads are added at their first event. A destructor of thread-local storage removes them. */
#include "common/base/str.h"
#include "eventlog/app/log.h"
#include "eventlog/evbytes.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void log_say_who(struct log_state *s)
{
	char host[256] = "";
	struct evconst c[4] = {
		{ "tid", { .kind = EV_INT32 } },
		{ "HOST", { .kind = EV_STRING, .s = host } },
		{ "PROG", { .kind = EV_STRING, .s = program_invocation_short_name } },
		{ "pid", { .kind = EV_INT32, .i32 = (int32_t)getpid() } },
	};
	const struct evtype who = { .name = "", .nconst = 4, .constant = c };
	struct buf b = BUF_INIT(sizeof(s->who));

	gethostname(host, sizeof(host) - 1);
	c[1].value.n = (uint32_t)strlen(host);
	c[2].value.n = (uint32_t)strnlen(program_invocation_short_name, 200);
	s->who_bytes = 0;
	if (!evtype_encode(&b, 0, &who, false, NULL)) {
		memcpy(s->who, b.p, b.n);
		s->who_bytes = b.n;
	}
	buf_done(&b);
}

/*
 * May run in a signal handler, so it uses mmap(), no allocator and no lock. The thread-specific key
 * is an exception, see docs/eventlog.md.
 */
static struct log_thread *add_thread(struct log_state *s)
{
	struct log_thread *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (t == MAP_FAILED)
		return NULL;
	t->at.at = t->at.shown = t->buffer[0];
	t->at.end = t->buffer[0] + LOG_BUFFER_BYTES;
	t->at.is_tsc = s->ticks == TICKS_TSC;
	t->head = (struct evblock){ .version = EVBLOCK_VERSION, .stream = s->stream++ };
	t->tid = (int32_t)syscall(SYS_gettid);
	t->next = s->threads;
	while (!atomic_compare_exchange_weak(&s->threads, &t->next, t))
		;
	return t;
}

/*
 * Drops an event of a signal handler that interrupted another event, and events of a thread without
 * memory.
 */
struct omig_event_thread *omig_event_first(struct omig_event_thread *h)
{
	struct log_state *s = log_the();
	int keep = errno;
	struct log_thread *t;

	if (h) {
		__atomic_fetch_add(&h->dropped, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	t = add_thread(s);
	if (t) {
		omig_event_here = &t->at;
		if (s->has_key)
			pthread_setspecific(s->key, t);
	}
	errno = keep;
	return t ? &t->at : NULL;
}

/* Called when the buffer is full: continues with the next free one. */
int omig_event_more(struct omig_event_thread *h, size_t bytes)
{
	struct log_thread *t = (struct log_thread *)h;
	struct log_state *s = log_the();
	uint64_t k = atomic_load_explicit(&t->filled, memory_order_relaxed);
	bool is_full = k + 1 - atomic_load_explicit(&t->done, memory_order_acquire) >= LOG_BUFFERS;
	int keep = errno;

	if (is_full && s->flags & OMIG_EVENT_WAIT && log_lock_if_free(s)) {
		log_drain(s, t, false);
		log_unlock(s);
		is_full =
			k + 1 - atomic_load_explicit(&t->done, memory_order_acquire) >= LOG_BUFFERS;
	}
	errno = keep;
	if (is_full || bytes > LOG_BUFFER_BYTES) {
		__atomic_fetch_add(&h->dropped, 1, __ATOMIC_RELAXED);
		return 0;
	}
	t->used[k % LOG_BUFFERS] = (size_t)(h->at - t->buffer[k % LOG_BUFFERS]);
	h->at = t->buffer[(k + 1) % LOG_BUFFERS];
	h->end = h->at + LOG_BUFFER_BYTES;
	/*
	 * The reader loads these in the reverse order. The next buffer begins at the end of this
	 * one.
	 */
	atomic_store_explicit(&t->filled, k + 1, memory_order_release);
	__atomic_store_n(&h->shown, h->at, __ATOMIC_RELEASE);
	log_ring(s);
	errno = keep;
	return 1;
}

uint64_t log_thread_lost(const struct log_thread *t)
{
	return __atomic_load_n(&t->at.dropped, __ATOMIC_RELAXED) + t->failed;
}

void log_thread_ended(void *thread)
{
	struct log_thread *t = thread;

	omig_event_here = NULL;
	atomic_store_explicit(&t->has_ended, true, memory_order_release);
}

static void free_thread(struct log_thread *t)
{
	munmap(t, sizeof(*t));
}

/* Removes t from the list, in which further threads may have been added at the front. */
static void take_out(struct log_state *s, struct log_thread *t)
{
	struct log_thread *at = t;

	if (atomic_compare_exchange_strong(&s->threads, &at, t->next))
		return;
	for (at = s->threads; at->next != t; at = at->next)
		;
	at->next = t->next;
}

void log_threads_free_ended(struct log_state *s)
{
	struct log_thread *next;

	for (struct log_thread *t = s->threads; t; t = next) {
		next = t->next;
		if (!t->is_over)
			continue;
		take_out(s, t);
		s->lost += log_thread_lost(t);
		free_thread(t);
	}
}

void log_threads_renew(struct log_state *s)
{
	for (struct log_thread *t = s->threads; t; t = t->next) {
		t->head = (struct evblock){ .version = EVBLOCK_VERSION, .stream = s->stream++ };
		t->at.is_tsc = s->ticks == TICKS_TSC;
		t->failed = 0;
		__atomic_store_n(&t->at.dropped, 0, __ATOMIC_RELAXED);
		t->has_said_who = false;
		memset(t->said, 0, sizeof(t->said));
	}
}

void log_threads_forget(struct log_state *s)
{
	struct log_thread *t;

	while ((t = s->threads)) {
		s->threads = t->next;
		free_thread(t);
	}
	omig_event_here = NULL;
	if (s->has_key)
		pthread_setspecific(s->key, NULL); /* the key of the one remaining thread */
	s->lost = 0;
}
