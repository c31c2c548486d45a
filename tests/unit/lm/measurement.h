/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of measurements on a host: an lm with two ranks, a measurement of one metric, its
 * frames. */
#ifndef TESTS_UNIT_LM_MEASUREMENT_H
#define TESTS_UNIT_LM_MEASUREMENT_H

#include "common/flow/batch/batch.h"
#include "common/time/timebase.h"
#include "tests/unit/lm/two_ranks.h"

#define M 7

static struct flow_batch_room room;
static nsec_t start;

static inline void set_up(void)
{
	open_ranks();
	above_skip_all(&w.mainsm);
}

static inline void clean_up(void)
{
	close_ranks();
	flow_batch_room_done(&room);
	room = (struct flow_batch_room){ 0 };
}

static inline nsec_t now(void)
{
	return timebase_at(&w.time, loop_now(w.loop));
}

/* One metric of one process, up by the link "up". */
static inline const char *graph_of(const char *metric, const char *process, const char *partners)
{
	static char text[1024];

	snprintf(
		text, sizeof(text),
		"[\"flow\",1,%d,[[\"input\",0,0,0,[],\"metric\",\"%s\",\"%s\",\"\",\"\",0,1,[%s],[]],"
		"[\"link_out\",0,0,0,[0],\"up\"]]]",
		M, metric, process, partners);
	return text;
}

/* The same since the last read. */
static inline const char *since_last(const char *metric, const char *process)
{
	static char text[1024];

	snprintf(
		text, sizeof(text),
		"[\"flow\",1,%d,[[\"input\",0,0,0,[],\"metric\",\"%s\",\"%s\",\"\",\"\",0,0,[],[]],"
		"[\"delta\",0,0,0,[0],0],[\"link_out\",0,0,0,[1],\"up\"]]]",
		M, metric, process);
	return text;
}

struct load {
	const char *graph, *identity;
	nsec_t every;
	uint64_t read, version;
};

static inline const struct msg_flow_ack *load(const struct load *l)
{
	const struct msg_flow_piece piece = { "n_7",
					      { (const uint8_t *)l->graph, strlen(l->graph) } };
	const struct msg m = { .type = MSG_FLOW_LOAD,
			       .flow_load = { .measurement = M,
					      .tool = 1,
					      .identity = l->identity ? l->identity : OBSERVER,
					      .version = l->version ? l->version : 1,
					      .start_ns = start,
					      .every_ns = l->every,
					      .read = l->read,
					      .piece = &piece,
					      .npiece = 1 } };
	const struct msg *ack;

	above_send(&w.mainsm, &m);
	world_run(&w, 5 * MS);
	ack = above_next(&w.mainsm, MSG_FLOW_ACK);
	ck_assert_ptr_nonnull(ack);
	ck_assert_uint_eq(ack->flow_ack.measurement, M);
	return &ack->flow_ack;
}

static inline const struct msg_flow_ack *load_metric(const char *metric)
{
	start = now();
	return load(&(struct load){ .graph = graph_of(metric, rank0, ""), .every = SEC });
}

/* The next frame; NULL: there is none. */
static inline const struct msg_flow_batch *frame(void)
{
	const struct msg *m = above_next(&w.mainsm, MSG_FLOW_BATCH);

	return m ? &m->flow_batch : NULL;
}

static inline struct flow_token token_of(const struct msg_flow_batch *f)
{
	struct flow_batch b;
	struct err e = { 0 };

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(f->measurement, M);
	ck_assert_str_eq(f->object, "n_7");
	ck_assert_uint_eq(f->nbatch, 1);
	ck_assert_msg(!flow_batch_decode(&room, f->batch[0].p, f->batch[0].n, &b, &e), "%s",
		      e.text);
	ck_assert_str_eq(b.link, "up");
	ck_assert_int_eq(b.read, (int64_t)f->read);
	ck_assert_uint_eq(b.n, 1);
	return b.t[0];
}

/* The value of the next frame, which is of that read. */
static inline struct flow_token value_of_read(uint64_t read)
{
	const struct msg_flow_batch *f = frame();

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(f->read, read);
	return token_of(f);
}

#endif
