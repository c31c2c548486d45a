/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/simulated/simnet.h"

#include "common/base/str.h"
#include "common/container/map.h"
#include "neko/core/limits.h"

#include <stdlib.h>
#include <string.h>

struct simnet {
	struct simnet_conf conf; /* the name and cut in it are owned */
	struct rng rng;
	/* owned, by sender: end of transmission on its line; NULL without a rate */
	nsec_t *busy_until;
	/* owned, by link of the trace: index of the next delay; NULL without a trace */
	uint32_t *replayed;
	struct medium *medium; /* owned; NULL: none */
	struct map last; /* owned, by pair of processes: nsec_t *, time of the last arrival */
	struct simnet_counts counts;
	bool is_plain; /* the network has only delay and loss */
};

static int copy_conf(struct simnet *n, const struct simnet_conf *conf)
{
	n->conf = *conf;
	n->conf.name = str_dup(conf->name);
	n->conf.cut = NULL;
	if (!n->conf.name)
		return -ERR_NOMEM;
	if (conf->ncut) {
		struct simcut *cut = calloc(conf->ncut, sizeof(*cut));

		if (!cut)
			return -ERR_NOMEM;
		memcpy(cut, conf->cut, conf->ncut * sizeof(*cut));
		n->conf.cut = cut;
	}
	return 0;
}

int simnet_new(const struct simnet_conf *conf, uint32_t nprocess, uint64_t seed,
	       struct simnet **out, struct err *e)
{
	struct simnet *n = calloc(1, sizeof(*n));

	if (!n)
		return err_nomem(e);
	map_init(&n->last);
	rng_init(&n->rng, seed);
	if (conf->bits_per_s > 0)
		n->busy_until = calloc(nprocess, sizeof(*n->busy_until));
	if (conf->trace)
		n->replayed = calloc(delaytrace_links(conf->trace) + 1, sizeof(*n->replayed));
	if (copy_conf(n, conf) || (conf->bits_per_s > 0 && !n->busy_until) ||
	    (conf->trace && !n->replayed)) {
		simnet_free(n);
		return err_nomem(e);
	}
	if (conf->medium.kind != MEDIUM_NONE) {
		int rc = medium_new(&conf->medium, nprocess, rng_next(&n->rng), &n->medium, e);

		if (rc) {
			simnet_free(n);
			return rc;
		}
	}
	n->is_plain = !n->busy_until && !conf->resend && !conf->is_fifo && !conf->ncut &&
		      conf->duplicate <= 0 && conf->reorder <= 0 && !conf->trace;
	*out = n;
	return 0;
}

void simnet_free(struct simnet *n)
{
	struct map_iter i = { 0 };

	if (!n)
		return;
	medium_free(n->medium, NULL, NULL);
	while (map_next(&n->last, &i))
		free(i.value);
	map_done(&n->last);
	free(n->busy_until);
	free(n->replayed);
	free((void *)n->conf.cut);
	free((void *)n->conf.name);
	free(n);
}

const char *simnet_name(const struct simnet *n)
{
	return n->conf.name;
}

const struct simnet_counts *simnet_counts(const struct simnet *n)
{
	return &n->counts;
}

static bool is_cut(const struct simnet *n, nsec_t now, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < n->conf.ncut; i++)
		if (simcut_parts(&n->conf.cut[i], now, from, to))
			return true;
	return false;
}

/*
 * Returns the time at which the last bit has left the line. Returns false if the queue of the line
 * is full, or if no run lasts that long.
 */
static bool pass_line(struct simnet *n, uint32_t from, size_t bytes, nsec_t *at)
{
	nsec_t *busy = &n->busy_until[from - 1], wait = *busy > *at ? *busy - *at : 0;
	double bits = 8.0 * (double)(bytes + n->conf.header_bytes);
	double took = bits / n->conf.bits_per_s * 1e9;

	if (n->conf.queue_bytes &&
	    (double)wait * 1e-9 * n->conf.bits_per_s + bits > 8.0 * (double)n->conf.queue_bytes)
		return false;
	if (took > (double)(NEKO_TIME_MAX - *at - wait))
		return false;
	*at += wait + (nsec_t)took;
	*busy = *at;
	return true;
}

