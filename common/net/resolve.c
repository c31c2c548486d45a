/* SPDX-License-Identifier: Apache-2.0 */
/*
 * getaddrinfo() may take half a minute, so it runs in a separate thread. The thread and the loop
 * share a look-up, which the last of them frees. The thread never uses the loop: it makes a
 * descriptor readable.
 */
#include "common/base/str.h"
#include "common/net/internal.h"

#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define THREAD_STACK_BYTES (256 * 1024)

struct resolve {
	_Atomic int owners; /* the loop and the thread; the last one frees the look-up */
	int ready; /* eventfd: written by the thread when `found` is valid */
	int gai; /* result of getaddrinfo() */
	struct addrs found;
	char *host; /* owned */
	char service[8];
	/* for the loop */
	struct loop_fd *watch;
	void (*fn)(void *arg, const struct addrs *found, const char *why_not);
	void *arg;
};

static void drop(struct resolve *r)
{
	if (atomic_fetch_sub(&r->owners, 1) > 1)
		return;
	close(r->ready);
	free(r->host);
	free(r);
}

static void keep(struct addrs *out, const struct addrinfo *found)
{
	for (; found && out->count < DIAL_ADDRS_MAX; found = found->ai_next) {
		memcpy(&out->at[out->count], found->ai_addr, found->ai_addrlen);
		out->n[out->count++] = found->ai_addrlen;
	}
}

static void *look_up(void *arg)
{
	struct resolve *r = arg;
	struct addrinfo hints = { .ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV,
				  .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	uint64_t one = 1;
	ssize_t n;

	r->gai = getaddrinfo(r->host, r->service, &hints, &found);
	if (!r->gai) {
		keep(&r->found, found);
		freeaddrinfo(found);
	}
	n = write(r->ready, &one, sizeof(one)); /* cannot block: no other thread writes */
	(void)n;
	drop(r);
	return NULL;
}

static void on_ready(void *arg, unsigned what)
{
	struct resolve *r = arg;
	uint64_t count;
	ssize_t n = read(r->ready, &count, sizeof(count));

	(void)n;
	loop_fd_free(r->watch);
	r->watch = NULL;
	r->fn(r->arg, &r->found, r->gai ? gai_strerror(r->gai) : NULL);
	drop(r);
}

/* Starts the thread with all signals blocked: the main thread handles them. */
static int start_thread(struct resolve *r)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t id;
	int rc = pthread_attr_init(&attr);

	if (rc)
		return rc;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&id, &attr, look_up, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return rc;
}

struct resolve *resolve_start(struct loop *l, const struct net_target *to,
			      void (*fn)(void *arg, const struct addrs *found, const char *why_not),
			      void *arg, struct err *e)
{
	struct resolve *r = calloc(1, sizeof(*r));

	if (!r) {
		err_nomem(e);
		return NULL;
	}
	*r = (struct resolve){ .owners = 2, .fn = fn, .arg = arg, .host = str_dup(to->host) };
	snprintf(r->service, sizeof(r->service), "%u", to->port);
	r->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->ready >= 0 && r->host)
		r->watch = loop_fd_new(
			l,
			&(struct loop_watch){
				.fd = r->ready, .what = LOOP_READ, .fn = on_ready, .arg = r },
			NULL);
	if (r->watch && !start_thread(r))
		return r;
	err_set(e, ERR_SYS,
		"cannot look up the name %.60s: no memory, thread or descriptor is left", to->host);
	loop_fd_free(r->watch);
	if (r->ready >= 0)
		close(r->ready);
	free(r->host);
	free(r);
	return NULL;
}

void resolve_cancel(struct resolve *r)
{
	if (!r)
		return;
	loop_fd_free(r->watch);
	r->watch = NULL;
	drop(r);
}
