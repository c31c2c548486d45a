/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/interaction/weave/woven.h"

#include "interaction/netanalysis.h"
#include "interaction/set/netsplit.h"
#include "tests/suite.h"

#include <stdio.h>
#include <string.h>

struct woven woven;
static struct netuse *u;
static struct netsplit *split;

static int on_vertex(void *arg, const struct network_event *ev, const char *name, struct err *x)
{
	(void)arg;
	return netsplit_add(split, ev, name, x);
}

static void note_path(const struct network *w)
{
	struct netanalysis a;
	struct buf b = BUF_INIT(sizeof(woven.use));

	ck_assert_int_eq(netanalysis_run(w, &a, &woven.e), 0);
	woven.response = a.path.length;
	woven.is_unique = a.path.is_unique;
	for (size_t i = 0; i < a.spent.nuse; i++) {
		if (!a.spent.use[i].ns)
			continue;
		netuse_put(w->use, a.spent.use[i].of, &b);
		buf_printf(&b, ":%lld ", (long long)a.spent.use[i].ns);
	}
	snprintf(woven.use, sizeof(woven.use), "%s", buf_str(&b));
	buf_done(&b);
	netanalysis_done(&a);
}

static int on_part(void *arg, const struct netsplit_part *p, struct err *x)
{
	size_t n = strlen(woven.names);

	(void)arg;
	snprintf(woven.names + n, sizeof(woven.names) - n, "%s;", p->name);
	if (p->outcome != NETSPLIT_WHOLE || network_build(p->w, x)) {
		woven.nunfit++;
		snprintf(woven.why, sizeof(woven.why), "%s: %s %s", p->name,
			 p->why ? p->why->text : "", x->text);
		return 0;
	}
	woven.nwhole++;
	note_path(p->w);
	return 0;
}

void woven_begin(enum netweave_mode mode)
{
	*woven.use = *woven.names = *woven.why = '\0';
	woven.response = -1;
	woven.nwhole = woven.nunfit = 0;
	u = netuse_new();
	split = netsplit_new(u, NETSPLIT_VERTICES_MAX, on_part, NULL);
	woven.weave = netweave_new(u, mode, on_vertex, NULL);
	ck_assert_ptr_nonnull(woven.weave);
}

void woven_add(unsigned rank, struct netweave_event ev)
{
	struct netweave_thread t = { .key = rank + 1, .node = rank % 2, .job = "job" };

	snprintf(t.label, sizeof(t.label), "rank%u", rank);
	ck_assert_int_eq(netweave_add(woven.weave, &t, &ev, &woven.e), 0);
}

void woven_finish(void)
{
	ck_assert_int_eq(netweave_end(woven.weave, &woven.e), 0);
	ck_assert_int_eq(netsplit_end(split, &woven.e), 0);
}

void woven_end(void)
{
	netweave_free(woven.weave);
	netsplit_free(split);
	netuse_free(u);
}

void woven_send(unsigned rank, int64_t t, uint64_t id)
{
	woven_add(rank, (struct netweave_event){ .kind = NETWEAVE_SEND, .t = t, .id = id });
}

void woven_sent(unsigned rank, int64_t t, uint64_t id)
{
	woven_add(rank, (struct netweave_event){ .kind = NETWEAVE_SENT, .t = t, .id = id });
}

void woven_wait(unsigned rank, int64_t t)
{
	woven_add(rank, (struct netweave_event){ .kind = NETWEAVE_WAIT, .t = t });
}

void woven_receive(unsigned rank, int64_t t, uint64_t id)
{
	woven_add(rank, (struct netweave_event){ .kind = NETWEAVE_RECEIVE, .t = t, .id = id });
}

void woven_meet(unsigned rank, int64_t t, int32_t ranks, int32_t roles)
{
	woven_add(
		rank,
		(struct netweave_event){
			.kind = NETWEAVE_MEET, .t = t, .id = 77, .ranks = ranks, .roles = roles });
}

void woven_mark(unsigned rank, int64_t t, enum netweave_kind kind, uint64_t number)
{
	woven_add(rank, (struct netweave_event){ .kind = kind,
						 .t = t,
						 .id = number,
						 .has_number = true,
						 .name = "step",
						 .n = 4 });
}

void woven_region(unsigned rank, int64_t t, bool is_end)
{
	woven_add(rank, (struct netweave_event){ .kind = NETWEAVE_REGION,
						 .t = t,
						 .is_end = is_end,
						 .name = "work",
						 .n = 4 });
}
