/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the wiring: mainsm.c (creation and end), greet.c (new connections), peer.c, branches.c,
 * tools.c.
 */
#ifndef MAINSM_MAINSM_INTERNAL_H
#define MAINSM_MAINSM_INTERNAL_H

#include "common/authority/certs.h"
#include "common/authority/enrol_service.h"
#include "common/link/link.h"
#include "common/loop/loop.h"
#include "common/net/net.h"
#include "mainsm/csr/csr.h"
#include "mainsm/directory/directory.h"
#include "mainsm/directory/numbers.h"
#include "mainsm/history/history.h"
#include "mainsm/mainsm.h"
#include "mainsm/measure/measure.h"
#include "mainsm/service/services.h"
#include "mainsm/subscription/subscription.h"
#include "mainsm/tool/locks.h"
#include "mainsm/tool/session.h"
#include "tree/branches.h"
#include "tree/executor.h"
#include "tree/missed.h"

/* The peer behind an accepted link. */
#define MAINSM_BRANCHES_MAX 4096 /* sites, and hosts that no site serves */

struct peer {
	struct mainsm *m;
	struct link *link;
	struct branch *branch; /* NULL: no branch */
	/* NULL: no tool; both NULL: before HELLO, or an lm that is sent to its sm */
	struct session *session;
	bool is_passing; /* such an lm, or a lower sm that belongs below its site's sm */
	bool is_server; /* a factory or receiver: gets revoked certificates and new ones */
	uint32_t number; /* number of a tool, before it has its session */
	uint64_t epoch; /* of a tool, from its HELLO; 0 = its requests have no lasting ids */
	uint64_t attach; /* of an lm: increases with each search for a parent */
	char *listen; /* of an sm: where lms find it; owned */
	struct list requests; /* of a tool: struct tool_request */
	struct list in_peers;
	/* of a branch or tool: it has disconnected; NULL = neither */
	void (*on_end)(struct peer *p, const char *reason);
};

struct mainsm {
	struct mainsm_conf conf;
	struct directory *directory;
	struct sites *sites;
	struct numbers *numbers;
	bool numbers_fail, tokens_fail; /* saving failed, which was logged */
	struct certs *certs;
	struct tokens *tokens;
	struct branches *branches;
	struct executor *executor;
	struct locks *locks;
	struct tool_csrs *csrs;
	struct subscriptions *subscriptions;
	struct registry *registry;
	struct measures *measures;
	struct history *history; /* NULL: none is kept */
	struct services *services;
	struct enrol_service *enrol;
	struct audit *audit; /* NULL: nothing is kept */
	struct net_listener *listener;
	struct list peers;
	struct list sessions;
	struct smap shares; /* principal -> struct share: tools.c */
	size_t npeer, nsession;
	struct missed missed;
	struct loop_timer *housekeeping, *ending;
	struct loop_job revoking;
	nsec_t jobs_checked_at; /* loop time, by mainsm_lapse() */
	nsec_t started, lonely_since; /* loop time; without a connection since then */
	uint64_t forged; /* messages about objects of others */
	bool is_closing;
};

/* --- audit.c */
int mainsm_audit_open(struct mainsm *m, struct err *e);
/* Records the parts of a request without the right for them; they are not sent to branches. */
void mainsm_audit_refused(struct mainsm *m, const struct session *s, const struct omis_request *r);

/* --- greet.c: the handlers of every link */
void greet_accept(void *arg, struct chan *c);
void greet_refused(void *arg, const char *remote, const struct err *why);

/* --- peer.c */
/* Returns NULL without memory. */
struct peer *peer_new(struct mainsm *m);
/* The caller closes its link. */
void peer_free(struct peer *p, const char *reason);
/* Marks a server: mainsm may end while it is connected. */
void peer_serves(struct peer *p);
/* Closes its link, too. */
void peer_end(struct peer *p, const char *reason);
/* Issues a certificate for the same names again. */
void peer_renew(struct peer *p, const struct msg_enrol *q);

/* --- lapse.c: objects that end by time, checked at intervals */
void mainsm_lapse(struct mainsm *m);

/* --- branches.c */
int mainsm_branch_up(struct peer *p, const struct identity *id);
void mainsm_branch_msg(struct peer *p, const struct msg *msg);
/* Sends lms and sms the list of revoked certificates. */
void mainsm_send_revoked(struct mainsm *m, struct peer *only);

/* --- tools.c */
int mainsm_tool_up(struct peer *p, const struct identity *id, uint32_t number);
void mainsm_tool_msg(struct peer *p, const struct msg *msg);

#endif
