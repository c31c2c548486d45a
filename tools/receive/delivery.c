/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/receive/delivery.h"

#include "common/base/buf.h"
#include "common/base/limits.h"
#include "tools/events/destination.h"
#include "tools/term/say.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define BLOCKS_MAX_BYTES (1u << 20) /* more than one read of a spool */

struct delivery {
	const struct receive_options *options;
	struct delivery_calls calls;
	struct destination *destination; /* the thread's; NULL while it cannot be opened */
	nsec_t began; /* begin of the current file */
	struct evbalance_totals before; /* totals of the destination at the start */
	bool is_busy; /* of the loop */
	int bell; /* an eventfd: blocks are stored */
	struct loop_fd *watch;
	bool has_thread;
	pthread_t thread;
	/* under lock */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct buf blocks; /* empty: the thread has no work */
	bool is_ending, is_failing, is_monitor;
	struct monitor_out_counts monitor;
	struct evbalance_totals totals;
};

/* --- the thread */

static bool is_time_to_rotate(const struct delivery *d)
{
	const struct receive_options *w = d->options;
	uint64_t bytes;

	if (!destination_is_file(d->destination, &bytes) || !bytes)
		return false;
	return (w->rotate_mib && bytes >= w->rotate_mib << 20) ||
	       (w->rotate_ns && clock_mono() - d->began >= w->rotate_ns);
}

static int store(struct delivery *d)
{
	int rc = CMD_OK;

	if (!d->destination)
		rc = destination_open_rotated(d->options->to, (unsigned)d->options->older,
					      &d->destination);
	if (rc == CMD_OK && is_time_to_rotate(d)) {
		rc = destination_rotate(d->destination, (unsigned)d->options->older);
		d->began = clock_mono();
	}
	if (rc == CMD_OK)
		rc = destination_blocks(d->destination, d->blocks.p, d->blocks.n);
	return rc == CMD_OK ? destination_commit(d->destination) : rc;
}

/* Returns false if the end precedes it. */
static bool rest(struct delivery *d)
{
	struct timespec until;
	bool is_ending;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += RECEIVE_RETRY_NS / NSEC_PER_SEC;
	pthread_mutex_lock(&d->lock);
	while (!d->is_ending && pthread_cond_timedwait(&d->wake, &d->lock, &until) != ETIMEDOUT)
		;
	is_ending = d->is_ending;
	pthread_mutex_unlock(&d->lock);
	return !is_ending;
}

/*
 * Closes a destination whose balance has blocks that were not stored, so that another one reads
 * the balance again. A receiver in the net is kept: it has these blocks, and sends them when the
 * other end is back.
 */
static void leave(struct delivery *d, int rc)
{
	if (rc == CMD_TIMEOUT)
		return;
	destination_close(d->destination);
	d->destination = NULL;
}

/*
 * Returns false if the blocks could not be stored before the end. A repeated failure is reported
 * once.
 */
static bool store_until_done(struct delivery *d)
{
	char words[256] = "";
	int rc;

	while ((rc = store(d)) != CMD_OK) {
		pthread_mutex_lock(&d->lock);
		d->is_failing = true;
		pthread_mutex_unlock(&d->lock);
		leave(d, rc);
		cmd_hush(words, sizeof(words));
		if (!rest(d))
			break;
	}
	cmd_hush(NULL, 0);
	return rc == CMD_OK;
}

static void note_done(struct delivery *d)
{
	const struct monitor_out *m = destination_monitor(d->destination);
	const uint64_t one = 1;

	if (m)
		monitor_out_counts(m, &d->monitor);
	evbalance_totals(destination_balance(d->destination), &d->totals);
	d->is_failing = false;
	buf_clear(&d->blocks);
	if (write(d->bell, &one, sizeof(one)) < 0)
		cmd_warn("eventfd: %m");
}

