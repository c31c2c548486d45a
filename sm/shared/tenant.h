/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One user of an sm that serves many. A tenant has a directory with a certificate of the user's
 * mainsm. It has a network context, a port, an sm (sm.h), a meter and a quota. Tenants share only
 * the loop and the process: no function of one takes an object of another. States: JOINING (it
 * enrols at the user's mainsm), then WAITING (it dials) and UP in turn. A tenant is ASLEEP if its
 * mainsm has been away for long and no host is connected; it dials at long intervals.
 */
#ifndef SM_SHARED_TENANT_H
#define SM_SHARED_TENANT_H

#include "common/base/file.h"
#include "common/link/connstr.h"
#include "common/member/enrol.h"
#include "common/net/pki.h"
#include "sm/node/sm.h"

/* as long as the grace: CSRs and measurements of the mainsm have ended by then */
#define TENANT_ASLEEP_AFTER_NS (120 * NSEC_PER_SEC)
/* the longest interval between dials while asleep */
#define TENANT_WAKE_NS (60 * NSEC_PER_SEC)
#define TENANT_REMEMBER_NS (500 * NSEC_PER_MSEC) /* merges a burst of changes */

enum tenant_state { TENANT_JOINING, TENANT_WAITING, TENANT_UP, TENANT_ASLEEP };

struct tenant;

/* Network functions of a tenant, replaced as a whole in tests. */
struct tenant_net {
	/* As enrol_check(), enrol_run(), enrol_cancel(). */
	int (*check)(void *arg, const struct enrol_conf *c, struct err *why);
	struct enrol *(*enrol)(void *arg, const struct enrol_conf *c,
			       void (*on_done)(void *arg, const struct err *why), void *done_arg);
	void (*cancel)(void *arg, struct enrol *n);
	/* Opens a context with the files in dir. */
	int (*open)(void *arg, struct loop *loop, const char *dir, struct net_ctx **out,
		    struct err *e);
	void *arg;
};

extern const struct tenant_net tenant_net_tls;

/* Shared by all tenants of a process. The struct and its strings are borrowed. */
struct tenant_conf {
	struct loop *loop;
	struct rng *rng;
	uint64_t epoch;
	const char *dir; /* parent of the tenants' directories <dir>/<pin> */
	const struct disk *disk; /* of their files "user"; NULL = the system's */
	const char *site, *host, *listen, *advertise, *software;
	const struct tenant_net *net;
	uint16_t port_first, port_last; /* of their listeners; 0, 0: the system chooses */
	nsec_t grace;
	struct keeps_all *keeps; /* of all tenants; borrowed */
	nsec_t (*wall_now)(void *arg);
	/* True if another tenant has the port. */
	bool (*is_taken)(void *arg, const struct tenant *t, uint16_t port);
	/*
	 * The tenant has joined (NULL), or failed to. A new one that failed must be freed. Not
	 * called from within a call.
	 */
	void (*on_joined)(void *arg, struct tenant *t, const struct err *why);
	/*
	 * The user's mainsm has revoked this sm: free and remove it. Not called from within a call.
	 */
	void (*on_gone)(void *arg, struct tenant *t, const char *why);
	void *arg;
};

/* Opens or makes the directory. ERR_NOMEM, ERR_DENIED, ERR_SYS. */
int tenant_new(const struct tenant_conf *conf, const char *pin, struct tenant **out, struct err *e);

/* Reads the directory of a former tenant. ERR_NOTFOUND, ERR_PARSE, ERR_DENIED. */
int tenant_load(struct tenant *t, struct err *e);

/* Closes its links; the files stay. NULL is fine. */
void tenant_free(struct tenant *t);

/* Removes its files. Only tenant_free() may follow. */
void tenant_erase(struct tenant *t);

/*
 * Enrols at that mainsm (of this pin, with a token) and serves it; on_joined follows. ERR_EXISTS: a
 * join is in progress.
 */
int tenant_join(struct tenant *t, const struct connstr *conn, const char *name, struct err *e);

/* Serves with the existing certificate, after a while; on_joined is not called. */
void tenant_start(struct tenant *t, nsec_t after);

/* Sets a display name, which replaces the user's own. */
void tenant_set_name(struct tenant *t, const char *name);

/* Sets the limits of the policy; limits from tenant_limit() have precedence. */
void tenant_set_policy(struct tenant *t, const struct quota *q);

/* n < 0: as in the policy. Stored on disk. */
void tenant_limit(struct tenant *t, enum quota_what what, int64_t n);
void tenant_drain(struct tenant *t, bool drain);

/* Saves the time at which the user's mainsm is connected, at most once in `step`. */
void tenant_note_seen(struct tenant *t, nsec_t step);

const char *tenant_pin(const struct tenant *t);
uint16_t tenant_port(const struct tenant *t); /* 0 = not assigned yet */
enum tenant_state tenant_state(const struct tenant *t);

/* Counters for admins: amounts only, no contents. */
struct tenant_counters {
	const char *name, *pin, *state, *address, *trouble; /* valid until it changes */
	nsec_t wall_since, wall_seen; /* a member since; last connection of the mainsm */
	size_t hosts, procs, objects, csrs, bytes;
	uint64_t messages, bytes_read; /* since this process serves the user */
	nsec_t read_later; /* delay of reads by the meter */
	uint64_t refused; /* for a limit */
	uint16_t port;
	bool is_draining;
	struct quota quota; /* in force */
};

void tenant_get_counters(const struct tenant *t, struct tenant_counters *out);

/* Writes the status of the tenant's sm, for the log of the process. */
void tenant_dump(const struct tenant *t, struct buf *out);

#endif
