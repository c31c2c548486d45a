/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/interaction/netshow.h"

#include "common/base/str.h"
#include "common/cli/opt.h"
#include "eventlog/lifeline/lifewords.h"
#include "tools/interaction/netstage.h"
#include "tools/term/table.h"

#include <inttypes.h>
#include <stdlib.h>

#define PATH_SHOWN 8 /* vertices at each end of a path in one line */
#define SHARE_BYTES 16

static const char *share(char out[SHARE_BYTES], int64_t part, int64_t all)
{
	if (all <= 0)
		return "-";
	snprintf(out, SHARE_BYTES, "%.1f %%", (double)part * 100 / (double)all);
	return out;
}

static void put_use(struct buf *out, const struct network *w, uint32_t use)
{
	size_t before = out->n;

	netuse_put(w->use, use, out);
	if (out->n == before)
		buf_puts(out, "no object");
}

/* --- words */

static void put_path(struct buf *out, const struct network *w, const struct netpath *p)
{
	char name[NETWORK_NAME_BYTES];

	for (size_t i = 0; i < p->n; i++) {
		if (p->n > 2 * PATH_SHOWN + 1 && i == PATH_SHOWN) {
			size_t left = p->n - 2 * PATH_SHOWN;

			buf_printf(out, " > (%zu more)", left);
			i += left - 1;
			continue;
		}
		buf_printf(out, "%s%s", i ? " > " : "", network_name(w, p->step[i].v, name));
	}
	buf_puts(out, "\n");
}

static void put_doubts(struct buf *out, const struct network *w)
{
	static const char *const words[NETWORK_ANOMALIES] = {
		[NETWORK_BOTH_BLOCKED] = "joins of two sub-tasks that both wait",
		[NETWORK_WAIT_WITHOUT_JOIN] = "waits that end without a join: ordinary time",
		[NETWORK_END_WITHOUT_BEGIN] = "ends of use without a begin: ignored",
		[NETWORK_BACKWARD_MESSAGE] =
			"messages received before they were sent: clocks differ",
	};

	for (unsigned i = 0; i < NETWORK_ANOMALIES; i++)
		if (w->anomaly[i])
			buf_printf(out, "Noticed: %" PRIu64 " %s.\n", w->anomaly[i], words[i]);
}

static void put_sizes(struct buf *out, const struct network *w, const struct netanalysis *a)
{
	const struct netspent_part *most = a->spent.task;
	char time[LIFEWORDS_TIME_BYTES];

	for (size_t i = 1; i < a->spent.ntask; i++)
		if (a->spent.task[i].ns > most->ns)
			most = &a->spent.task[i];
	buf_printf(out, "%zu vertices of %zu sub-tasks; on the path %zu of %zu", w->n, w->ntask,
		   a->path.n, a->spent.ntask);
	if (most)
		buf_printf(out, ", most of its time in sub-task %" PRIu64 " (%s)",
			   network_id(w, most->of), lifewords_time(time, most->ns));
	buf_puts(out, ".\n");
}

/* The longest of the uses with a rank among them. */
static void put_stage(struct buf *out, const struct network *w, const struct netanalysis *a)
{
	struct buf use = BUF_INIT(NETUSE_MAX_BYTES);

	for (size_t i = 0; i < a->spent.nuse; i++) {
		buf_clear(&use);
		netuse_put(w->use, a->spent.use[i].of, &use);
		if (use.failed || !netstage_is_one(buf_str(&use)))
			continue;
		netstage_put(out, buf_str(&use), a->spent.use[i].ns, a->path.length);
		break;
	}
	buf_done(&use);
}

int netshow_verdict(struct buf *out, const char *name, const struct network *w,
		    const struct netanalysis *a)
{
	const struct netspent *s = &a->spent;
	char time[LIFEWORDS_TIME_BYTES], part[SHARE_BYTES];

	buf_printf(out, "%s%s took %s", *name ? "Interaction " : "The interaction", name,
		   lifewords_time(time, a->path.length));
	if (s->nuse) {
		buf_printf(out, ": %s of it with ", share(part, s->use[0].ns, a->path.length));
		put_use(out, w, s->use[0].of);
		buf_puts(out, " in use");
	}
	buf_puts(out, ".\n");
	put_stage(out, w, a);
	if (!s->is_member)
		buf_puts(out, "It is not of the set: no alternative of its membership held.\n");
	buf_printf(out, "Its critical path, %s: ",
		   a->path.is_unique ? "the only one" : "one of several");
	put_path(out, w, &a->path);
	put_sizes(out, w, a);
	put_doubts(out, w);
	return out->failed ? -ERR_NOMEM : 0;
}

