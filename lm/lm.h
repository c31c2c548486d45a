/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local monitor of one host and user, between its watched processes and an sm or mainsm: all
 * but the main program. Its interfaces are a loop, a host and a context of channels, so a test runs
 * the same code. One thread; calls back from the loop only.
 */
#ifndef LM_LM_H
#define LM_LM_H

#include "common/base/buf.h"
#include "common/base/rng.h"
#include "common/link/connstr.h"
#include "common/time/timebase.h"
#include "lm/host/host.h"

#include <sys/types.h>

#define LM_DRAIN_NS (200 * NSEC_PER_MSEC) /* time to send the final messages */

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
	const char *socket; /* registration socket of processes; NULL = none */
	int listener; /* a listening socket, inherited: see registration_conf; 0 = none */
	const char *tracer; /* path of lm-trace; NULL = none */
	const char *look; /* path of lm-look; NULL = none */
	const char *guard; /* path of lm-guard; NULL = none */
	const char *plugin; /* path of lm-plugin; NULL = no plug-ins */
	const char
		*plugins; /* paths of plug-ins that are there from the start: filelist.h; or NULL */
	const char *plugin_file; /* plug-ins that requests have added; NULL = not stored */
	const struct disk *disk; /* of the files and the folder below; NULL = the system's */
	const char *journal; /* holds; NULL = no journal */
	const char *baselines; /* baselines of measurements; NULL = not stored for the next lm */
	/* done manipulations, by the ids of tools' requests; NULL = lost when the lm ends */
	const char *done;
	const char *audit; /* audit file of the manipulations; NULL = none */
	const char *spool; /* folder of stored subscriptions; NULL = not possible */
	const struct spooler_turns *turns; /* of their spools; NULL = a thread each */
	const char *files; /* files that tools may read: filelist.h; NULL = none */
	uid_t uid;
	bool may_manipulate;
	nsec_t linger; /* 0 = for ever */
	void (*health)(void *arg, struct daemon_health *out); /* may be NULL */
	/* The lm is to end: call lm_free(), but not in this callback. */
	void (*on_end)(void *arg, const char *reason);
	/* A parent is connected. May be NULL. */
	void (*on_up)(void *arg);
	/* An answer to a renewal of the certificate. May be NULL. */
	void (*on_enrol_ack)(void *arg, const struct msg_enrol_ack *ack);
	void *arg;
};

/* Listens, then adopts running processes; continues processes that an earlier lm has stopped. */
int lm_open(const struct lm_conf *c, struct lm **out, struct err *e);
void lm_free(struct lm *m);

/* Connects to a parent. Call it once. -ERR_NOMEM. */
int lm_connect(struct lm *m, struct net_ctx *ctx, const struct connstr *conn);

/*
 * Registers a segment without the socket, for hosts that have none; consumes fd. As
 * registration_segment().
 */
int lm_register(struct lm *m, int fd, int32_t pid);

/*
 * Sends to mainsm, through any parent. -ERR_CLOSED: lm_connect() was not called; else as
 * parent_ask_mainsm().
 */
int lm_ask_top(struct lm *m, const struct msg *msg);

/* Announces the end and closes the link to the parent. Calls on_end after LM_DRAIN_NS. */
void lm_stop(struct lm *m, const char *reason);

/*
 * Used after on_end. lm_has_lingered(): the lm has ended because it had no processes. Another lm
 * then watches later registrations. lm_is_wanted(): there is such a process. lm_withdraw(), called
 * before: no process can register here from now on; earlier ones still count. lm_pass_socket(): the
 * socket for that lm, or -1: registration_pass().
 */
bool lm_has_lingered(const struct lm *m);
bool lm_is_wanted(struct lm *m);
void lm_withdraw(struct lm *m);
int lm_pass_socket(struct lm *m);

/* Changes the time to linger, for a reload. */
void lm_set_linger(struct lm *m, nsec_t linger);

/* Lines of text for the status dump. */
void lm_dump(const struct lm *m, struct buf *out);

#endif
