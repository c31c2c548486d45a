/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of arcs: those of a peer go into the top of a tree, with a good interaction beside them.
 * Nothing crashes, and the good one is counted unless the peer names its sub-tasks.
 */
#include "interaction/online/netonline.h"

#include <stdlib.h>

#define GOOD_TASK 0x4f6d6967676f6f64ull

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void demand(int truth)
{
	if (!truth)
		abort();
}

static struct netuse *declare(void)
{
	struct netuse *u = netuse_new();
	uint32_t object[3];
	struct err e;

	demand(u != NULL);
	for (int i = 0; i < 3; i++)
		demand(!netuse_object(u, (char[]){ (char)('a' + i), 0 }, 1, &object[i], &e) &&
		       !netuse_declare(u, object[i], i ? NETUSE_LOCAL : NETUSE_INHERIT, &e));
	demand(!netuse_add_state(u, "ab", object, 2, &e));
	demand(!netuse_add_member(u, object + 1, 1, &e));
	demand(!netuse_add_member(u, object + 2, 1, &e));
	return u;
}

static void discard(void *arg, struct bytes batch)
{
	struct err e;

	demand(!netonline_take(arg, batch, &e));
}

static struct netonline *make(bool is_top, void *arg)
{
	struct netonline_plan plan = { .sender = !is_top,
				       .most = 1000,
				       .grace_ns = 10,
				       .timeout_ns = 100,
				       .send = is_top ? NULL : discard,
				       .arg = arg };
	struct netuse *u = declare();
	struct netonline *o;
	struct err e;

	demand(!netonline_new(&u, &plan, &o, &e));
	return o;
}

/* A short interaction of one sub-task that uses c. */
static void add_good(struct netonline *top)
{
	struct network_use use = { 2, false, false };
	struct network_event ev = { .kind = NETWORK_SOURCE,
				    .task = GOOD_TASK,
				    .node = NETWORK_NONE,
				    .use = &use,
				    .nuse = 1 };
	struct err e;

	demand(!netonline_add(top, &ev, "good", &e));
	ev = (struct network_event){
		.kind = NETWORK_SINK, .task = GOOD_TASK, .t = 5, .node = NETWORK_NONE
	};
	demand(!netonline_add(top, &ev, NULL, &e));
}

/* The input, as batches with two bytes of length before each. */
static void take_all(struct netonline *o, const uint8_t *p, size_t n)
{
	struct err e = { 0 };

	for (size_t at = 0, k; at + 2 <= n; at += 2 + k) {
		k = p[at] | (size_t)p[at + 1] << 8;
		k = k < n - at - 2 ? k : n - at - 2;
		if (netonline_take(o, bytes_at(p + at + 2, k), &e))
			demand(e.text[0] != '\0');
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct netonline *top = make(true, NULL), *middle = make(false, top);
	struct err e;

	/* the middle contracts what it gets, and its batches are well-formed in any case */
	take_all(middle, p, n);
	take_all(top, p, n);
	demand(!netonline_tick(middle, 1000, &e));
	add_good(top);
	demand(!netonline_end(top, &e));
	demand(netonline_report(top).batches_bad || netonline_total(top)->response.n ||
	       netonline_report(top).wrong || netonline_report(top).evicted);
	netonline_free(middle);
	netonline_free(top);
	return 0;
}