/* --- tables of one network */

static int put_uses(struct buf *out, const struct network *w, const struct netanalysis *a)
{
	static const char *const heads[] = { "IN USE", "TIME", "SHARE" };
	struct table *t = table_new(3, heads, "lrr");
	size_t n = a->spent.nuse < NETSHOW_ROWS ? a->spent.nuse : NETSHOW_ROWS;
	struct buf use = BUF_INIT(NETUSE_MAX_BYTES);

	for (size_t i = 0; t && i < n; i++) {
		char time[LIFEWORDS_TIME_BYTES], part[SHARE_BYTES];

		buf_clear(&use);
		put_use(&use, w, a->spent.use[i].of);
		table_cell(t, "%s", buf_str(&use));
		table_cell(t, "%s", lifewords_time(time, a->spent.use[i].ns));
		table_cell(t, "%s", share(part, a->spent.use[i].ns, a->path.length));
	}
	buf_done(&use);
	if (table_end(t, 0, out))
		return -ERR_NOMEM;
	if (a->spent.nuse > n)
		buf_printf(out, "... and %zu more\n", a->spent.nuse - n);
	return 0;
}

int netshow_states(struct buf *out, const struct network *w, const struct netanalysis *a)
{
	static const char *const heads[] = { "STATE", "TIME", "SHARE" };
	unsigned n = netuse_states(w->use);
	struct table *t;
	int rc = put_uses(out, w, a);

	if (rc || !n)
		return rc;
	buf_puts(out, "\n");
	t = table_new(3, heads, "lrr");
	for (unsigned i = 0; t && i < n; i++) {
		char time[LIFEWORDS_TIME_BYTES], part[SHARE_BYTES];

		table_cell(t, "%s", netuse_state_name(w->use, i));
		table_cell(t, "%s", lifewords_time(time, a->spent.state[i]));
		table_cell(t, "%s", share(part, a->spent.state[i], a->path.length));
	}
	return table_end(t, 0, out);
}

static void path_row(struct table *t, const struct network *w, const struct netpath *p, size_t i,
		     struct buf *use)
{
	const struct netpath_step *s = &p->step[i];
	char name[NETWORK_NAME_BYTES], time[LIFEWORDS_TIME_BYTES];
	struct network_arc a;

	buf_clear(use);
	table_cell(t, "%s", network_name(w, s->v, name));
	table_cell(t, "%s", network_kind_name((enum network_kind)w->v[s->v].kind));
	table_cell(t, "%s", lifewords_time(time, w->v[s->v].t - w->v[w->v0].t));
	if (i + 1 == p->n) {
		for (int k = 0; k < 4; k++)
			table_cell(t, "-");
		return;
	}
	network_arc(w, p->step[i + 1].v, p->step[i + 1].is_ending, &a);
	put_use(use, w, a.use);
	table_cell(t, "%" PRIu64, network_id(w, a.task));
	table_cell(t, "%s", lifewords_time(time, network_length(w, &a)));
	table_cell(t, "%s", a.blocks ? "waits" : "");
	table_cell(t, "%s", buf_str(use));
}

int netshow_path(struct buf *out, const struct network *w, const struct netpath *p)
{
	static const char *const heads[] = {
		"VERTEX", "KIND", "AT", "SUB-TASK", "FOR", "", "IN USE"
	};
	struct table *t = table_new(7, heads, "llrrrll");
	struct buf use = BUF_INIT(NETUSE_MAX_BYTES);

	for (size_t i = 0; t && i < p->n; i++)
		path_row(t, w, p, i, &use);
	buf_done(&use);
	return table_end(t, 0, out);
}

int netshow_near(struct buf *out, const struct network *w, const struct netpath *p, size_t n)
{
	char time[LIFEWORDS_TIME_BYTES];

	buf_puts(out, "\nThe longest paths; waits have no length:\n");
	for (size_t i = 0; i < n; i++) {
		buf_printf(out, "%3zu  %8s  ", i + 1, lifewords_time(time, p[i].length));
		put_path(out, w, &p[i]);
	}
	return out->failed ? -ERR_NOMEM : 0;
}

/* --- what if */

