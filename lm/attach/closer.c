/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/attach/closer.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define STACK_BYTES (64 * 1024) /* of a thread that calls close() only */

struct order {
	struct order *next;
	int fd;
};

/* Freed by the last of its owner and the threads. All members below `lock` are protected by it. */
struct closer {
	pthread_mutex_t lock;
	struct order *first; /* orders not taken by a thread yet */
	unsigned nthread, nqueued;
	bool is_left; /* abandoned by its owner */
};

struct closer *closer_new(void)
{
	struct closer *c = calloc(1, sizeof(*c));

	if (c)
		pthread_mutex_init(&c->lock, NULL);
	return c;
}

static void destroy(struct closer *c)
{
	pthread_mutex_destroy(&c->lock);
	free(c);
}

void closer_free(struct closer *c)
{
	bool is_last;

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->is_left = true;
	is_last = c->nthread == 0;
	pthread_mutex_unlock(&c->lock);
	if (is_last)
		destroy(c);
}

bool closer_is_memory(int fd)
{
	return fcntl(fd, F_GET_SEALS) >= 0;
}

bool closer_is_full(struct closer *c)
{
	bool is_full;

	pthread_mutex_lock(&c->lock);
	is_full = c->nqueued >= CLOSER_QUEUE_MAX;
	pthread_mutex_unlock(&c->lock);
	return is_full;
}

/* Called with the lock held. */
static struct order *next_order(struct closer *c)
{
	struct order *o = c->first;

	if (!o)
		return NULL;
	c->first = o->next;
	c->nqueued--;
	return o;
}

static void *wait_and_close(void *arg)
{
	struct closer *c = arg;
	struct order *o;
	bool is_last;

	pthread_mutex_lock(&c->lock);
	while ((o = next_order(c))) {
		pthread_mutex_unlock(&c->lock);
		close(o->fd);
		free(o);
		pthread_mutex_lock(&c->lock);
	}
	c->nthread--;
	is_last = c->is_left && c->nthread == 0;
	pthread_mutex_unlock(&c->lock);
	if (is_last)
		destroy(c);
	return NULL;
}

static int start(struct closer *c)
{
	sigset_t every, before;
	pthread_attr_t a;
	pthread_t thread;
	int rc;

	sigfillset(&every);
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, STACK_BYTES);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	rc = pthread_create(&thread, &a, wait_and_close, c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&a);
	return rc;
}

/* Passes an order to a thread. Without a new thread it waits for one that exists. */
static void close_elsewhere(struct closer *c, int fd)
{
	struct order *o = malloc(sizeof(*o));

	if (!o)
		return;
	pthread_mutex_lock(&c->lock);
	*o = (struct order){ c->first, fd };
	c->first = o;
	c->nqueued++;
	if (c->nthread < CLOSER_THREADS_MAX && !start(c))
		c->nthread++;
	pthread_mutex_unlock(&c->lock);
}

void closer_close(struct closer *c, int fd)
{
	const struct linger at_once = { 0 };

	if (fd < 0)
		return;
	if (closer_is_memory(fd)) {
		close(fd);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once,
		   sizeof(at_once)); /* fails on other descriptors than sockets */
	close_elsewhere(c, fd);
}
