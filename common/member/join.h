/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Becoming a member: a certificate of the user's own CA, from the private
 * directory when there is one that fits, else by enrolling; and a new one in time.
 */
#ifndef COMMON_MEMBER_JOIN_H
#define COMMON_MEMBER_JOIN_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/link/connstr.h"
#include "proto/msg.h"

#include <stdbool.h>

#define JOIN_RETRY_MIN_NS NSEC_PER_SEC
/* a mainsm that comes back is found within this time */
#define JOIN_RETRY_MAX_NS (30 * NSEC_PER_SEC)

struct join;
struct loop;
struct net_ctx;

struct join_conf {
	struct loop *loop; /* borrowed */
	const char *dir; /* private; copied */
	const struct connstr *conn; /* copied */
	const char *role; /* "lm", "sm"; lives as long */
	bool is_patient; /* tries again by itself, for ever */
	const char *site; /* that we claim; "" = mainsm decides; copied */
	const char *host; /* copied */
	/* We have a certificate: once, and after join_again(). The context lives until then, or
	 * until join_free(). */
	void (*on_ready)(void *arg, struct net_ctx *ctx);
	/* Not yet; retry_in 0: it is not tried again. */
	void (*on_trouble)(void *arg, const struct err *why, nsec_t retry_in);
	/* The certificate gets old: this is to go to mainsm. NULL: others renew it. */
	int (*ask_top)(void *arg, const struct msg *m);
	void *arg;
};

/* Begins from the loop. ERR_NOMEM; ERR_DENIED, ERR_SYS when the directory cannot be used safely. */
int join_open(const struct join_conf *c, struct join **out, struct err *e);

/* A new certificate may help: there is a token, and this one is not of this life. */
bool join_may_again(const struct join *j);

/* mainsm has refused the certificate: enrols again. All links of the context must be closed. */
void join_again(struct join *j);

/* After on_ready: a parent is there, and what is due is asked for. */
void join_connected(struct join *j);

/* What mainsm says to the last ask_top. */
void join_renewed(struct join *j, const struct msg_enrol_ack *ack);

/* Takes the certificate that lies in the directory now; on failure the old one stays. */
int join_reload(struct join *j, struct err *e);

/* All links of the context must be closed. */
void join_free(struct join *j);

#endif
