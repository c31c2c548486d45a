/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TCP network of a real process, with a connection to and from each process of the run. The first
 * message on a connection has the key of the run; until then the connection is a *stranger*. A few
 * strangers are accepted for a short time, and they do not use the places of processes.
 */
#ifndef NEKO_REAL_REALSTREAM_H
#define NEKO_REAL_REALSTREAM_H

#include "common/base/clock.h"
#include "common/base/err.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * In addition to one for each process, because all may connect at once. If there are more, the
 * oldest stranger is closed.
 */
#define REALSTREAM_STRANGERS 16

struct realstream;

struct realstream_conf {
	uint32_t m, id;
	uint32_t address; /* IPv4, host order: to listen on, and to connect from */
	nsec_t patience; /* how long a connection may be a stranger */
	pthread_mutex_t *lock; /* protects the data to be sent; borrowed */
	void (*on_datagram)(void *arg, uint32_t from, const uint8_t *p, size_t n);
	void *arg;
};

/* Starts to listen; *port is the port. Fails with ERR_SYS, ERR_NOMEM. */
int realstream_open(const struct realstream_conf *c, struct realstream **out, uint16_t *port,
		    struct err *e);
/* NULL is accepted. */
void realstream_close(struct realstream *s);

/* Called once. Connects to all m processes. The addresses are borrowed. */
void realstream_meet(struct realstream *s, uint64_t key, const struct sockaddr_in *address);

/*
 * Called with the lock. Data that cannot be sent is queued up to a limit; more is lost, as over
 * UDP. Returns true if data is queued, so that realstream_polls() must be called again.
 */
bool realstream_send(struct realstream *s, uint32_t to, const uint8_t *p, size_t n);

/* Returns the number of pollfds for m processes, which is constant. */
static inline size_t realstream_npoll(uint32_t m)
{
	return 1 + REALSTREAM_STRANGERS + 3 * (size_t)m;
}

/* Called with the lock: writes the pollfds to f. */
void realstream_polls(const struct realstream *s, struct pollfd *f);

/* Called without the lock, after poll(): passes received data to on_datagram(). */
void realstream_turn(struct realstream *s, const struct pollfd *f);

#endif
