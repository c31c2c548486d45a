/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements of a site whose links are mostly 0: hosts send these in one batch, and the sm sends
 * them on in one.
 */
#include "common/base/array.h"
#include "common/flow/batch/batch.h"
#include "common/flow/batch/rest.h"
#include "common/time/timebase.h"
#include "sm/measure/measure.h"
#include "tests/suite.h"
#include "tests/unit/sm/world.h"

#define M 7

static struct world w;
static struct flow_batch_room room;
static nsec_t start;
static struct buf graph[2]; /* of the host, of the site */

static void set_up(void)
{
	world_open(&w);
}

static void clean_up(void)
{
	world_done(&w);
	flow_batch_room_done(&room);
	buf_done(&graph[0]);
	buf_done(&graph[1]);
}

static nsec_t now(void)
{
	return timebase_at(&w.top_time, loop_now(w.loop));
}

/* The sm and its host n_1 get a piece each. */
static void load(const char *site, const char *host)
{
	const struct msg_flow_piece piece[] = { { "s_5", { (const uint8_t *)site, strlen(site) } },
						{ "n_1",
						  { (const uint8_t *)host, strlen(host) } } };

	lms_start(&w, 1);
	start = now();
	ck_assert_int_eq(
		top_send(&w, &(struct msg){ .type = MSG_FLOW_LOAD,
					    .flow_load = { .measurement = M,
							   .tool = 1,
							   .identity = "omig:tool-observe//me",
							   .version = 1,
							   .start_ns = start,
							   .every_ns = SEC,
							   .piece = piece,
							   .npiece = 2 } }),
		0);
	world_run(&w, 10 * MS);
}

static const struct msg_flow_batch *frame(void)
{
	const struct msg *m = messages_next(&w.top.flows, MSG_FLOW_BATCH);

	return m ? &m->flow_batch : NULL;
}

static struct flow_batch batch_of(const struct msg_flow_batch *f, size_t i)
{
	struct flow_batch b;

	ck_assert_uint_lt(i, f->nbatch);
	ck_assert_int_eq(flow_batch_decode(&room, f->batch[i].p, f->batch[i].n, &b, NULL), 0);
	return b;
}

#define LINKS 20

/* Links l0, l1, ... of inputs of a host, and of the site, which sends each on. */
static const char *many_links(bool is_site)
{
	struct buf *b = &graph[is_site];

	*b = BUF_INIT(1 << 16);
	buf_puts(b, "[\"flow\",1,7,[");
	for (int i = 0; i < LINKS; i++) {
		buf_puts(b, i ? "," : "");
		if (is_site)
			buf_printf(b, "[\"link_in\",0,0,0,[],\"l%d\",\"read\",0,\"SUM\",0.0,0,1],",
				   i);
		else
			buf_puts(b, "[\"input\",0,0,0,[],\"time\",\"\",\"\",\"\",\"\",0,1,[],[]],");
		buf_printf(b, "[\"link_out\",0,0,0,[%d],\"%s%d\"]", 2 * i, is_site ? "u" : "l", i);
	}
	buf_puts(b, "]]");
	return buf_str(b);
}

struct packing {
	struct buf bytes[LINKS];
	struct bytes batch[LINKS];
	size_t n;
};

static void pack(void *arg, const struct flow_batch *b)
{
	struct packing *p = arg;

	p->bytes[p->n] = BUF_INIT(1000);
	flow_batch_encode(&p->bytes[p->n], b);
	p->batch[p->n] = (struct bytes){ p->bytes[p->n].p, p->bytes[p->n].n };
	p->n++;
}

/* All but link 3, which is 5, are 0. */
static void send_rest(int64_t read)
{
	struct flow_rest rest = { .n = 0 };
	struct packing p = { .n = 0 };
	struct msg m = { .type = MSG_FLOW_BATCH };

	for (int i = 0; i < LINKS; i++) {
		static char name[LINKS][8];
		const struct flow_token t = flow_token_make(read, i == 3 ? 5 : 0, 0, now());
		const struct flow_batch b = { .measurement = M,
					      .link = name[i],
					      .read = read,
					      .domain = FLOW_READ,
					      .n = 1,
					      .t = &t };

		snprintf(name[i], sizeof(name[i]), "l%d", i);
		if (!flow_rest_take(&rest, &b))
			pack(&p, &b);
	}
	flow_rest_give(&rest, pack, &p);
	ck_assert_uint_eq(p.n, 2);
	m.flow_batch =
		(struct msg_flow_batch){ M, (uint64_t)read, start + read * SEC, "n_1", p.batch, p.n,
					 0 };
	ck_assert_int_eq(w.lm[0].parent ? parent_send(w.lm[0].parent, &m)
					: link_send(w.lm[0].b.link, &m),
			 0);
	for (size_t i = 0; i < p.n; i++)
		buf_done(&p.bytes[i]);
	world_run(&w, 20 * MS);
}

TEST(links_with_value_0_are_sent_together)
{
	const char *site = many_links(true), *host = many_links(false);
	const struct msg_flow_batch *f;
	struct flow_batch b;

	load(site, host);
	world_run(&w, start + SEC - now());
	send_rest(1);
	f = frame();
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(f->nbatch, 2);
	b = batch_of(f, 0);
	ck_assert_str_eq(b.link, "u3");
	ck_assert_double_eq(b.t[0].value, 5);
	b = batch_of(f, 1);
	ck_assert_uint_eq(b.rest, LINKS - 1);
	ck_assert_double_eq(b.t[0].value, 0);
	ck_assert(b.t[0].k == 1 && b.t[0].n == 1);
	send_rest(1); /* again: it counts once */
	ck_assert_ptr_null(frame());
}

SUITE_WITH("flows of zeros", set_up, clean_up)
