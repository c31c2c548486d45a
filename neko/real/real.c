/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/real/real_internal.h"

#include "common/base/clock.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>

#define SAMPLE_NS (250 * NSEC_PER_MSEC)
#define FLUSH_MS 50 /* age of an event when the master receives it */
#define CLOSE_NS (2 * NSEC_PER_SEC) /* time for all layers together to return */

struct thread {
	struct real *real;
	struct neko_layer *layer;
	pthread_t id;
	pthread_cond_t wake; /* wakes the thread, or signals its end */
	bool has_returned;
};

static struct real *real_of(const struct neko_world *w)
{
	return (struct real *)(void *)(uintptr_t)w;
}

static nsec_t now_of(const struct neko_world *w)
{
	return real_now(real_of(w));
}

/* Returns the error of the last requested time. */
static nsec_t error_of(const struct neko_world *w)
{
	const struct real *r = real_of(w);

	return r->own_error + quickclock_error(&r->own);
}

static int transmit(struct neko_process *p, struct neko_msg *m)
{
	struct real *r = real_of(p->world);

	if (r->is_closing)
		return -ERR_CLOSED;
	if (r->is_frozen)
		return 0;
	r->sent += m->nto;
	realnet_send(r->net, m);
	return 0;
}

/* Lets other layers run during a poll: otherwise a loop of polls would block them for ever. */
static int give_way(struct real *r)
{
	pthread_mutex_unlock(&r->lock);
	sched_yield();
	pthread_mutex_lock(&r->lock);
	return r->is_closing ? -ERR_CLOSED : -ERR_TIMEOUT;
}

/* Waits by our own clock. The caller compares with the master's clock afterwards. */
static void wait_until(struct real *r, struct thread *t, nsec_t until)
{
	nsec_t error, own = clock_mono(),
		      shift = r->epoch - (real_master_time(r, own, &error) - own);
	nsec_t at = shift > 0 && until > NEKO_NEVER - shift ? NEKO_NEVER : until + shift;
	struct timespec end = { at / NSEC_PER_SEC, at % NSEC_PER_SEC };

	if (until == NEKO_NEVER)
		pthread_cond_wait(&t->wake, &r->lock);
	else if (at > 0)
		pthread_cond_timedwait(&t->wake, &r->lock, &end);
}

static int wait_for(struct neko_layer *l, nsec_t until, bool for_message)
{
	struct real *r = real_of(l->process->world);

	if (!r->is_closing && until <= real_now(r))
		return give_way(r);
	while (!r->is_closing && !(for_message && l->queue_n) && real_now(r) < until)
		wait_until(r, l->of_world, until);
	if (r->is_closing)
		return -ERR_CLOSED;
	return for_message && l->queue_n ? 0 : -ERR_TIMEOUT;
}

static void arrived(struct neko_layer *l)
{
	struct thread *t = l->of_world;

	if (t)
		pthread_cond_signal(&t->wake);
}

/* Logs an event. As in a simulation, events after the end of the run are not logged. */
static void log_event(struct neko_world *w, const struct neko_event *v)
{
	struct real *r = real_of(w);

	if (r->is_frozen || r->stop_at != NEKO_NEVER)
		return;
	if (v->n)
		reallog_event_bytes(&r->events, v);
	else
		reallog_event(&r->events, v);
}

static void stop(struct neko_world *w)
{
	struct real *r = real_of(w);

	if (!r->is_frozen && r->stop_at == NEKO_NEVER)
		r->stop_at = real_now(r);
}

static const struct neko_world_ops real_ops = {
	.now = now_of,
	.error = error_of,
	.transmit = transmit,
	.wait = wait_for,
	.arrived = arrived,
	.log = log_event,
	.stop = stop,
};

static void *live(void *arg)
{
	struct thread *t = arg;

	pthread_mutex_lock(&t->real->lock);
	t->layer->ops->run(t->layer);
	t->has_returned = true;
	pthread_cond_broadcast(&t->wake);
	pthread_mutex_unlock(&t->real->lock);
	return NULL;
}

static bool start_thread(struct real *r, struct neko_layer *l)
{
	struct thread *t = &r->threads[r->nthread];
	pthread_condattr_t a;

	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&t->wake, &a);
	pthread_condattr_destroy(&a);
	t->real = r;
	t->layer = l;
	l->of_world = t;
	if (pthread_create(&t->id, NULL, live, t))
		return false;
	r->nthread++;
	return true;
}

/* Starts the threads of layers, which begin when the lock is released. */
static bool start_threads(struct real *r)
{
	for (struct neko_layer *l = r->self->lowest; l; l = l->above)
		if (l->ops->run && !start_thread(r, l))
			return false;
	return true;
}

static void refill(struct real *r, struct reallog *l)
{
	struct reallog_chunk *made;
	size_t n;

	pthread_mutex_lock(&r->lock);
	n = reallog_wants(l);
	pthread_mutex_unlock(&r->lock);
	made = reallog_make(n);
	pthread_mutex_lock(&r->lock);
	reallog_refill(l, made);
	pthread_mutex_unlock(&r->lock);
}

