/* SPDX-License-Identifier: Apache-2.0 */
#include "common/member/enrol.h"

#include "common/base/file.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/net/net.h"
#include "proto/frame.h"

#include <stdlib.h>
#include <string.h>

#define TIMEOUT_NS (10 * NSEC_PER_SEC)

struct enrol {
	struct loop *loop;
	struct net_ctx *ctx;
	bool owns_ctx;
	struct connstr conn;
	char *dir, *role, *site, *host; /* owned */
	struct pki_key *key;
	struct buf frame; /* ENROL with the secret; wiped */
	struct chan *chan;
	struct loop_timer *timer;
	struct loop_job job, reap;
	unsigned at; /* index of the host of the current attempt */
	struct err why; /* the first failure, which is that of the preferred host */
	void (*on_done)(void *arg, const struct err *why);
	void *arg;
	bool is_over;
};

/* --- requirements of a certificate */

static bool is_wanted(const char *want, const char *have)
{
	return !want || !*want || str_eq(want, have);
}

static bool role_fits(const char *want, enum role have)
{
	if (str_eq(want, "tool"))
		return ROLES_TOOL >> have & 1;
	return str_eq(want, role_name(have));
}

static int check_identity(const char *role, const char *site, const char *host,
			  const struct identity *id, struct err *e)
{
	char who[128];

	identity_describe(who, sizeof(who), id);
	if (!role_fits(role, id->role))
		return err_set(e, ERR_DENIED, "the certificate is for %s, not for the role '%s'",
			       who, role);
	if (!is_wanted(site, id->site) || !is_wanted(host, id->host))
		return err_set(e, ERR_DENIED,
			       "the certificate is for %s, not for this site and host", who);
	return 0;
}

int enrol_check(const struct enrol_conf *c, nsec_t wall_now, struct err *why)
{
	struct pki_creds creds = { 0 };
	struct identity id;
	struct err none = { 0 };
	int rc;

	if (!why)
		why = &none;
	rc = pki_creds_load(c->dir, &creds, why);
	if (rc)
		return rc == -ERR_NOTFOUND || rc == -ERR_PARSE || rc == -ERR_INVALID ? 1 : rc;
	rc = pki_creds_check(&creds, c->conn ? c->conn->pin : NULL, wall_now, &id, why);
	if (!rc)
		rc = check_identity(c->role, c->site, c->host, &id, why);
	pki_creds_done(&creds);
	return rc == -ERR_NOMEM ? rc : rc ? 1 : 0;
}

int enrol_open(struct loop *loop, const char *dir, const char *pin, struct net_ctx **out,
	       struct err *e)
{
	struct pki_creds creds = { 0 };
	int rc = pki_creds_load(dir, &creds, e);

	if (!rc && pin)
		rc = pki_creds_check(&creds, pin, clock_wall(), NULL, e);
	if (!rc)
		rc = net_ctx_open(loop, &(struct net_conf){ .creds = &creds }, out, e);
	pki_creds_done(&creds);
	return rc;
}

int enrol_reload(const struct enrol_conf *c, struct net_ctx *ctx, nsec_t wall_now, struct err *e)
{
	struct pki_creds creds = { 0 };
	struct err why = { 0 };
	int got = enrol_check(c, wall_now, &why);

	if (got)
		return err_set(e, got < 0 ? (enum err_code)(-got) : ERR_INVALID, "%s", why.text);
	got = pki_creds_load(c->dir, &creds, e);
	if (!got)
		got = net_ctx_reload(ctx, &creds, e);
	pki_creds_done(&creds);
	return got;
}

nsec_t enrol_renew_at(const char *dir)
{
	struct pki_creds creds = { 0 };
	struct identity id;
	nsec_t at = 0;

	if (pki_creds_load(dir, &creds, NULL))
		return 0;
	if (!pki_creds_check(&creds, NULL, clock_wall(), &id, NULL))
		at = id.wall_not_before + (id.wall_not_after - id.wall_not_before) / 3 * 2;
	pki_creds_done(&creds);
	return at;
}

/* --- key, request and answer, for enrolments and renewals */

static int make_request(struct pki_key **key, struct buf *csr, struct err *e)
{
	int rc = pki_key_new(key, e);

	return rc ? rc : pki_csr_make(*key, csr, e);
}

static int wrap(struct buf *b, const struct bytes *from)
{
	buf_init(b, PKI_DER_MAX_BYTES);
	return buf_put(b, from->p, from->n);
}

