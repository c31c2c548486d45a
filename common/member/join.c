/* SPDX-License-Identifier: Apache-2.0 */
#include "common/member/join.h"

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/member/enrol.h"
#include "common/member/renew.h"
#include "common/net/net.h"

#include <stdlib.h>
#include <string.h>

struct join {
	struct join_conf conf;
	struct connstr conn;
	char *dir, *site, *host; /* owned */
	struct enrol *enrol; /* pending enrolment, which ends itself */
	struct net_ctx *ctx; /* owned */
	struct renew *renew; /* owned; exists while ctx exists */
	struct loop_timer *timer; /* for the next attempt */
	nsec_t retry;
	bool has_enrolled; /* the certificate is from this process */
};

static struct enrol_conf enrol_conf_of(const struct join *j)
{
	return (struct enrol_conf){ .loop = j->conf.loop,
				    .dir = j->dir,
				    .conn = &j->conn,
				    .role = j->conf.role,
				    .site = j->site,
				    .host = j->host };
}

static int open_renew(struct join *j, struct err *e)
{
	if (!j->conf.ask_top)
		return 0;
	j->renew = renew_new(&(struct renew_conf){ .loop = j->conf.loop,
						   .ctx = j->ctx,
						   .role = j->conf.role,
						   .dir = j->dir,
						   .site = j->site,
						   .host = j->host,
						   .send = j->conf.ask_top,
						   .arg = j->conf.arg });
	return j->renew ? 0 : err_nomem(e);
}

static void try_later(struct join *j, const struct err *why)
{
	if (!j->conf.is_patient) {
		j->conf.on_trouble(j->conf.arg, why, 0);
		return;
	}
	j->conf.on_trouble(j->conf.arg, why, j->retry);
	loop_timer_arm(j->timer, j->retry);
	j->retry = j->retry * 2 < JOIN_RETRY_MAX_NS ? j->retry * 2 : JOIN_RETRY_MAX_NS;
}

static void use_certificate(struct join *j)
{
	struct err e = { 0 };

	if (!j->ctx && enrol_open(j->conf.loop, j->dir, NULL, &j->ctx, &e))
		try_later(j, &e);
	else if (open_renew(j, &e))
		try_later(j, &e);
	else
		j->conf.on_ready(j->conf.arg, j->ctx);
}

static void on_enrolled(void *arg, const struct err *why)
{
	struct join *j = arg;

	j->enrol = NULL;
	if (why) {
		try_later(j, why);
		return;
	}
	j->has_enrolled = true;
	log_info(j->conf.role, "enrolled site=%s", j->site);
	use_certificate(j);
}

static void enrol(struct join *j)
{
	const struct enrol_conf c = enrol_conf_of(j);

	j->enrol = enrol_run(&c, on_enrolled, j);
	if (!j->enrol)
		try_later(j, &(struct err){ .code = ERR_NOMEM, .text = "no memory to enrol" });
}

static void begin(struct join *j)
{
	struct enrol_conf c = enrol_conf_of(j);
	struct err why = { 0 };
	int got = enrol_check(&c, clock_wall(), &why);

	if (!got) {
		use_certificate(j);
		return;
	}
	if (got > 0 && j->conn.token_id[0]) {
		enrol(j);
		return;
	}
	if (got > 0)
		err_add(&why,
			"no token in the connection string to enrol with (get one with 'omig cert "
			"token %s')",
			j->conf.role);
	try_later(j, &why);
}

bool join_may_again(const struct join *j)
{
	return j->conn.token_id[0] && !j->has_enrolled;
}

void join_again(struct join *j)
{
	renew_free(j->renew);
	j->renew = NULL;
	net_ctx_free(j->ctx);
	j->ctx = NULL;
	enrol(j);
}

static void on_timer(void *arg)
{
	begin(arg);
}

void join_connected(struct join *j)
{
	renew_connected(j->renew);
}

void join_renewed(struct join *j, const struct msg_enrol_ack *ack)
{
	struct err e = { 0 };

	if (renew_answer(j->renew, ack, &e))
		log_warn(j->conf.role, "the certificate was not renewed: %s", e.text);
	else
		log_notice(j->conf.role, "certificate renewed");
}

int join_reload(struct join *j, struct err *e)
{
	struct enrol_conf c = enrol_conf_of(j);

	return j->ctx ? enrol_reload(&c, j->ctx, clock_wall(), e) : 0;
}

int join_open(const struct join_conf *c, struct join **out, struct err *e)
{
	struct join *j = calloc(1, sizeof(*j));
	int rc;

	if (!j)
		return err_nomem(e);
	j->conf = *c;
	j->conn = *c->conn;
	j->retry = JOIN_RETRY_MIN_NS;
	j->dir = str_dup(c->dir);
	j->site = str_dup(c->site);
	j->host = str_dup(c->host);
	j->timer = loop_timer_new(c->loop, on_timer, j);
	rc = j->dir && j->site && j->host && j->timer ? file_private_dir(j->dir, e) : err_nomem(e);
	if (rc) {
		join_free(j);
		return rc;
	}
	loop_timer_arm(j->timer, 0);
	*out = j;
	return 0;
}

void join_free(struct join *j)
{
	if (!j)
		return;
	enrol_cancel(j->enrol);
	renew_free(j->renew);
	net_ctx_free(j->ctx);
	loop_timer_free(j->timer);
	str_wipe(j->conn.secret, sizeof(j->conn.secret));
	free(j->dir);
	free(j->site);
	free(j->host);
	free(j);
}