/* Samples the clock of this host, which all processes share, so that the samples are exact. */
static void sample_locally(struct real *r)
{
	nsec_t now = clock_mono();

	if (r->conf->is_remote || !r->conf->clock || now - r->sampled_at < SAMPLE_NS)
		return;
	r->sampled_at = now;
	pthread_mutex_lock(&r->lock);
	real_sample(r, now, now, now);
	pthread_mutex_unlock(&r->lock);
}

static bool turn(struct real *r, struct realtalk *t)
{
	struct pollfd *f;
	size_t n = realnet_polls(r->net, &f);

	f[n] = (struct pollfd){ r->conf->master,
				(short)(realtalk_is_sent(t) ? POLLIN : POLLIN | POLLOUT), 0 };
	poll(f, n + 1, FLUSH_MS);
	sample_locally(r);
	realnet_turn(r->net, f, n);
	refill(r, &r->events);
	if (r->conf->wants_delays)
		refill(r, &r->delays);
	return realtalk_send(t);
}

/* Waits until a thread has returned. Returns false if it has not returned at that time. */
static bool await_return(struct real *r, struct thread *t, const struct timespec *end)
{
	bool has_returned;

	pthread_mutex_lock(&r->lock);
	while (!t->has_returned && pthread_cond_timedwait(&t->wake, &r->lock, end) == 0)
		;
	has_returned = t->has_returned;
	pthread_mutex_unlock(&r->lock);
	return has_returned && pthread_join(t->id, NULL) == 0;
}

static uint32_t close_threads(struct real *r)
{
	nsec_t at = clock_mono() + CLOSE_NS;
	struct timespec end = { at / NSEC_PER_SEC, at % NSEC_PER_SEC };
	uint32_t stuck = 0;

	pthread_mutex_lock(&r->lock);
	r->is_closing = true;
	for (size_t i = 0; i < r->nthread; i++)
		pthread_cond_broadcast(&r->threads[i].wake);
	pthread_mutex_unlock(&r->lock);
	for (size_t i = 0; i < r->nthread; i++)
		stuck += !await_return(r, &r->threads[i], &end);
	return stuck;
}

static int prepare_clock(struct real *r, struct err *e)
{
	const struct neko_clock_ops *c = r->conf->clock;

	if (!c)
		return 0;
	r->own_clock = calloc(1, c->bytes + 1);
	if (!r->own_clock)
		return err_nomem(e);
	return c->init ? c->init(r->own_clock, r->conf->setup, e) : 0;
}

static int prepare(struct real *r, const struct real_conf *c, struct realwire_ready *ready,
		   struct err *e)
{
	int rc;

	r->conf = c;
	r->stop_at = NEKO_NEVER;
	pthread_mutex_init(&r->lock, NULL);
	quickclock_init(&r->own);
	if (c->is_remote)
		timebase_init(&r->clock, clock_mono(), 0);
	else
		timebase_init_root(&r->clock, 0, 0);
	rc = prepare_clock(r, e);
	if (!rc)
		rc = world_init(&r->world, &real_ops, c->m, c->seed, e);
	if (rc)
		return rc;
	sample_locally(r);
	r->world.nnet = c->nnet;
	r->self = world_process(&r->world, c->id);
	r->threads = calloc(NEKO_LAYERS_MAX, sizeof(*r->threads));
	if (!r->threads)
		return err_nomem(e);
	refill(r, &r->events);
	if (c->wants_delays)
		refill(r, &r->delays);
	rc = c->build(c->arg, r->self, e);
	return rc ? rc : realnet_open(r, ready, e);
}

/*
 * Crashes the process: other processes receive nothing of it from now on. Its log is complete up to
 * this time, as in a simulation.
 */
static bool crash(struct real *r, struct realtalk *t)
{
	pthread_mutex_lock(&r->lock);
	r->is_frozen = true;
	pthread_mutex_unlock(&r->lock);
	return realtalk_end(t, 0, true);
}

static bool run(struct real *r, struct realtalk *t)
{
	pthread_mutex_lock(&r->lock);
	if (!start_threads(r))
		return false;
	pthread_mutex_unlock(&r->lock);
	/* A request to stop may have arrived together with the request to go. */
	while (realtalk_hear(t) && turn(r, t))
		;
	if (t->is_to_crash)
		return crash(r, t);
	return realtalk_end(t, close_threads(r), false);
}

void real_refuse(int master, const struct err *e)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);

	if (!realwire_put_words(&b, REALWIRE_FAILED, e->text))
		(void)!send(master, b.p, b.n, MSG_NOSIGNAL);
	buf_done(&b);
}

/* Frees nothing: the process ends, and a layer that does not return may still use its data. */
int real_live(const struct real_conf *c)
{
	struct real *r = calloc(1, sizeof(*r));
	struct realwire_ready ready = { 0 };
	struct realtalk talk = { 0 };
	struct err e = { 0 };

	if (!r || prepare(r, c, &ready, &e)) {
		real_refuse(c->master, &e);
		return 1;
	}
	return realtalk_begin(&talk, r, &ready) && run(r, &talk) ? 0 : 1;
}