/* Checks that the certificate is for our key, from the pinned CA, and for our role and names. */
static int accept_answer(const struct enrol *n, const struct msg_enrol_ack *ack, struct err *e)
{
	struct buf cert, ca;
	struct pki_creds creds = { 0 };
	struct identity id;
	int rc = wrap(&cert, &ack->cert_der) | wrap(&ca, &ack->ca_der)
			 ? err_set(e, ERR_PROTO, "mainsm sent a certificate that is too large")
			 : 0;

	if (!rc)
		rc = pki_creds_make(&creds, n->key, &cert, &ca, e);
	if (!rc)
		rc = pki_creds_check(&creds, n->conn.pin[0] ? n->conn.pin : NULL, clock_wall(), &id,
				     e);
	if (!rc)
		rc = check_identity(n->role, n->site, n->host, &id, e);
	if (!rc)
		rc = pki_creds_store(n->dir, &creds, e);
	buf_done(&cert);
	buf_done(&ca);
	pki_creds_done(&creds);
	return rc;
}

static int take_answer(const struct enrol *n, const struct msg_enrol_ack *ack, struct err *e)
{
	if (ack->error[0])
		return err_set(e, ERR_DENIED, "mainsm refuses the enrolment: %s", ack->error);
	return accept_answer(n, ack, e);
}

/* --- begin and end */

static void free_enrol(void *arg)
{
	struct enrol *n = arg;

	if (!n)
		return;
	if (n->frame.p)
		str_wipe(n->frame.p, n->frame.cap);
	buf_done(&n->frame);
	str_wipe(&n->conn, sizeof(n->conn));
	pki_key_free(n->key);
	free(n->dir);
	free(n->role);
	free(n->site);
	free(n->host);
	free(n);
}

static void end(struct enrol *n)
{
	n->is_over = true;
	chan_close(n->chan, NULL);
	loop_timer_free(n->timer);
	loop_job_cancel(&n->job);
	if (n->owns_ctx)
		net_ctx_free(n->ctx);
	loop_reap(n->loop, &n->reap, free_enrol, n);
}

static void finish(struct enrol *n, const struct err *why)
{
	void (*on_done)(void *, const struct err *) = n->on_done;

	if (n->is_over)
		return;
	end(n);
	on_done(n->arg, why);
}

void enrol_cancel(struct enrol *n)
{
	if (n && !n->is_over)
		end(n);
}

/* --- requests */

static void try_hosts(struct enrol *n);

static void next_host(struct enrol *n, const struct err *why)
{
	struct buf where = BUF_INIT(NAME_MAX_BYTES + 16);

	chan_close(n->chan, NULL);
	n->chan = NULL;
	if (!n->why.code) {
		n->why = *why;
		hostport_print(n->conn.host[n->at], n->conn.port, &where);
		err_add(&n->why, "mainsm at %s", buf_str(&where));
		buf_done(&where);
	}
	n->at++;
	try_hosts(n);
}

static void on_frame(void *arg, struct chan *c, uint8_t type, const uint8_t *p, size_t size)
{
	struct enrol *n = arg;
	struct err e = { 0 };
	struct msg *m = NULL;
	int rc;

	if (type != MSG_ENROL_ACK && type != MSG_ERROR)
		rc = err_set(&e, ERR_PROTO, "answered with message %u to ENROL", type);
	else
		rc = msg_get(type, p, size, &m, &e);
	if (!rc && type == MSG_ERROR)
		rc = err_set(&e, ERR_DENIED, "mainsm refuses the enrolment: %s", m->error.text);
	if (!rc)
		rc = take_answer(n, &m->enrol_ack, &e);
	msg_free(m);
	finish(n, rc ? &e : NULL);
}

static void on_event(void *arg, struct chan *c, enum chan_event ev, const struct err *why)
{
	struct enrol *n = arg;
	struct err e = { 0 };

	if (ev == CHAN_CLOSED) {
		next_host(n, why);
	} else if (ev == CHAN_OPEN && chan_send(c, n->frame.p, n->frame.n)) {
		err_set(&e, ERR_CLOSED, "the request could not be sent");
		next_host(n, &e);
	}
}

static void try_hosts(struct enrol *n)
{
	const struct chan_handler h = { on_frame, on_event, n };
	struct err e = { 0 };

	if (n->at == n->conn.nhost) {
		finish(n, &n->why);
		return;
	}
	if (net_dial(n->ctx,
		     &(struct net_target){ .host = n->conn.host[n->at],
					   .port = n->conn.port,
					   .expect = &(struct net_expect){ .pin = n->conn.pin },
					   .enrols = true },
		     &h, &n->chan, &e)) {
		n->chan = NULL;
		next_host(n, &e);
	}
}