/* Delays a message so that it does not overtake earlier ones to the same process. */
static int keep_order(struct simnet *n, uint32_t from, uint32_t to, nsec_t *at)
{
	uint64_t pair = (uint64_t)from << 32 | to;
	nsec_t *last = map_find(&n->last, pair);

	if (!last) {
		last = calloc(1, sizeof(*last));
		if (!last || map_put(&n->last, pair, last, NULL)) {
			free(last);
			return -ERR_NOMEM;
		}
	}
	if (*at < *last)
		*at = *last;
	*last = *at;
	return 0;
}

static bool happens(struct simnet *n, double chance)
{
	return chance > 0 && rng_double(&n->rng) < chance;
}

/* Returns the next delay of the link, or a random one; DELAYTRACE_LOST for a loss. */
static nsec_t replay(struct simnet *n, uint32_t from, uint32_t to)
{
	const struct delaytrace *t = n->conf.trace;
	uint32_t link = delaytrace_link(t, from, to), count = delaytrace_count(t, link), i;

	if (n->conf.is_resampled)
		return delaytrace_get(t, link, (uint32_t)rng_below(&n->rng, count));
	i = n->replayed[link];
	n->replayed[link] = i + 1 < count ? i + 1 : 0;
	return delaytrace_get(t, link, i);
}

/* Returns 1 and the time of arrival, or 0 if the message is lost. */
static int arrive(struct simnet *n, uint32_t from, uint32_t to, nsec_t left, nsec_t *at)
{
	nsec_t delay = n->conf.trace ? replay(n, from, to) : delay_draw(&n->conf.delay, &n->rng);

	if (delay == DELAYTRACE_LOST) {
		n->counts.lost++;
		return 0;
	}
	*at = left + delay;
	if (happens(n, n->conf.reorder))
		*at += n->conf.reorder_by;
	return n->conf.is_fifo && keep_order(n, from, to, at) ? -ERR_NOMEM : 1;
}

struct medium *simnet_medium(const struct simnet *n)
{
	return n->medium;
}

void simnet_free_medium(struct simnet *n, void (*forget)(void *arg, void *what), void *arg)
{
	medium_free(n->medium, forget, arg);
	n->medium = NULL;
}

bool simnet_delivers(struct simnet *n, nsec_t now, uint32_t from, uint32_t to)
{
	bool is_parted = n->conf.ncut && is_cut(n, now, from, to);

	n->counts.sent++;
	n->counts.cut += is_parted;
	if (is_parted || !happens(n, n->conf.loss))
		return !is_parted;
	n->counts.lost++;
	return false;
}

void simnet_count_dropped(struct simnet *n, uint32_t messages)
{
	n->counts.sent += messages;
	n->counts.dropped += messages;
}

static int pass_all(struct simnet *n, uint32_t from, uint32_t to, nsec_t left, nsec_t *at)
{
	int copies = 1, got, n_at = 0;

	if (happens(n, n->conf.duplicate)) {
		n->counts.doubled++;
		copies = SIMNET_COPIES_MAX;
	}
	for (int i = 0; i < copies; i++) {
		got = arrive(n, from, to, left, &at[n_at]);
		if (got < 0)
			return got;
		n_at += got;
	}
	return n_at;
}

int simnet_pass(struct simnet *n, nsec_t now, struct simnet_frame f, nsec_t at[SIMNET_COPIES_MAX])
{
	nsec_t left = now;

	n->counts.sent++;
	if (n->busy_until && !pass_line(n, f.from, f.bytes, &left)) {
		n->counts.dropped++;
		return 0;
	}
	if (n->conf.ncut && is_cut(n, now, f.from, f.to)) {
		n->counts.cut++;
		return 0;
	}
	if (n->conf.resend) {
		left += delay_draw_resends(n->conf.loss, n->conf.resend, &n->rng);
	} else if (happens(n, n->conf.loss)) {
		n->counts.lost++;
		return 0;
	}
	if (!n->is_plain)
		return pass_all(n, f.from, f.to, left, at);
	at[0] = left + delay_draw(&n->conf.delay, &n->rng);
	return 1;
}
