/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The links of an inner node to the daemons below it: to lms, and to sms with hosts of their own.
 * The planner uses branches and does not depend on the hosts behind them. A branch has an index,
 * which is reused only after the owner has announced the end of the branch.
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

/* branches of an sm: one for each host, and sms that have lost their hosts */
#define BRANCHES_MAX 8192
/* time after which a redirected host has arrived, or is elsewhere */
#define PROMISED_NS (5 * NSEC_PER_SEC)

struct branches;
struct link;

/* Only the owner of the branches changes a branch. */
struct branch {
	struct branches *in; /* the table that contains the branch */
	uint32_t index;
	uint64_t id; /* unique and never reused; not 0 */
	struct link *link; /* borrowed; NULL: not connected */
	bool is_sm; /* true for an sm, false for an lm */
	/* name in lists of missing objects: n_N for a host; the site, for an sm */
	char name[TOKEN_BYTES];
	uint32_t number; /* N */
	char host[NAME_MAX_BYTES + 1];
	char site[NAME_MAX_BYTES + 1]; /* site of the branch; "": the owner's site */
	struct list nodes; /* struct node by in_branch */
	size_t nnode;
	/* for an lm: deadlines missed since its last answer, and the time of the first one */
	unsigned late;
	nsec_t late_since;
	/* for an sm */
	/* serial number of its certificate, which identifies an sm that returns */
	uint8_t serial[SERIAL_BYTES];
	char *listen; /* owned; address at which lms reach it */
	unsigned promised; /* number of hosts that were recently redirected to it */
	nsec_t promised_at;
};

/* Makes a table for at most max branches. Returns NULL without memory. */
struct branches *branches_new(size_t max);

/*
 * Sets the function that decides whether a branch owns an object: a daemon may report only its own
 * objects. Without such a function a branch owns none.
 */
void branches_set_owner(struct branches *bs,
			bool (*owns)(void *arg, const struct branch *b, const char *token,
				     size_t n),
			void *arg);

/* Frees the table and all branches; the caller has closed their links. NULL is accepted. */
void branches_free(struct branches *bs);

/* Adds a branch without a link and nodes. Fails with ERR_LIMIT, ERR_NOMEM. */
int branches_add(struct branches *bs, bool is_sm, struct branch **out);
void branches_remove(struct branches *bs, struct branch *b);

/* branches_at() returns NULL for a free index. All indexes are below branches_bound(). */
struct branch *branches_at(const struct branches *bs, uint32_t index);
uint32_t branches_bound(const struct branches *bs);
size_t branches_count(const struct branches *bs);

/* Returns NULL if no branch has that name. */
struct branch *branches_find(const struct branches *bs, const char *name);

/* Returns the name of a branch, for texts and coverage; "u_0" (unknown) for a free index. */
const char *branches_name(const struct branches *bs, uint32_t index);

/*
 * Sends like link_send(), but disconnects a branch that does not read (-ERR_AGAIN). Fails with
 * ERR_CLOSED without a link.
 */
int branch_send(struct branch *b, const struct msg *m);

/* Sends like branch_send(), by index. Fails with ERR_NOTFOUND if the index is free. */
int branches_send(const struct branches *bs, uint32_t index, const struct msg *m);
void branches_send_all(const struct branches *bs, const struct msg *m);

/*
 * Makes the link of a branch fail, which notifies the link's owner. Has no effect without a link.
 */
void branch_cut(struct branch *b, enum msg_error_code code, const char *why);

/* Apply the function of branches_set_owner() to one object, and to the objects of each entry. */
bool branch_owns(const struct branch *b, const char *token, size_t n);
bool branch_owns_entries(const struct branch *b, const struct msg_entry *entry, size_t n);

/*
 * Applies it to an event: to its node, which must exist, its process and thread, and the objects of
 * its results.
 */
bool branch_owns_event(const struct branch *b, const struct msg_triggered *m);

/* Returns the sm with that certificate, connected or not; NULL if there is none. */
struct branch *branches_find_sm(const struct branches *bs, const uint8_t serial[SERIAL_BYTES]);

/*
 * Returns the connected sm with the fewest hosts, and counts one more host there. Returns NULL if
 * there is none.
 */
struct branch *branches_choose_sm(struct branches *bs, nsec_t now);

/* Returns the entry of the reported host itself, which only an sm sends; NULL if there is none. */
const struct msg_object *branches_find_host(const struct msg_directory *m);

/* The entry of a host at the branch that serves it. */
struct host_owned {
	bool is_up;
	bool is_connected; /* the branch has a link */
	uint64_t attach; /* number of its claim */
};

/*
 * Decides whether a host stays with its owner when another branch claims it; true: it stays. The
 * host increases attach when it searches for a parent, and the highest number wins. An equal number
 * wins if the owner is silent, for example after a whole sm has changed its parent. If only one
 * branch reports the host as up, that branch has it. The numbers do not count then, because they
 * derive from wall clocks, which may go back. head: the entry of the host itself in the claim;
 * NULL: none.
 */
bool branches_fence(const struct host_owned *owned, const struct msg_object *head, uint64_t attach);

/* Sums over all branches. */
struct branches_sum {
	size_t lms, sms; /* connected daemons */
	size_t queued; /* bytes in queues */
	uint64_t dropped; /* messages to peers that did not read */
	uint64_t cut_slow, cut_wrong; /* links that were cut since the start, by reason */
	nsec_t rtt_max; /* largest round-trip time; -1 = none measured */
};
void branches_sum(const struct branches *bs, struct branches_sum *out);

/*
 * Returns the bytes in all queues. The sum may be some ms old, and then a little too large. Cheap.
 */
size_t branches_queued(struct branches *bs, nsec_t now);

/* Returns the measured round-trip time; 0 = none. */
nsec_t branch_rtt(const struct branch *b);

#endif
