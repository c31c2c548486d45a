/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The links of an inner node to the daemons below it: to lms, and to sms that serve hosts of their
 * own. Planning speaks of branches, whatever hosts are behind them. A branch has an index, which is
 * given again only after the owner has announced that the branch is gone.
 */
#ifndef TREE_BRANCHES_H
#define TREE_BRANCHES_H

#include "common/base/clock.h"
#include "common/base/limits.h"
#include "common/container/list.h"
#include "common/net/identity.h"
#include "common/omis/text/token.h"
#include "proto/msg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BRANCHES_MAX 8192 /* of an sm: one a host, and the sms whose hosts were here before */
/* hosts that were sent on have arrived, or gone elsewhere */
#define PROMISED_NS (5 * NSEC_PER_SEC)

struct branches;
struct link;

/* A branch is changed by its owner only. */
struct branch {
	struct branches *in; /* the table that it belongs to */
	uint32_t index;
	uint64_t id; /* never given again; not 0 */
	struct link *link; /* borrowed; NULL: not connected */
	bool is_sm; /* else an lm */
	char name[TOKEN_BYTES]; /* what is missing without it: n_N; the site, for an sm */
	uint32_t number; /* N */
	char host[NAME_MAX_BYTES + 1];
	char site[NAME_MAX_BYTES + 1]; /* "": that of the owner */
	struct list nodes; /* struct node by in_branch */
	size_t nnode;
	/* of an lm: requests whose deadline passed since it answered one; when the first of them
	 * did */
	unsigned late;
	nsec_t late_since;
	/* of an sm */
	uint8_t serial[SERIAL_BYTES]; /* of its certificate: it identifies an sm that returns */
	char *listen; /* owned; where lms find it */
	unsigned promised; /* hosts that were sent there lately */
	nsec_t promised_at;
};

/* At most max of them. NULL: no memory. */
struct branches *branches_new(size_t max);

/*
 * The rule that says which objects belong to a branch: a daemon speaks only of its own. Without a
 * rule none does.
 */
void branches_set_owner(struct branches *bs,
			bool (*owns)(void *arg, const struct branch *b, const char *token,
				     size_t n),
			void *arg);

/* Frees all branches too; the caller closes their links before. NULL is fine. */
void branches_free(struct branches *bs);

/* Without a link and nodes. -ERR_LIMIT, -ERR_NOMEM. */
int branches_add(struct branches *bs, bool is_sm, struct branch **out);
void branches_remove(struct branches *bs, struct branch *b);

/* NULL for a free index. All indexes are below the bound. */
struct branch *branches_at(const struct branches *bs, uint32_t index);
uint32_t branches_bound(const struct branches *bs);
size_t branches_count(const struct branches *bs);

/* NULL: no branch has that name. */
struct branch *branches_find(const struct branches *bs, const char *name);

/* The name of a branch, for texts and coverage; "u_0" (unknown) for a free index. */
const char *branches_name(const struct branches *bs, uint32_t index);

/* As link_send(), but a branch that does not read (-ERR_AGAIN) is cut. -ERR_CLOSED: no link. */
int branch_send(struct branch *b, const struct msg *m);

/* As branch_send(), by the index. -ERR_NOTFOUND: the index is free. */
int branches_send(const struct branches *bs, uint32_t index, const struct msg *m);
void branches_send_all(const struct branches *bs, const struct msg *m);

/* Fails the link of a branch, which notifies the owner of the link. Nothing without a link. */
void branch_cut(struct branch *b, enum msg_error_code code, const char *why);

/* By the rule of branches_set_owner(): one object; the objects of each entry. */
bool branch_owns(const struct branch *b, const char *token, size_t n);
bool branch_owns_entries(const struct branch *b, const struct msg_entry *entry, size_t n);

/* Of an event: its node, process and thread, and the objects of its results. It has a node. */
bool branch_owns_event(const struct branch *b, const struct msg_triggered *m);

/* The sm of that certificate, connected or not. */
struct branch *branches_find_sm(const struct branches *bs, const uint8_t serial[SERIAL_BYTES]);

/* The connected sm with the fewest hosts, and one host more is promised to it; NULL: there is
 * none. */
struct branch *branches_choose_sm(struct branches *bs, nsec_t now);

/* The object of the reported host itself; only an sm sends it. NULL: there is none. */
const struct msg_object *branches_find_host(const struct msg_directory *m);

/* A host as the branch has it that serves it now. */
struct host_owned {
	bool is_up;
	bool is_connected; /* that branch */
	uint64_t attach; /* of its claim */
};

/*
 * Another branch claims that host: does the owner keep it? It does until the host has looked for a
 * parent again, which makes attach greater. An equal number counts when the owner is silent, as
 * when a whole sm has changed its parent. A host that only one of them has as up is that one's,
 * whatever the numbers: they grow from wall times, and a wall clock may go back. head: what
 * the claim says of the host itself; NULL: nothing.
 */
bool branches_fence(const struct host_owned *owned, const struct msg_object *head, uint64_t attach);

/* Over all links. */
struct branches_sum {
	size_t lms, sms; /* that are connected */
	size_t queued; /* bytes */
	uint64_t dropped; /* messages to peers that did not read */
	uint64_t cut_slow, cut_wrong; /* links that were cut since the start, by reason */
	nsec_t rtt_max; /* -1 = none measured */
};
void branches_sum(const struct branches *bs, struct branches_sum *out);

/* Bytes in all queues, or a little more: what has drained in a few ms is still in it. Cheap. */
size_t branches_queued(struct branches *bs, nsec_t now);

/* The measured round-trip time; 0 = none. */
nsec_t branch_rtt(const struct branch *b);

#endif