static void put_change(struct buf *out, const struct network *w, const struct netretime_change *c)
{
	char a[NETWORK_NAME_BYTES], b[NETWORK_NAME_BYTES], was[LIFEWORDS_TIME_BYTES],
		is[LIFEWORDS_TIME_BYTES];
	struct network_arc arc;

	network_arc(w, c->head, c->is_ending, &arc);
	buf_printf(out, "%s to %s of sub-task %" PRIu64 ": %s in place of %s\n",
		   network_name(w, arc.tail, a), network_name(w, arc.head, b),
		   network_id(w, arc.task), lifewords_time(is, c->length),
		   arc.blocks ? "a wait" : lifewords_time(was, network_length(w, &arc)));
}

int netshow_what_if(struct buf *out, const struct network *w, const struct netretime_change *c,
		    size_t n, const struct netretime *r)
{
	int64_t before = netpath_response(w), saved = before - r->response;
	char is[LIFEWORDS_TIME_BYTES], was[LIFEWORDS_TIME_BYTES], by[LIFEWORDS_TIME_BYTES],
		part[SHARE_BYTES];

	if (saved)
		buf_printf(out, "It would take %s in place of %s: %s (%s) %s.\n",
			   lifewords_time(is, r->response), lifewords_time(was, before),
			   lifewords_time(by, saved < 0 ? -saved : saved),
			   share(part, saved < 0 ? -saved : saved, before),
			   saved < 0 ? "more" : "less");
	else
		buf_printf(out, "It would take %s, as before: another path is as long.\n",
			   lifewords_time(was, before));
	for (size_t i = 0; i < n; i++)
		put_change(out, w, &c[i]);
	buf_printf(out, "Critical path then, %s: ",
		   r->path.is_unique ? "the only one" : "one of several");
	put_path(out, w, &r->path);
	return out->failed ? -ERR_NOMEM : 0;
}

/* --- clocks */

static void clock_row(struct table *t, const struct netclock_pair *p, const char *const *node)
{
	char time[LIFEWORDS_TIME_BYTES];
	bool has_low = p->least != INT64_MIN, has_high = p->most != INT64_MAX;

	table_cell(t, "%s", node[p->a]);
	table_cell(t, "%s", node[p->b]);
	table_cell(t, "%s", has_low ? lifewords_time(time, p->least) : "-");
	table_cell(t, "%s", has_high ? lifewords_time(time, p->most) : "-");
	table_cell(t, "%" PRIu64, p->to_b);
	table_cell(t, "%" PRIu64, p->to_a);
	table_cell(t, "%" PRIu64, p->backward);
}

/* The option that corrects a clock by the middle of its bounds, and the largest error then. */
static void put_remedy(struct buf *out, const struct netclock_pair *p, const char *const *node)
{
	int64_t room = 0, middle;
	char ahead[OPT_NSEC_BYTES], time[LIFEWORDS_TIME_BYTES];

	if (p->least == INT64_MIN || p->most == INT64_MAX || !netclock_agrees(p) ||
	    __builtin_sub_overflow(p->most, p->least, &room))
		return;
	middle = p->least + room / 2;
	buf_printf(out, "--clock %s=%s%s sets %s by %s, within %s.\n", node[p->b],
		   middle < 0 ? "-" : "", opt_from_nsec(ahead, middle < 0 ? -middle : middle),
		   node[p->b], node[p->a], lifewords_time(time, room - room / 2));
}

int netshow_clocks(struct buf *out, const struct netclock *c, const char *const *node)
{
	static const char *const heads[] = { "NODE",  "NODE", "AHEAD AT LEAST", "AT MOST",
					     "THERE", "BACK", "BACKWARD" };
	uint64_t messages = 0, backward = 0, odd = 0;
	struct table *t;

	for (size_t i = 0; i < c->n; i++) {
		messages += c->pair[i].to_a + c->pair[i].to_b;
		backward += c->pair[i].backward;
		odd += !netclock_agrees(&c->pair[i]);
	}
	if (!c->n) {
		buf_puts(out, "No message between two nodes: nothing is known about clocks.\n");
		return 0;
	}
	buf_printf(out,
		   "%" PRIu64 " of %" PRIu64
		   " messages between nodes are received before they are sent, by raw clocks.\n",
		   backward, messages);
	if (odd)
		buf_printf(out,
			   "No constant difference agrees with all messages of %" PRIu64
			   " pairs: clocks drift or were set.\n",
			   odd);
	t = table_new(7, heads, "llrrrrr");
	for (size_t i = 0; t && i < c->n; i++)
		clock_row(t, &c->pair[i], node);
	if (table_end(t, 0, out))
		return -ERR_NOMEM;
	for (size_t i = 0; i < c->n; i++)
		put_remedy(out, &c->pair[i], node);
	return out->failed ? -ERR_NOMEM : 0;
}
