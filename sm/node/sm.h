/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The site manager: lms below, one mainsm above. It splits requests of mainsm over its hosts,
 * merges their replies into one and holds conditional requests. It passes reports of hosts up after
 * a check that each one names its own objects only. Loop, context of channels and dialler are
 * parameters: the same code runs over TLS and in memory. One thread. Callbacks run in the loop
 * only.
 */
#ifndef SM_NODE_SM_H
#define SM_NODE_SM_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/link/connstr.h"
#include "common/link/link.h"
#include "common/time/timebase.h"
#include "sm/hosts/quota.h"

#include <stdbool.h>
#include <stdint.h>

/* without lms: time for the next step of a job */
#define SM_LINGER_DEFAULT_NS (60 * NSEC_PER_SEC)
/* time for which requests of tools outlive mainsm: a minute without network */
#define SM_GRACE_DEFAULT_NS (120 * NSEC_PER_SEC)
/* time for lms to close their links after STOP */
#define SM_STOP_DRAIN_NS (500 * NSEC_PER_MSEC)
#define SM_REVOKED_MAX 65536 /* revoked serials that mainsm may send: those of years */

struct keeps_all;
struct daemon_health;
struct loop;
struct meter;
struct net_ctx;
struct disk;
struct spooler_turns;
struct sm;

/* Pointers are borrowed and must outlive the sm, strings are copied. */
struct sm_conf {
	struct loop *loop;
	struct rng *rng;
	struct timebase *timebase; /* set by the link to mainsm; answers the lms */
	struct net_ctx *ctx; /* own certificate (role sm); stores revoked serials */
	struct link_dialer dialer; /* to mainsm; not for a stacked sm */
	bool is_stacked; /* below another sm of the site */
	const char
		*parent; /* for a stacked sm: address of the upper sm; NULL or "" = from mainsm */
	const struct connstr *conn; /* for a stacked sm: connection string of mainsm; copied */
	/* limit of lms served here although there are lower sms, which get the others */
	size_t fan_in;
	uint64_t epoch; /* wall ns of this start */
	const char *site, *host; /* own names; lms of another site are refused */
	const char *listen; /* numeric address; NULL = 127.0.0.1 */
	uint16_t port; /* 0 = the system chooses */
	const char *advertise; /* addresses for lms: hosts by commas; NULL = listen */
	const char *software; /* name and version, for HELLO */
	nsec_t linger; /* ends after this time without lms; 0 = never */
	nsec_t grace; /* time for which csrs outlive mainsm; 0 = SM_GRACE_DEFAULT_NS */
	const char *enrol_dir; /* of the certificate; NULL = it is not renewed */
	const char *spool; /* folder of stored subscriptions; NULL = not possible */
	const struct disk *disk; /* for that directory; NULL = the system's */
	const struct spooler_turns *turns; /* turns of their spools; NULL = one thread each */
	/* shared by all sms of this process; borrowed; NULL: no other sm */
	struct keeps_all *keeps;
	const struct quota *quota; /* quota of this mainsm; copied; NULL = none */
	struct meter *meter; /* of all links; borrowed; NULL = none */
	size_t queue_cap; /* bytes towards one lm; 0 = PEER_QUEUE_MAX_BYTES */
	/* Fills *out; NULL: the status service omits those counters. */
	void (*health)(void *arg, struct daemon_health *out);
	/* mainsm has sent HELLO_ACK (each time): serving. May be NULL. */
	void (*on_ready)(void *arg);
	/* An attempt to reach mainsm failed; was_up: it was connected before. May be NULL. */
	void (*on_unreachable)(void *arg, const struct err *why, bool was_up);
	/*
	 * The sm should end (STOP has arrived, no host is left, revoked): call sm_free(), but not
	 * from within. Called once.
	 */
	void (*on_end)(void *arg, const char *reason);
	void *arg;
};

/*
 * Listens and dials. ERR_SYS (the text names the address), ERR_INVALID, ERR_LIMIT (advertised
 * list), ERR_NOMEM.
 */
int sm_open(const struct sm_conf *conf, struct sm **out, struct err *e);

/*
 * Sends BYE and closes all links at once; the lms continue and wait for another sm. NULL is fine.
 */
void sm_free(struct sm *sm);

/* Returns the actual port. */
uint16_t sm_port(const struct sm *sm);

/* Changes linger and grace while it runs. */
void sm_set_times(struct sm *sm, nsec_t linger, nsec_t grace);

void sm_set_quota(struct sm *sm, const struct quota *q);

/* Accepts only known hosts from now on, until drain is false. */
void sm_drain(struct sm *sm, bool drain);

struct sm_counts {
	size_t lms; /* connected */
	size_t nodes; /* known, silent ones included */
	size_t objects; /* of all nodes */
	size_t procs; /* processes on those hosts */
	size_t bytes; /* of objects, armed requests and queues */
	size_t requests; /* under way */
	size_t csrs; /* armed */
	size_t strange; /* csrs among them of unknown tools; must be 0 */
	uint64_t asked, answered,
		partial; /* requests from mainsm; answers that lack some objects */
	uint64_t doubles; /* repeated requests */
	uint64_t strays; /* replies without a request, or from another lm */
	uint64_t forged; /* lms that named foreign objects, and were disconnected */
	uint64_t refused; /* lms that were not admitted */
	uint64_t dropped; /* TRIGGERED that did not fit upwards; reported as a gap */
	uint64_t cut; /* lms that did not read */
	uint64_t over_quota; /* refused for a limit of the quota */
	bool is_up; /* connected to mainsm */
};

void sm_get_counts(const struct sm *sm, struct sm_counts *out);

/* Lines of text for the status dump. */
void sm_dump(const struct sm *sm, struct buf *out);

#endif
