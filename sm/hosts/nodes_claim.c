/* SPDX-License-Identifier: Apache-2.0 */
/* Claims of a lower sm about its hosts: an lm may have moved there from another branch. */
#include "common/base/str.h"
#include "sm/hosts/nodes_internal.h"

#include <string.h>

static bool is_fenced(const struct node *n, const struct branch *b, uint64_t attach,
		      const struct msg_object *head)
{
	const struct host_owned owned = { node_is_up(n), n->branch->link != NULL, n->attach };

	return n->branch != b && branches_fence(&owned, head, attach);
}

/*
 * Reports the name or number of another host, perhaps from a malicious host. Only this claim is
 * refused; the other hosts of that sm are accepted.
 */
static int contradicts(struct err *e)
{
	if (e->code == ERR_DENIED)
		e->code = ERR_INVALID;
	return -(int)e->code;
}

static int add_claimed(struct nodes *ns, struct branch *b, const struct claim *c, struct node **out,
		       struct err *e)
{
	const struct msg_object *head = c->head;
	int rc;

	if (!head || !head->host[0] || !c->number)
		return err_set(e, ERR_PROTO, "it names no host for node %u", c->number);
	if (head->op == MSG_OP_GONE)
		return 0;
	if (!str_eq(head->site, ns->site))
		return err_set(e, ERR_DENIED, "node %u is not of site %s", c->number, ns->site);
	if (nodes_check(ns, c, e))
		return contradicts(e);
	rc = nodes_add(ns, c, b, out, e);
	if (!rc)
		(*out)->has_past = true; /* the time of its first connection is unknown */
	return rc;
}

static int apply_head(struct nodes *ns, struct node **n, const struct msg_object *head,
		      struct err *e)
{
	if (head->sub > MSG_NODE_HUNG)
		return err_set(e, ERR_PROTO, "%s has no such state", (*n)->token);
	if (head->op == MSG_OP_GONE) {
		node_forget(ns, *n);
		*n = NULL;
		return 0;
	}
	node_set_sub(ns, *n, head->sub);
	return 0;
}

int nodes_claim(struct nodes *ns, struct branch *b, const struct msg_directory *m,
		struct node **out, struct err *e)
{
	const struct msg_object *head = branches_find_host(m);
	const struct claim c = { m->node, head ? head->host : "", m->attach, head };
	struct node *n = nodes_find(ns, m->node);
	int rc = 0;

	*out = NULL;
	if (n && is_fenced(n, b, c.attach, head)) {
		ns->stats.fenced++;
		return 0;
	}
	if (!n)
		rc = add_claimed(ns, b, &c, &n, e);
	if (rc || !n)
		return rc;
	if (head && !str_eq(head->host, n->host))
		return err_set(e, ERR_INVALID, "node number %u is that of host %s, not of %s",
			       n->number, n->host, head->host);
	if (n->branch != b) {
		node_move(ns, n, b);
		n->attach = c.attach;
	}
	if (c.attach > n->attach)
		n->attach = c.attach;
	if (head)
		rc = apply_head(ns, &n, head, e);
	*out = rc ? NULL : n;
	return rc;
}
