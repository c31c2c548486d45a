/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/algorithms/qosfd.h"

#include "neko/core/limits.h"
#include "neko/core/setup.h"

#include <math.h>
#include <stdlib.h>

#define TIME_MAX (INT64_C(1000000) * NSEC_PER_SEC)
#define ETA_MIN NSEC_PER_USEC

/* The state of the simulated detector for one other process. */
struct view {
	nsec_t heard_at; /* time of its last heartbeat */
	nsec_t errs_at; /* time of the next mistake; NEKO_NEVER: none */
	nsec_t errs_until; /* end of the last mistake */
	bool is_late, is_mistaken, is_suspected;
};

struct qosfd {
	nsec_t detection, eta, recurrence, duration;
	nsec_t beat_at;
	uint8_t net;
	uint32_t m;
	struct view *view; /* owned, by process */
};

static nsec_t draw(struct neko_layer *l, nsec_t mean)
{
	double v = -(double)mean * log1p(-neko_random(l));

	return v < (double)NEKO_TIME_MAX ? (nsec_t)v : NEKO_TIME_MAX;
}

static nsec_t next_mistake(struct neko_layer *l, const struct qosfd *q, nsec_t now)
{
	return q->recurrence ? now + draw(l, q->recurrence) : NEKO_NEVER;
}

/*
 * Delivers a change to the layers above, as a message from the process that is suspected or
 * trusted.
 */
static void report(struct neko_layer *l, uint32_t id, bool is_suspected)
{
	uint8_t byte = is_suspected;
	struct neko_msg *m = neko_msg_new(l, QOSFD_CHANGE, &byte, 1);

	if (!m)
		return;
	m->from = id;
	neko_deliver(l, m);
	neko_msg_unref(l, m);
}

static void update(struct neko_layer *l, struct view *v, uint32_t id)
{
	bool is_suspected = v->is_late || v->is_mistaken;

	if (is_suspected == v->is_suspected)
		return;
	v->is_suspected = is_suspected;
	report(l, id, is_suspected);
}

static void err_now(struct neko_layer *l, struct qosfd *q, struct view *v, uint32_t id)
{
	nsec_t until = v->errs_at + (q->duration ? draw(l, q->duration) : 0);

	v->is_mistaken = true;
	v->errs_until = until > v->errs_until ? until : v->errs_until;
	v->errs_at = next_mistake(l, q, v->errs_at);
	update(l, v, id);
}

/* Makes the changes that are due for one process. Returns the time of its next change. */
static nsec_t turn(struct neko_layer *l, struct qosfd *q, uint32_t id, nsec_t now)
{
	struct view *v = &q->view[id - 1];
	nsec_t late_at = v->heard_at + q->detection, next;

	if (now >= late_at)
		v->is_late = true;
	update(l, v, id);
	if (now >= v->errs_at)
		err_now(l, q, v, id);
	if (v->is_mistaken && now >= v->errs_until)
		v->is_mistaken = false;
	update(l, v, id);
	next = v->is_late ? NEKO_NEVER : late_at;
	if (v->errs_at < next)
		next = v->errs_at;
	return v->is_mistaken && v->errs_until < next ? v->errs_until : next;
}

static void qosfd_run(struct neko_layer *l)
{
	struct qosfd *q = neko_state(l);
	uint32_t self = neko_id(neko_process(l));
	nsec_t now = neko_now(l), next, one;

	for (uint32_t id = 1; id <= q->m; id++)
		q->view[id - 1].errs_at = next_mistake(l, q, now);
	do {
		if (now >= q->beat_at) {
			neko_send_to(l, NEKO_OTHERS, q->net, QOSFD_BEAT, NULL, 0);
			q->beat_at = now - now % q->eta + q->eta;
		}
		next = q->beat_at;
		for (uint32_t id = 1; id <= q->m; id++) {
			one = id == self ? NEKO_NEVER : turn(l, q, id, now);
			next = one < next ? one : next;
		}
	} while (neko_sleep_until(l, next) == 0 && (now = neko_now(l)) >= 0);
}

static void qosfd_deliver(struct neko_layer *l, struct neko_msg *m)
{
	struct qosfd *q = neko_state(l);
	struct view *v = &q->view[m->from - 1];

	v->heard_at = neko_now(l);
	v->is_late = false;
	update(l, v, m->from);
}

static void qosfd_done(struct neko_layer *l)
{
	free(((struct qosfd *)neko_state(l))->view);
}

static const struct neko_type types[] = { { QOSFD_BEAT, "heartbeat" },
					  { QOSFD_CHANGE, "change" },
					  { 0, NULL } };

static const struct neko_layer_ops qosfd_ops = {
	.name = "qosfd",
	.bytes = sizeof(struct qosfd),
	.types = types,
	.run = qosfd_run,
	.deliver = qosfd_deliver,
	.done = qosfd_done,
};

static int configure(struct qosfd *q, struct neko_process *p, struct setup *s, struct err *e)
{
	uint64_t net = 1;
	int rc;

	q->detection = 100 * NSEC_PER_MSEC;
	rc = setup_nsec(s, "qos.detection", 4 * ETA_MIN, TIME_MAX, &q->detection, e);
	q->eta = q->detection / 4;
	if (!rc)
		rc = setup_nsec(s, "qos.eta", ETA_MIN, q->detection / 2, &q->eta, e);
	if (!rc)
		rc = setup_nsec(s, "qos.recurrence", 0, TIME_MAX, &q->recurrence, e);
	if (!rc)
		rc = setup_nsec(s, "qos.duration", 0, TIME_MAX, &q->duration, e);
	if (!rc)
		rc = setup_u64(s, "qos.network", 1, neko_nets(p), &net, e);
	q->net = (uint8_t)(net - 1);
	return rc;
}

static int begin_views(struct qosfd *q, struct neko_process *p, struct err *e)
{
	q->m = neko_count(p);
	q->view = calloc(q->m, sizeof(*q->view));
	return q->view ? 0 : err_nomem(e);
}

int qosfd_init(struct neko_process *p, struct setup *s, struct err *e)
{
	struct qosfd *q;
	int rc = neko_push(p, &qosfd_ops, &q, e);

	if (!rc)
		rc = configure(q, p, s, e);
	return rc ? rc : begin_views(q, p, e);
}
