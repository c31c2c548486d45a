/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The internals of a real process: its world (real.c), its networks (realnet.c), its stream to the
 * master (realtalk.c).
 */
#ifndef NEKO_REAL_REAL_INTERNAL_H
#define NEKO_REAL_REAL_INTERNAL_H

#include "common/time/timebase.h"
#include "neko/real/quickclock.h"
#include "neko/real/real.h"
#include "neko/real/reallog.h"
#include "neko/real/realwire.h"
#include "neko/core/world.h"
#include "proto/frame.h"

#include <poll.h>
#include <pthread.h>

struct realnet;

/* The holder of `lock` may use the members below it: a layer, while it runs. */
struct real {
	/* must be the first member; a real world is identified by its ops */
	struct neko_world world;
	const struct real_conf *conf;
	struct neko_process *self;
	struct realnet *net; /* owned; has its own rules for the lock (below) */
	nsec_t epoch; /* time 0 of the run, by the master's clock */
	pthread_mutex_t lock;
	struct timebase clock; /* estimates the master's time */
	void *own_clock; /* owned: state of conf->clock */
	/* of own_clock: the error of its last result, and its latest result */
	nsec_t own_error, own_latest;
	nsec_t sampled_at; /* local runs: time of the last sample for own_clock */
	struct quickclock own;
	nsec_t read_at; /* our own clock at the last reading */
	bool is_closing;
	bool is_frozen; /* the process has crashed: actions of layers have no effect */
	nsec_t stop_at; /* when a layer ended the run; NEKO_NEVER: not yet */
	uint64_t sent, delivered;
	struct reallog events, delays;
	struct thread *threads; /* owned */
	size_t nthread;
};

/*
 * Called with the lock: returns the master's time at a time of our own clock, and the bound of its
 * error.
 */
static inline nsec_t real_master_time(struct real *r, nsec_t own, nsec_t *error)
{
	nsec_t t;

	if (!r->conf->clock) {
		*error = timebase_error(&r->clock, own);
		return timebase_now(&r->clock, own);
	}
	*error = 0;
	t = r->conf->clock->now(r->own_clock, own, error);
	if (t < r->own_latest)
		t = r->own_latest;
	r->own_latest = t;
	return t;
}

/* Called with the lock. */
static inline nsec_t real_now(struct real *r)
{
	nsec_t t;

	r->read_at = quickclock_now(&r->own);
	t = real_master_time(r, r->read_at, &r->own_error) - r->epoch;
	return t > 0 ? t : 0;
}

/* Called with the lock: passes a sample to a clock of a shared object. */
static inline void real_sample(struct real *r, nsec_t asked, nsec_t answered, nsec_t master)
{
	if (r->conf->clock)
		r->conf->clock->sample(r->own_clock, asked, answered, master);
}

/* --- networks */

/* Opens and binds sockets. Fails with ERR_SYS, ERR_NOMEM. */
int realnet_open(struct real *r, struct realwire_ready *out, struct err *e);

/*
 * Reads the addresses of all processes, nnet times m. Fails with ERR_PROTO if the payload is
 * invalid.
 */
int realnet_meet(struct realnet *n, const uint8_t *p, size_t bytes);

/*
 * Called with the lock: sends to all destinations. If a buffer is full the message is lost, as in a
 * network.
 */
void realnet_send(struct realnet *n, const struct neko_msg *m);

/*
 * Returns the number of pollfds, in *fd. The networks own the array, which has room for one more at
 * its end.
 */
size_t realnet_polls(struct realnet *n, struct pollfd **fd);

/* Passes received messages to the layers. Takes the lock. */
void realnet_turn(struct realnet *n, const struct pollfd *fd, size_t nfd);

/* --- the stream to the master */

struct realtalk {
	struct real *real;
	struct frame_in in; /* owned */
	struct buf out; /* owned: the frame that is being sent */
	size_t at; /* offset up to which it was sent */
	struct reallog_chunk *events, *delays; /* owned: chunks that were taken and not sent yet */
	size_t event_at, delay_at; /* entries of the first chunks that were sent */
	nsec_t until; /* all events before this time have been taken */
	nsec_t next; /* time of the next block */
	bool is_taken; /* entries were taken, and the final block was not made yet */
	bool is_to_crash; /* the master has requested a crash */
};

/* Sends the ready message and waits for REALWIRE_GO. Returns false if there is no run. Blocks. */
bool realtalk_begin(struct realtalk *t, struct real *r, const struct realwire_ready *ready);

/*
 * Sends pending data to the master, as much as the socket accepts. Returns false if the master has
 * disconnected.
 */
bool realtalk_send(struct realtalk *t);
bool realtalk_is_sent(const struct realtalk *t);

/* Handles messages of the master. Returns false after a stop, or if the master has disconnected. */
bool realtalk_hear(struct realtalk *t);

/* Sends all pending data, and the last block with the reason of the end. Blocks. */
bool realtalk_end(struct realtalk *t, uint32_t stuck, bool is_crashed);

#endif
