/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/real.h"

#include "common/base/clock.h"
#include "neko/realwire.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define FLUSH_MS 50 /* how old an event is when the master hears of it */
#define CLOSE_NS (2 * NSEC_PER_SEC) /* that all layers together have to return */
#define EVENTS_MAX 65536 /* between two flushes: a million a second */
#define DATAGRAMS_MAX \
	1024 /* of a network, one after the other: others and the master have their turn */

/* All below `lock` belongs to who holds it: layers, while they run. */
struct real {
	struct neko_world world; /* first: a world of these ops is a real one */
	const struct real_conf *conf;
	struct neko_process *self;
	nsec_t epoch;
	pthread_mutex_t lock;
	bool is_closing, wants_stop, has_lost;
	uint64_t sent, delivered;
	struct neko_event *events; /* owned, EVENTS_MAX: logging allocates nothing */
	struct neko_event *spare; /* the same, of which the flush is telling */
	size_t nevent;
	struct thread *threads; /* owned */
	size_t nthread;
	uint8_t datagram[REALWIRE_DATAGRAM_MAX_BYTES];
};

/* A block on its way to the master. */
struct report {
	struct buf block;
	size_t at; /* up to here it is gone */
	nsec_t next; /* when there is another one */
};

struct thread {
	struct real *real;
	struct neko_layer *layer;
	pthread_t id;
	pthread_cond_t wake;
};

static struct real *real_of(const struct neko_world *w)
{
	return (struct real *)(void *)(uintptr_t)w;
}

static nsec_t now_of(const struct neko_world *w)
{
	nsec_t t = clock_mono() - real_of(w)->epoch;

	return t > 0 ? t : 0;
}

static void transmit_to(struct real *r, struct neko_msg *m, uint32_t to)
{
	const struct sockaddr_in *a = &r->conf->address[m->net * r->conf->m + to - 1];
	size_t n = realwire_datagram(r->datagram, r->conf->key, to, m);

	/* A full buffer loses it, as the network may. */
	r->sent++;
	(void)!sendto(r->conf->sock[m->net], r->datagram, n, MSG_DONTWAIT | MSG_NOSIGNAL,
		      (const void *)a, sizeof(*a));
}

static int transmit(struct neko_process *p, struct neko_msg *m)
{
	struct real *r = real_of(p->world);
	uint32_t i;

	if (r->is_closing)
		return -ERR_CLOSED;
	for (i = 0; i < m->nto; i++)
		transmit_to(r, m, world_destination(m, i));
	return 0;
}

/* A poll lets the others run: without that a loop around it would keep them out for ever. */
static int give_way(struct real *r)
{
	pthread_mutex_unlock(&r->lock);
	sched_yield();
	pthread_mutex_lock(&r->lock);
	return r->is_closing ? -ERR_CLOSED : -ERR_TIMEOUT;
}

static void wait_until(struct real *r, struct thread *t, nsec_t until)
{
	nsec_t at = until > NEKO_NEVER - r->epoch ? NEKO_NEVER : until + r->epoch;
	struct timespec end = { at / NSEC_PER_SEC, at % NSEC_PER_SEC };

	if (until == NEKO_NEVER)
		pthread_cond_wait(&t->wake, &r->lock);
	else
		pthread_cond_timedwait(&t->wake, &r->lock, &end);
}

