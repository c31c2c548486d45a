/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The links of an inner node to the daemons below it: to lms, and to sms with hosts of their own.
 * The planner uses branches, independent of the hosts behind them. A branch has an index, which is
 * reused only after the owner has announced the end of the branch.
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

#define BRANCHES_MAX 8192 /* of an sm: one per host, and sms that have lost their hosts */
/* hosts that were sent on have arrived by then, or are elsewhere */
#define PROMISED_NS (5 * NSEC_PER_SEC)

struct branches;
struct link;

/* Only its owner changes a branch. */
struct branch {
	struct branches *in; /* the table that contains it */
	uint32_t index;
	uint64_t id; /* never given again; not 0 */
	struct link *link; /* borrowed; NULL: not connected */
	bool is_sm; /* role: sm, else lm */
	char name[TOKEN_BYTES]; /* name of the missing part without it: n_N; the site, for an sm */
	uint32_t number; /* N */
	char host[NAME_MAX_BYTES + 1];
	char site[NAME_MAX_BYTES + 1]; /* "": that of the owner */
	struct list nodes; /* struct node by in_branch */
	size_t nnode;
	/* of an lm: missed deadlines since its last answer, and the time of the first one */
	unsigned late;
	nsec_t late_since;
	/* of an sm */
	/* serial of its certificate: it identifies an sm that returns */
	uint8_t serial[SERIAL_BYTES];
	char *listen; /* owned; where lms find it */
	unsigned promised; /* hosts that were sent there lately */
	nsec_t promised_at;
};

/* At most max branches. Returns NULL without memory. */
struct branches *branches_new(size_t max);

/*
 * Sets the rule for the objects of a branch: a daemon may report only its own. Without a rule a
 * branch has none.
 */
void branches_set_owner(struct branches *bs,
			bool (*owns)(void *arg, const struct branch *b, const char *token,
				     size_t n),
			void *arg);

/* Frees all branches too; the caller has closed their links. NULL is fine. */
void branches_free(struct branches *bs);

/* Adds a branch without a link and nodes. -ERR_LIMIT, -ERR_NOMEM. */
int branches_add(struct branches *bs, bool is_sm, struct branch **out);
void branches_remove(struct branches *bs, struct branch *b);

/* Returns NULL for a free index. All indexes are below the bound. */
struct branch *branches_at(const struct branches *bs, uint32_t index);
uint32_t branches_bound(const struct branches *bs);
size_t branches_count(const struct branches *bs);

/* Returns NULL if no branch has that name. */
struct branch *branches_find(const struct branches *bs, const char *name);

/* Returns the name of a branch, for texts and coverage; "u_0" (unknown) for a free index. */
const char *branches_name(const struct branches *bs, uint32_t index);

/*
 * As link_send(), but a branch that does not read (-ERR_AGAIN) is disconnected. -ERR_CLOSED: no
 * link.
 */
int branch_send(struct branch *b, const struct msg *m);

/* As branch_send(), by index. -ERR_NOTFOUND: the index is free. */
int branches_send(const struct branches *bs, uint32_t index, const struct msg *m);
void branches_send_all(const struct branches *bs, const struct msg *m);

/* Fails the link of a branch, which notifies the owner of the link. No effect without a link. */
void branch_cut(struct branch *b, enum msg_error_code code, const char *why);

/* By the rule of branches_set_owner(): one object; the objects of each entry. */
bool branch_owns(const struct branch *b, const char *token, size_t n);
bool branch_owns_entries(const struct branch *b, const struct msg_entry *entry, size_t n);

/*
 * Applies the rule to an event: its node, process and thread, and the objects of its results. It
 * must have a node.
 */
bool branch_owns_event(const struct branch *b, const struct msg_triggered *m);

/* Returns the sm with that certificate, connected or not. */
struct branch *branches_find_sm(const struct branches *bs, const uint8_t serial[SERIAL_BYTES]);

/*
 * Returns the connected sm with the fewest hosts, and promises it one host more; NULL: there is
 * none.
 */
struct branch *branches_choose_sm(struct branches *bs, nsec_t now);

/* Returns the object of the reported host itself, which only an sm sends. NULL: there is none. */
const struct msg_object *branches_find_host(const struct msg_directory *m);

/* A host's entry at the branch that serves it now. */
struct host_owned {
	bool is_up;
	bool is_connected; /* the branch has a link */
	uint64_t attach; /* number in its claim */
};

/*
 * Another branch claims that host. Returns true if the owner keeps it: until the host has searched
 * for a parent again, which increases attach. An equal number counts if the owner is silent, for
 * example after a whole sm has changed its parent. If only one branch reports the host as up, that
 * branch has it. The numbers then do not matter, because they derive from wall clocks, which may go
 * back. head: the claim's object of the host itself; NULL: none.
 */
bool branches_fence(const struct host_owned *owned, const struct msg_object *head, uint64_t attach);

/* Sums over all links. */
struct branches_sum {
	size_t lms, sms; /* connected daemons */
	size_t queued; /* bytes */
	uint64_t dropped; /* messages to peers that did not read */
	uint64_t cut_slow, cut_wrong; /* links that were cut since the start, by reason */
	nsec_t rtt_max; /* -1 = none measured */
};
void branches_sum(const struct branches *bs, struct branches_sum *out);

/* Returns the bytes in all queues. The sum may be some ms old and so a little too large. Cheap. */
size_t branches_queued(struct branches *bs, nsec_t now);

/* Returns the measured round-trip time; 0 = none. */
nsec_t branch_rtt(const struct branch *b);

#endif
