/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TCP network of a real process: a connection to each process of the run, and one from each. A
 * dialler first identifies itself with the key of the run. Until then it is a stranger. There is
 * room for some of them, for a short time, and none has the place of a process.
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

/* Besides one for each process: all of them may dial at once. When there are more, the oldest
 * goes. */
#define REALSTREAM_STRANGERS 16

struct realstream;

struct realstream_conf {
	uint32_t m, id;
	uint32_t address; /* IPv4, host order: where it listens, and from where it dials */
	nsec_t patience; /* how long one may be a stranger */
	pthread_mutex_t *lock; /* of what goes out; borrowed */
	void (*on_datagram)(void *arg, uint32_t from, const uint8_t *p, size_t n);
	void *arg;
};

/* Listens; *port says where. ERR_SYS, ERR_NOMEM. */
int realstream_open(const struct realstream_conf *c, struct realstream **out, uint16_t *port,
		    struct err *e);
/* NULL is fine. */
void realstream_close(struct realstream *s);

/* Once: their addresses, m of them, borrowed. Dials all. */
void realstream_meet(struct realstream *s, uint64_t key, const struct sockaddr_in *address);

/*
 * With the lock. Data that cannot be sent waits, up to a limit; more is lost, as over UDP. True:
 * some waits, and the polls must be made again.
 */
bool realstream_send(struct realstream *s, uint32_t to, const uint8_t *p, size_t n);

/* How many polls it has: always as many. */
static inline size_t realstream_npoll(uint32_t m)
{
	return 1 + REALSTREAM_STRANGERS + 3 * (size_t)m;
}

/* With the lock. */
void realstream_polls(const struct realstream *s, struct pollfd *f);

/* Without the lock: passes received data on. */
void realstream_turn(struct realstream *s, const struct pollfd *f);

#endif
