/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local monitor of one host and user: watched processes below, an sm or mainsm above. This is
 * the whole of it but for the main program. It sees the world through a loop, a host and a context
 * of channels. So it runs in a test as on a machine. One thread; it calls back from the loop only.
 */
#ifndef LM_LM_H
#define LM_LM_H

#include "common/base/buf.h"
#include "common/base/rng.h"
#include "common/link/connstr.h"
#include "common/time/timebase.h"
#include "lm/host/host.h"

#include <sys/types.h>

#define LM_DRAIN_NS (200 * NSEC_PER_MSEC) /* for the last words */

struct lm;
struct daemon_health;
struct disk;
struct loop;
struct msg;
struct msg_enrol_ack;
struct net_ctx;
struct spooler_turns;

/* Pointers are borrowed and outlive the lm, strings are copied. */
struct lm_conf {
	struct loop *loop;
	struct rng *rng;
	struct timebase *timebase;
	struct host *host;
	uint64_t epoch;
	const char *host_name;
	const char *memfd; /* name of segments */
	const char *socket; /* where processes register; NULL = nowhere */
	int listener; /* that socket, inherited: see registration_conf; 0 = none */
	const char *tracer; /* path of lm-trace; NULL = none */
	const char *look; /* path of lm-look; NULL = none */
	const char *guard; /* path of lm-guard; NULL = none */
	const struct disk *disk; /* of the files and the folder below; NULL = the system's */
	const char *journal; /* of stopped processes; NULL = none */
	const char *
		baselines; /* where measurements began to count; NULL = the next lm does not know */
	/* what was done, by the ids of tools' requests; NULL = it is forgotten with the lm */
	const char *done;
	const char *audit; /* file of the manipulations; NULL = none */
	const char *spool; /* folder of kept subscriptions; NULL = none can be */
	const struct spooler_turns *turns; /* of their spools; NULL = a thread each */
	const char *files; /* that tools may see: filelist.h; NULL = none */
	uid_t uid;
	bool may_manipulate;
	nsec_t linger; /* 0 = for ever */
	void (*health)(void *arg, struct daemon_health *out); /* may be NULL */
	/* The lm is to end: call lm_free(), but not in this callback. */
	void (*on_end)(void *arg, const char *reason);
	/* A parent is there. May be NULL. */
	void (*on_up)(void *arg);
	/* An answer to a renewal of the certificate. May be NULL. */
	void (*on_enrol_ack)(void *arg, const struct msg_enrol_ack *ack);
	void *arg;
};

/* Listens, then takes in what runs already; continues what an earlier lm has stopped. */
int lm_open(const struct lm_conf *c, struct lm **out, struct err *e);
void lm_free(struct lm *m);

/* Connects to a parent; once. -ERR_NOMEM. */
int lm_connect(struct lm *m, struct net_ctx *ctx, const struct connstr *conn);

/*
 * A process passes its segment as by the socket, on hosts that have none: fd is consumed. As
 * registration_segment().
 */
int lm_register(struct lm *m, int fd, int32_t pid);

/*
 * To mainsm, whichever daemon the parent is. -ERR_CLOSED: lm_connect() was not called; else as
 * parent_ask_mainsm().
 */
int lm_ask_top(struct lm *m, const struct msg *msg);

/* Leaves in good order, then on_end. */
void lm_stop(struct lm *m, const char *reason);

/*
 * After on_end. It has ended for want of processes: what has registered since is to be watched by
 * another lm, which finds it.
 *
 * lm_is_wanted(): there is such a process. Before it, lm_withdraw(): none can register here from
 * now on; those of a moment ago still count. lm_pass_socket(): the socket for that lm, or -1:
 * registration_pass().
 */
bool lm_has_lingered(const struct lm *m);
bool lm_is_wanted(struct lm *m);
void lm_withdraw(struct lm *m);
int lm_pass_socket(struct lm *m);

/* For a reload: from now on so. */
void lm_set_linger(struct lm *m, nsec_t linger);

/* Lines of text for the status dump. */
void lm_dump(const struct lm *m, struct buf *out);

#endif
