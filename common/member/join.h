/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gets a certificate of the user's own CA: a usable one from the private directory, or a new one by
 * enrolment. Renews it in time.
 */
#ifndef COMMON_MEMBER_JOIN_H
#define COMMON_MEMBER_JOIN_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/link/connstr.h"
#include "proto/msg.h"

#include <stdbool.h>

#define JOIN_RETRY_MIN_NS NSEC_PER_SEC
/* longest interval of retries, in which a mainsm that returns is found */
#define JOIN_RETRY_MAX_NS (30 * NSEC_PER_SEC)

struct join;
struct loop;
struct net_ctx;

struct join_conf {
	struct loop *loop; /* borrowed */
	const char *dir; /* private directory; copied */
	const struct connstr *conn; /* copied */
	const char *role; /* "lm", "sm"; must live as long */
	bool is_patient; /* retry without limit */
	const char *site; /* claimed site; "" = mainsm chooses; copied */
	const char *host; /* copied */
	/*
	 * A certificate is available. Called once, and again after join_again(). The context is
	 * valid until then, or until join_free().
	 */
	void (*on_ready)(void *arg, struct net_ctx *ctx);
	/* The attempt has failed; retry_in 0: there is no retry. */
	void (*on_trouble)(void *arg, const struct err *why, nsec_t retry_in);
	/* Sends a renewal to mainsm. NULL: another program renews the certificate. */
	int (*ask_top)(void *arg, const struct msg *m);
	void *arg;
};

/*
 * Begins from the loop. Fails with ERR_NOMEM; with ERR_DENIED, ERR_SYS if the directory cannot be
 * used safely.
 */
int join_open(const struct join_conf *c, struct join **out, struct err *e);

/*
 * True if a new certificate may help: there is a token, and the current certificate is from an
 * earlier process.
 */
bool join_may_again(const struct join *j);

/*
 * Enrols again, because mainsm has refused the certificate. All links of the context must be
 * closed.
 */
void join_again(struct join *j);

/* Called after on_ready when a parent is connected: requests a renewal if it is due. */
void join_connected(struct join *j);

/* Handles mainsm's answer to the last ask_top(). */
void join_renewed(struct join *j, const struct msg_enrol_ack *ack);

/* Loads the certificate in the directory. On failure the old one stays in use. */
int join_reload(struct join *j, struct err *e);

/* All links of the context must be closed. */
void join_free(struct join *j);

#endif