static int wait_for(struct neko_layer *l, nsec_t until, bool for_message)
{
	struct real *r = real_of(l->process->world);

	if (!r->is_closing && until <= now_of(&r->world))
		return give_way(r);
	while (!r->is_closing && !(for_message && l->queue_n) && now_of(&r->world) < until)
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

static void log_event(struct neko_world *w, const struct neko_event *v)
{
	struct real *r = real_of(w);

	if (r->nevent < EVENTS_MAX)
		r->events[r->nevent++] = *v;
	else
		r->has_lost = true;
}

static void stop(struct neko_world *w)
{
	real_of(w)->wants_stop = true;
}

static const struct neko_world_ops real_ops = {
	.now = now_of,
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

/* They begin when the lock is given away. */
static bool start_threads(struct real *r)
{
	struct neko_layer *l;

	for (l = r->self->lowest; l; l = l->above)
		if (l->ops->run && !start_thread(r, l))
			return false;
	return true;
}

static bool is_told(const struct report *t)
{
	return t->at == t->block.n;
}

/* As much as the stream takes, or all. False: the master is gone. */
static bool tell(const struct real *r, struct report *t, int flags)
{
	while (!is_told(t)) {
		ssize_t n = send(r->conf->master, t->block.p + t->at, t->block.n - t->at,
				 MSG_NOSIGNAL | flags);

		if (n > 0)
			t->at += (size_t)n;
		else if (n == 0 || errno != EINTR)
			return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
	}
	return true;
}

/* Events change hands under the lock, and become a block without it. */
static bool make_block(struct real *r, struct report *t, struct realwire_block *block)
{
	struct neko_event *events;
	size_t n, i;

	pthread_mutex_lock(&r->lock);
	events = r->events;
	n = r->nevent;
	r->events = r->spare;
	r->spare = events;
	r->nevent = 0;
	block->until = now_of(&r->world);
	block->sent = r->sent;
	block->delivered = r->delivered;
	block->wants_stop = r->wants_stop;
	block->has_lost = r->has_lost;
	pthread_mutex_unlock(&r->lock);
	block->count = (uint32_t)n;
	buf_clear(&t->block);
	t->at = 0;
	realwire_block(&t->block, block);
	for (i = 0; i < n; i++)
		realwire_event(&t->block, &events[i]);
	realwire_end(&t->block, 0);
	return !t->block.failed;
}

/* A master that does not read holds up nothing but its news. */
static bool report(struct real *r, struct report *t)
{
	struct realwire_block block = { 0 };

	if (is_told(t) && clock_mono() >= t->next) {
		t->next = clock_mono() + FLUSH_MS * NSEC_PER_MSEC;
		if (!make_block(r, t, &block))
			return false;
	}
	return tell(r, t, MSG_DONTWAIT);
}

/* What is left, and the last block: here it waits, for there is nothing else to do. */
static bool report_last(struct real *r, struct report *t, uint32_t stuck)
{
	struct realwire_block last = { .is_last = true, .stuck = stuck };

	return tell(r, t, 0) && make_block(r, t, &last) && tell(r, t, 0);
}

static bool is_from(const struct real *r, unsigned net, uint32_t from, const struct sockaddr_in *a)
{
	const struct sockaddr_in *want = &r->conf->address[net * r->conf->m + from - 1];

	return a->sin_port == want->sin_port && a->sin_addr.s_addr == want->sin_addr.s_addr;
}

static void take_datagram(struct real *r, unsigned net, const uint8_t *p, size_t n,
			  const struct sockaddr_in *a)
{
	struct neko_msg *m;

	pthread_mutex_lock(&r->lock);
	m = realwire_message(&r->world, r->conf->key, r->conf->id, (uint8_t)net, p, n);
	if (m && is_from(r, net, m->from, a)) {
		r->delivered++;
		world_hand_up(r->self, m);
	}
	if (m)
		world_msg_unref(&r->world, m);
	pthread_mutex_unlock(&r->lock);
}

static void take_datagrams(struct real *r, unsigned net, uint8_t *p)
{
	struct sockaddr_in a;
	unsigned i;
	ssize_t n;

	for (i = 0; i < DATAGRAMS_MAX; i++) {
		socklen_t len = sizeof(a);

		n = recvfrom(r->conf->sock[net], p, REALWIRE_DATAGRAM_MAX_BYTES, MSG_DONTWAIT,
			     (void *)&a, &len);
		if (n < 0)
			return;
		if (len == sizeof(a) && a.sin_family == AF_INET)
			take_datagram(r, net, p, (size_t)n, &a);
	}
}

/* True: the master says stop, or is not there any more. */
static bool master_says_stop(int fd)
{
	char c;
	ssize_t n = recv(fd, &c, 1, MSG_DONTWAIT);

	return n == 0 || (n > 0 && c == REAL_STOP) || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static bool turn(struct real *r, struct report *t, uint8_t *p)
{
	struct pollfd f[NEKO_NETS_MAX + 1];
	unsigned i, n = r->conf->nnet;

	for (i = 0; i < n; i++)
		f[i] = (struct pollfd){ r->conf->sock[i], POLLIN, 0 };
	f[n] = (struct pollfd){ r->conf->master, is_told(t) ? POLLIN : POLLIN | POLLOUT, 0 };
	poll(f, n + 1, FLUSH_MS);
	for (i = 0; i < n; i++)
		if (f[i].revents)
			take_datagrams(r, i, p);
	if (!report(r, t))
		return false;
	return !(f[n].revents & ~POLLOUT) || !master_says_stop(r->conf->master);
}

static uint32_t close_threads(struct real *r)
{
	nsec_t at = clock_mono() + CLOSE_NS;
	struct timespec end = { at / NSEC_PER_SEC, at % NSEC_PER_SEC };
	uint32_t stuck = 0;
	size_t i;

	pthread_mutex_lock(&r->lock);
	r->is_closing = true;
	for (i = 0; i < r->nthread; i++)
		pthread_cond_broadcast(&r->threads[i].wake);
	pthread_mutex_unlock(&r->lock);
	for (i = 0; i < r->nthread; i++)
		stuck += pthread_clockjoin_np(r->threads[i].id, NULL, CLOCK_MONOTONIC, &end) != 0;
	return stuck;
}

static bool prepare(struct real *r, const struct real_conf *c)
{
	struct err e = { 0 };

	r->conf = c;
	pthread_mutex_init(&r->lock, NULL);
	if (world_init(&r->world, &real_ops, c->m, c->seed, &e))
		return false;
	r->world.nnet = c->nnet;
	r->self = world_process(&r->world, c->id);
	r->events = calloc(EVENTS_MAX, sizeof(*r->events));
	r->spare = calloc(EVENTS_MAX, sizeof(*r->spare));
	r->threads = calloc(NEKO_LAYERS_MAX, sizeof(*r->threads));
	return r->events && r->spare && r->threads && c->build(c->arg, r->self, &e) == 0;
}

static bool await_go(struct real *r)
{
	struct real_go go;
	ssize_t n;

	do {
		n = recv(r->conf->master, &go, sizeof(go), MSG_WAITALL);
	} while (n < 0 && errno == EINTR);
	r->epoch = go.epoch;
	return n == sizeof(go);
}

static bool run(struct real *r)
{
	uint8_t *p = malloc(REALWIRE_DATAGRAM_MAX_BYTES);
	struct report t = { .block = BUF_INIT(REALWIRE_BLOCK_MAX_BYTES) };

	pthread_mutex_lock(&r->lock);
	if (!p || !start_threads(r))
		return false;
	pthread_mutex_unlock(&r->lock);
	while (turn(r, &t, p))
		;
	return report_last(r, &t, close_threads(r));
}

/* Nothing is freed: the process ends, and a layer that does not return may still use it. */
int real_live(const struct real_conf *c)
{
	static const char ready = 'R';
	struct real *r = calloc(1, sizeof(*r));

	if (!r || !prepare(r, c))
		return 1;
	if (send(c->master, &ready, 1, MSG_NOSIGNAL) != 1 || !await_go(r))
		return 1;
	return run(r) ? 0 : 1;
}