static void *run(void *arg)
{
	struct delivery *d = arg;
	bool is_good = true;

	pthread_mutex_lock(&d->lock);
	while (is_good && !d->is_ending) {
		if (!d->blocks.n) {
			pthread_cond_wait(&d->wake, &d->lock);
			continue;
		}
		pthread_mutex_unlock(&d->lock);
		is_good = store_until_done(d);
		pthread_mutex_lock(&d->lock);
		if (is_good)
			note_done(d);
	}
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

/* --- the loop */

static void on_bell(void *arg, unsigned ready)
{
	struct delivery *d = arg;
	uint64_t n;

	(void)ready;
	if (read(d->bell, &n, sizeof(n)) != sizeof(n))
		return;
	d->is_busy = false;
	d->calls.on_done(d->calls.arg);
}

static int start(struct delivery *d)
{
	struct loop_watch watch = { .what = LOOP_READ, .fn = on_bell, .arg = d };
	struct err e = { 0 };

	d->bell = watch.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (d->bell < 0)
		return cmd_fail(CMD_FAILURE, "eventfd: %m");
	d->watch = loop_fd_new(d->calls.loop, &watch, &e);
	if (!d->watch)
		return cmd_fail(CMD_FAILURE, "%s", e.text);
	d->has_thread = !pthread_create(&d->thread, NULL, run, d);
	return d->has_thread ? CMD_OK : cmd_fail(CMD_FAILURE, "no thread can be started");
}

int delivery_open(const struct receive_options *w, const struct delivery_calls *calls,
		  struct delivery **out)
{
	struct delivery *d = calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return cmd_fail(CMD_FAILURE, "out of memory");
	d->options = w;
	d->calls = *calls;
	d->bell = -1;
	d->began = clock_mono();
	buf_init(&d->blocks, BLOCKS_MAX_BYTES);
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->wake, NULL);
	rc = destination_open_rotated(w->to, (unsigned)w->older, &d->destination);
	if (rc == CMD_OK) {
		evbalance_totals(destination_balance(d->destination), &d->before);
		d->totals = d->before;
		d->is_monitor = destination_monitor(d->destination) != NULL;
		rc = start(d);
	}
	if (rc == CMD_OK)
		*out = d;
	else
		delivery_close(d);
	return rc;
}

int delivery_put(struct delivery *d, const uint8_t *p, size_t n)
{
	int rc;

	pthread_mutex_lock(&d->lock);
	rc = buf_put(&d->blocks, p, n);
	if (rc)
		buf_clear(&d->blocks);
	d->is_busy = !rc;
	pthread_cond_signal(&d->wake);
	pthread_mutex_unlock(&d->lock);
	return rc;
}

bool delivery_is_busy(const struct delivery *d)
{
	return d->is_busy;
}

bool delivery_is_failing(struct delivery *d)
{
	bool is_failing;

	pthread_mutex_lock(&d->lock);
	is_failing = d->is_failing;
	pthread_mutex_unlock(&d->lock);
	return is_failing;
}

bool delivery_monitor(struct delivery *d, struct monitor_out_counts *out)
{
	pthread_mutex_lock(&d->lock);
	*out = d->monitor;
	pthread_mutex_unlock(&d->lock);
	return d->is_monitor;
}

void delivery_totals(struct delivery *d, struct evbalance_totals *out)
{
	pthread_mutex_lock(&d->lock);
	*out = d->totals;
	pthread_mutex_unlock(&d->lock);
	out->generated -= d->before.generated;
	out->stored -= d->before.stored;
	out->left_out -= d->before.left_out;
	out->dropped -= d->before.dropped;
	out->lost -= d->before.lost;
	out->streams -= d->before.streams;
	out->open = out->open > d->before.open ? out->open - d->before.open : 0;
}

void delivery_close(struct delivery *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	d->is_ending = true;
	pthread_cond_signal(&d->wake);
	pthread_mutex_unlock(&d->lock);
	if (d->has_thread)
		pthread_join(d->thread, NULL);
	loop_fd_free(d->watch);
	if (d->bell >= 0)
		close(d->bell);
	destination_close(d->destination);
	buf_done(&d->blocks);
	pthread_mutex_destroy(&d->lock);
	pthread_cond_destroy(&d->wake);
	free(d);
}
