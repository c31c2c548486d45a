/* SPDX-License-Identifier: Apache-2.0 */
/* Heartbeats, and NFD-S in the form of figure 13 of the NekoStat report. */
#include "neko/algorithms/fd.h"

const struct neko_type fd_types[] = { { FD_HEARTBEAT, "heartbeat" }, { 0, NULL } };

int fd_params(const struct neko_process *p, struct setup *s, struct fd_params *out, struct err *e)
{
	uint64_t monitored = 1, net = 1;
	int rc;

	out->eta = NSEC_PER_SEC;
	out->is_delay_logged = true;
	rc = setup_nsec(s, "fd.eta", 1, FD_TIME_MAX, &out->eta, e);
	if (!rc)
		rc = setup_u64(s, "fd.monitored", 1, neko_count(p), &monitored, e);
	if (!rc)
		rc = setup_u64(s, "fd.network", 1, neko_nets(p), &net, e);
	if (!rc)
		rc = setup_bool(s, "fd.log_delay", &out->is_delay_logged, e);
	out->monitored = (uint32_t)monitored;
	out->net = (uint8_t)(net - 1);
	return rc;
}

int fd_check_monitored(const struct neko_process *p, const struct setup *s,
		       const struct fd_params *params, struct err *e)
{
	if (params->monitored != neko_id(p))
		return 0;
	err_set(e, ERR_INVALID, "process %u would monitor itself; write fd.monitored = %u",
		neko_id(p), neko_id(p) == 1 ? 2 : 1);
	return setup_blame(s, "fd.monitored", e);
}

uint64_t fd_hear(struct neko_layer *l, const struct fd_params *params, const struct neko_msg *m)
{
	uint64_t number = 0;

	if (m->from != params->monitored || m->n != sizeof(number))
		return 0;
	for (unsigned i = sizeof(number); i-- > 0;)
		number = number << 8 | m->content[i];
	if (number > (uint64_t)(NEKO_TIME_MAX / params->eta))
		return 0;
	if (params->is_delay_logged)
		neko_log_delay(l, FD_DELAY, m);
	return number;
}

/* --- heartbeats */

struct heartbeater {
	struct fd_params params;
};

static void heartbeat(struct neko_layer *l)
{
	const struct heartbeater *h = neko_state(l);
	uint64_t number = 0;

	while (neko_sleep_until(l, (nsec_t)++number * h->params.eta) == 0) {
		uint8_t bytes[sizeof(number)];

		for (unsigned i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)(number >> 8 * i);
		/* Without memory the heartbeat is omitted, as if a network had lost it. */
		neko_send_to(l, NEKO_OTHERS, h->params.net, FD_HEARTBEAT, bytes, sizeof(bytes));
	}
}

static const struct neko_layer_ops heartbeater_ops = {
	.name = "heartbeat",
	.bytes = sizeof(struct heartbeater),
	.types = fd_types,
	.run = heartbeat,
};

int fd_heartbeat(struct neko_process *p, struct setup *s, struct err *e)
{
	struct heartbeater *h;
	int rc;

	if (neko_count(p) < 2)
		return err_set(e, ERR_INVALID,
			       "heartbeats need a receiver; raise process.num to 2");
	rc = neko_push(p, &heartbeater_ops, &h, e);
	return rc ? rc : fd_params(p, s, &h->params, e);
}

/* --- NFD-S */

struct nfds {
	struct fd_params params;
	nsec_t delta;
	uint64_t pass; /* number of the next freshness point */
	uint64_t last; /* highest number of a received heartbeat */
	bool is_suspected;
};

static void nfds_deliver(struct neko_layer *l, struct neko_msg *m)
{
	struct nfds *f = neko_state(l);
	uint64_t number = fd_hear(l, &f->params, m);

	if (number <= f->last)
		return;
	f->last = number;
	if (number + 1 < f->pass || !f->is_suspected)
		return;
	f->is_suspected = false;
	neko_log(l, FD_STOP, f->params.monitored);
}

static void nfds_run(struct neko_layer *l)
{
	struct nfds *f = neko_state(l);

	neko_log(l, FD_WATCH, f->params.monitored);
	for (f->pass = 1;; f->pass++) {
		if (neko_sleep_until(l, (nsec_t)f->pass * f->params.eta + f->delta))
			return;
		if (f->last >= f->pass || f->is_suspected)
			continue;
		f->is_suspected = true;
		neko_log(l, FD_START, f->params.monitored);
	}
}

static const struct neko_layer_ops nfds_ops = {
	.name = "nfd-s",
	.bytes = sizeof(struct nfds),
	.types = fd_types,
	.run = nfds_run,
	.deliver = nfds_deliver,
};

int fd_nfds(struct neko_process *p, struct setup *s, struct err *e)
{
	struct nfds *f;
	int rc = neko_push(p, &nfds_ops, &f, e);

	if (rc)
		return rc;
	rc = fd_params(p, s, &f->params, e);
	f->delta = f->params.eta;
	if (!rc)
		rc = setup_nsec(s, "fd.delta", 0, FD_TIME_MAX, &f->delta, e);
	return rc ? rc : fd_check_monitored(p, s, &f->params, e);
}