static void on_timeout(void *arg)
{
	struct enrol *n = arg;
	struct err e = { 0 };

	if (n->why.code)
		e = n->why;
	else
		err_set(&e, ERR_TIMEOUT, "mainsm at %s does not answer", n->conn.host[n->at]);
	finish(n, &e);
}

/* Called from the loop, so that every result is reported from the loop. */
static void start(void *arg)
{
	struct enrol *n = arg;

	if (n->why.code)
		finish(n, &n->why);
	else
		try_hosts(n);
}

/* --- setting up */

static int put_request(struct enrol *n, const struct enrol_conf *c, const struct buf *csr,
		       struct err *e)
{
	const struct msg_enrol m = {
		.token_id = n->conn.token_id,
		.secret = { (const uint8_t *)n->conn.secret, strlen(n->conn.secret) },
		.role = c->role,
		.site = c->site,
		.host = c->host,
		.csr_der = { csr->p, csr->n },
		.name = c->name,
	};

	/* Allocated at once, because growing would leave copies of the secret in memory. */
	if (buf_reserve(&n->frame, FRAME_PREAUTH_MAX_BYTES / 2) || msg_enrol_put(&n->frame, &m))
		return err_set(e, ERR_INVALID,
			       "cannot ask for a certificate with this site, host or name");
	return 0;
}

static int prepare(struct enrol *n, const struct enrol_conf *c, struct err *e)
{
	struct buf csr = BUF_INIT(PKI_DER_MAX_BYTES);
	int rc = 0;

	if (!n->conn.token_id[0])
		return err_set(
			e, ERR_DENIED,
			"the connection string has no token and there is no usable certificate "
			"here: get a string with one by 'omig cert token'");
	if (!n->ctx) {
		rc = net_ctx_open(n->loop, &(struct net_conf){ 0 }, &n->ctx, e);
		n->owns_ctx = !rc;
	}
	if (!rc)
		rc = file_private_dir(n->dir, e);
	if (!rc)
		rc = make_request(&n->key, &csr, e);
	if (!rc)
		rc = put_request(n, c, &csr, e);
	buf_done(&csr);
	return rc;
}

static bool copy_conf(struct enrol *n, const struct enrol_conf *c)
{
	n->loop = c->loop;
	n->ctx = c->ctx;
	if (c->conn)
		n->conn = *c->conn;
	buf_init(&n->frame, FRAME_PREAUTH_MAX_BYTES);
	n->dir = str_dup(c->dir);
	n->role = str_dup(c->role);
	n->site = str_dup(c->site);
	n->host = str_dup(c->host);
	return n->dir && n->role && !n->site == !c->site && !n->host == !c->host;
}

struct enrol *enrol_run(const struct enrol_conf *c,
			void (*on_done)(void *arg, const struct err *why), void *arg)
{
	struct enrol *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->on_done = on_done;
	n->arg = arg;
	if (copy_conf(n, c))
		n->timer = loop_timer_new(c->loop, on_timeout, n);
	if (!n->timer) {
		free_enrol(n);
		return NULL;
	}
	prepare(n, c, &n->why);
	loop_timer_arm(n->timer, c->timeout ? c->timeout : TIMEOUT_NS);
	loop_job_post(c->loop, &n->job, start, n);
	return n;
}

/* --- renewal over a live link */

struct enrol_renewal {
	struct enrol n; /* only conn.pin, dir, role, site, host and key are used */
	struct buf csr;
};

void enrol_renew_free(struct enrol_renewal *r)
{
	if (!r)
		return;
	pki_key_free(r->n.key);
	free(r->n.dir);
	free(r->n.role);
	free(r->n.site);
	free(r->n.host);
	buf_done(&r->csr);
	free(r);
}

int enrol_renew_begin(const struct enrol_conf *c, struct enrol_renewal **out, struct msg_enrol *m,
		      struct err *e)
{
	struct enrol_renewal *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return err_nomem(e);
	buf_init(&r->csr, PKI_DER_MAX_BYTES);
	if (c->ctx && !c->conn)
		str_copy(r->n.conn.pin, sizeof(r->n.conn.pin), net_ctx_pin(c->ctx));
	rc = copy_conf(&r->n, c) ? make_request(&r->n.key, &r->csr, e) : err_nomem(e);
	if (rc) {
		enrol_renew_free(r);
		return rc;
	}
	*m = (struct msg_enrol){ .role = r->n.role,
				 .site = r->n.site,
				 .host = r->n.host,
				 .csr_der = { r->csr.p, r->csr.n } };
	*out = r;
	return 0;
}

int enrol_renew_end(struct enrol_renewal *r, const struct msg_enrol_ack *ack, struct err *e)
{
	return take_answer(&r->n, ack, e);
}
