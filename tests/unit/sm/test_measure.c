/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements of a site: hosts receive their pieces, their batches are sent as one frame per read,
 * and nothing counts twice.
 */
#include "common/flow/batch/batch.h"
#include "common/omis/text/status.h"
#include "common/time/timebase.h"
#include "sm/measure/measure.h"
#include "tests/suite.h"
#include "tests/unit/sm/world.h"

#include <math.h>

#define M 7
#define SITE                                                                      \
	"[\"flow\",1,7,[[\"link_in\",0,0,0,[],\"a\",\"read\",0,\"SUM\",0.0,0,1]," \
	"[\"link_in\",0,0,0,[],\"b\",\"read\",0,\"SUM\",0.0,0,1],"                \
	"[\"set\",0,0,0,[0,1],\"SUM\",0.0,0],[\"link_out\",0,0,0,[2],\"up\"]]]"
#define HOST(link)                                                                    \
	"[\"flow\",1,7,[[\"input\",0,0,0,[],\"time\",\"\",\"\",\"\",\"\",0,1,[],[]]," \
	"[\"link_out\",0,0,0,[0],\"" link "\"]]]"

static struct world w;
static struct flow_batch_room room;
static nsec_t start;

static void set_up(void)
{
	world_open(&w);
	start = 0;
}

static void clean_up(void)
{
	world_done(&w);
	flow_batch_room_done(&room);
}

static nsec_t now(void)
{
	return timebase_at(&w.top_time, loop_now(w.loop));
}

static struct bytes text(const char *s)
{
	return (struct bytes){ (const uint8_t *)s, strlen(s) };
}

struct load {
	const char *site, *host[4]; /* NULL: it has no piece */
	nsec_t every;
	uint64_t version, read;
	bool more;
};

static void send_load(const struct load *l)
{
	static const char *const nodes[] = { "n_1", "n_2", "n_3", "n_4" };
	struct msg_flow_piece piece[5];
	struct msg m = { .type = MSG_FLOW_LOAD,
			 .flow_load = { .measurement = M,
					.tool = 1,
					.identity = "omig:tool-observe//me",
					.version = l->version ? l->version : 1,
					.start_ns = start ? start : (start = now()),
					.every_ns = l->every,
					.read = l->read,
					.piece = piece,
					.more = l->more } };
	size_t n = 0;

	if (l->site)
		piece[n++] = (struct msg_flow_piece){ "s_5", text(l->site) };
	for (size_t i = 0; i < 4; i++)
		if (l->host[i])
			piece[n++] = (struct msg_flow_piece){ nodes[i], text(l->host[i]) };
	m.flow_load.npiece = n;
	ck_assert_int_eq(top_send(&w, &m), 0);
	world_run(&w, 10 * MS);
}

static int send_up(struct leaf *l, const struct msg *m)
{
	return l->parent ? parent_send(l->parent, m) : link_send(l->b.link, m);
}

/* The lm confirms its pieces; what: NULL, or the error. */
static void confirm(size_t i, const char *what)
{
	const struct msg *got = messages_next(&w.lm[i].flows, MSG_FLOW_LOAD);
	char node[16];
	struct msg_entry entry = { .objects = node, .status = STATUS_PARAMETER_ERROR };
	struct msg ack = { .type = MSG_FLOW_ACK, .flow_ack = { .measurement = M } };

	ck_assert_ptr_nonnull(got);
	snprintf(node, sizeof(node), "n_%zu", i + 1);
	ck_assert_uint_eq(got->flow_load.npiece, 1);
	ck_assert_str_eq(got->flow_load.piece[0].object, node);
	ck_assert_int_eq(got->flow_load.start_ns, start);
	ck_assert_str_eq(got->flow_load.identity, "omig:tool-observe//me");
	ack.flow_ack.version = got->flow_load.version;
	if (what) {
		entry.value = text(what);
		ack.flow_ack.entry = &entry;
		ack.flow_ack.nentry = 1;
	}
	ck_assert_int_eq(send_up(&w.lm[i], &ack), 0);
	world_run(&w, 10 * MS);
}

static const struct msg_flow_ack *ack(void)
{
	const struct msg *m = messages_next(&w.top.flows, MSG_FLOW_ACK);

	return m ? &m->flow_ack : NULL;
}

/* Host i sends a value for a read. */
static void send_value(size_t i, const char *link, int64_t read, double value)
{
	const struct flow_token t = flow_token_make(read, value, 0, now());
	const struct flow_batch batch = {
		.measurement = M, .link = link, .read = read, .domain = FLOW_READ, .n = 1, .t = &t
	};
	struct buf b = BUF_INIT(1000);
	struct bytes bytes;
	char node[16];
	struct msg m = { .type = MSG_FLOW_BATCH,
			 .flow_batch = { .measurement = M,
					 .read = (uint64_t)read,
					 .time_ns = start + read * SEC,
					 .object = node,
					 .batch = &bytes,
					 .nbatch = 1 } };

	snprintf(node, sizeof(node), "n_%zu", i + 1);
	flow_batch_encode(&b, &batch);
	bytes = (struct bytes){ b.p, b.n };
	ck_assert_int_eq(send_up(&w.lm[i], &m), 0);
	buf_done(&b);
	world_run(&w, 20 * MS);
}

static const struct msg_flow_batch *frame(void)
{
	const struct msg *m = messages_next(&w.top.flows, MSG_FLOW_BATCH);

	return m ? &m->flow_batch : NULL;
}

static struct flow_batch batch_of(const struct msg_flow_batch *f, size_t i)
{
	struct flow_batch b;

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_lt(i, f->nbatch);
	ck_assert_int_eq(flow_batch_decode(&room, f->batch[i].p, f->batch[i].n, &b, NULL), 0);
	ck_assert_int_eq(b.read, (int64_t)f->read);
	ck_assert_uint_eq(b.n, 1);
	return b;
}

static struct flow_token value_of_read(uint64_t read)
{
	const struct msg_flow_batch *f = frame();
	struct flow_batch b;

	ck_assert_ptr_nonnull(f);
	ck_assert_str_eq(f->object, "s_5");
	ck_assert_uint_eq(f->read, read);
	ck_assert_int_eq(f->time_ns, start + (nsec_t)read * SEC);
	ck_assert_uint_eq(f->nbatch, 1);
	b = batch_of(f, 0);
	ck_assert_str_eq(b.link, "up");
	return b.t[0];
}

static void two_hosts(void)
{
	lms_start(&w, 2);
	send_load(&(struct load){ .site = SITE, .host = { HOST("a"), HOST("b") }, .every = SEC });
	confirm(0, NULL);
	confirm(1, NULL);
	ck_assert_ptr_nonnull(ack());
}

TEST(values_of_hosts_become_one_frame_of_the_site)
{
	struct flow_token t;

	two_hosts();
	world_run(&w, SEC);
	send_value(0, "a", 1, 3);
	ck_assert_ptr_null(frame());
	send_value(1, "b", 1, 4);
	t = value_of_read(1);
	ck_assert_double_eq(t.value, 7);
	ck_assert_uint_eq(t.k, 2);
	ck_assert_uint_eq(t.n, 2);
	ck_assert_uint_eq(t.flags, 0);
	world_run(&w, 300 * MS);
	ck_assert_ptr_null(frame());
}

TEST(sm_reports_all_load_errors_in_one_ack)
{
	const struct msg_flow_ack *a;

	lms_start(&w, 2);
	send_load(&(struct load){
		.site = "[]", .host = { HOST("a"), HOST("b"), "nonsense" }, .every = SEC });
	confirm(0, NULL);
	ck_assert_ptr_null(ack());
	confirm(1, "no such thing");
	a = ack();
	ck_assert_ptr_nonnull(a);
	ck_assert_uint_eq(a->version, 1);
	ck_assert_uint_eq(a->nentry, 3);
	ck_assert_str_eq(a->entry[0].objects, "s_5");
	ck_assert_str_eq(a->entry[1].objects, "n_3");
	ck_assert_str_eq(a->entry[2].objects, "n_2");
	ck_assert_ptr_null(ack());
}

TEST(a_branch_that_does_not_confirm_is_reported)
{
	const struct msg_flow_ack *a;

	lms_start(&w, 1);
	send_load(&(struct load){ .site = SITE, .host = { HOST("a") }, .every = SEC });
	world_run(&w, SITE_MEASURES_ACK_MAX_NS + 100 * MS);
	a = ack();
	ck_assert_ptr_nonnull(a);
	ck_assert_uint_eq(a->nentry, 1);
	ck_assert_str_eq(a->entry[0].objects, "n_1");
}

TEST(a_read_does_not_wait_longer_than_its_grace)
{
	struct flow_token t;

	two_hosts();
	world_run(&w, SEC);
	send_value(0, "a", 1, 3);
	world_run(&w, SITE_MEASURES_GRACE_NS);
	t = value_of_read(1);
	ck_assert_double_eq(t.value, 3);
	ck_assert_uint_eq(t.k, 1);
	ck_assert_uint_eq(t.n, 2);
	ck_assert_uint_eq(t.flags & FLOW_PARTIAL, FLOW_PARTIAL);
	/* The late one does not count for a read that was closed, and the next one is whole. */
	send_value(1, "b", 1, 4);
	ck_assert_ptr_null(frame());
	world_run(&w, 400 * MS);
	send_value(0, "a", 2, 5);
	send_value(1, "b", 2, 6);
	ck_assert_double_eq(value_of_read(2).value, 11);
}

TEST(a_lost_host_delays_nothing_and_counts_after_its_return)
{
	struct flow_token t;

	two_hosts();
	lm_stop(&w, 1);
	world_run(&w, SEC);
	send_value(0, "a", 1, 3);
	t = value_of_read(1); /* at once */
	ck_assert_uint_eq(t.k, 1);
	ck_assert_uint_eq(t.n, 2);
	lm_start(&w, 1);
	world_run(&w, 200 * MS);
	ck_assert_uint_eq(w.lm[1].flows.m[1]->flow_load.read, 1);
	confirm(1, NULL);
	ck_assert_ptr_null(ack()); /* no errors and no requests */
	world_run(&w, 700 * MS);
	send_value(0, "a", 2, 3);
	ck_assert_ptr_null(frame());
	send_value(1, "b", 2, 4);
	ck_assert_uint_eq(value_of_read(2).k, 2);
}

TEST(a_frame_that_arrives_twice_counts_once)
{
	two_hosts();
	world_run(&w, SEC);
	send_value(0, "a", 1, 3);
	send_value(0, "a", 1, 3);
	send_value(1, "b", 1, 4);
	ck_assert_double_eq(value_of_read(1).value, 7);
}

TEST(no_host_sends_on_the_link_of_another)
{
	struct flow_token t;

	two_hosts();
	world_run(&w, SEC);
	send_value(0, "b", 1, 100);
	send_value(0, "a", 1, 3);
	world_run(&w, SITE_MEASURES_GRACE_NS);
	t = value_of_read(1);
	ck_assert_double_eq(t.value, 3);
	ck_assert(w.lm[0].b.is_up);
	/* The claim of another host is false. */
	{
		const struct msg m = { .type = MSG_FLOW_BATCH,
				       .flow_batch = {
					       .measurement = M, .read = 2, .object = "n_2" } };

		ck_assert_int_eq(send_up(&w.lm[0], &m), 0);
	}
	world_run(&w, 100 * MS);
	ck_assert(!w.lm[0].b.is_up);
}

TEST(bytes_that_are_no_batch_cut_the_host)
{
	const struct bytes bad = text("nonsense");
	const struct msg m = { .type = MSG_FLOW_BATCH,
			       .flow_batch = { .measurement = M,
					       .read = 1,
					       .object = "n_1",
					       .batch = &bad,
					       .nbatch = 1 } };

	two_hosts();
	ck_assert_int_eq(send_up(&w.lm[0], &m), 0);
	world_run(&w, 100 * MS);
	ck_assert(!w.lm[0].b.is_up);
	ck_assert(w.lm[1].b.is_up);
}

TEST(a_host_is_ordered_to_end_an_unknown_measurement)
{
	lms_start(&w, 1);
	start = now();
	send_value(0, "a", 1, 3);
	ck_assert_ptr_nonnull(messages_next(&w.lm[0].flows, MSG_FLOW_END));
	ck_assert(w.lm[0].b.is_up);
}

TEST(new_version_is_sent_only_to_hosts_with_a_change)
{
	two_hosts();
	send_load(
		&(struct load){ .site = SITE, .host = { HOST("a") }, .every = SEC, .version = 2 });
	ck_assert_ptr_null(messages_next(&w.lm[0].flows, MSG_FLOW_LOAD));
	ck_assert_ptr_nonnull(messages_next(&w.lm[1].flows, MSG_FLOW_END));
	ck_assert_uint_eq(ack()->version, 2);
	world_run(&w, SEC);
	send_value(0, "a", 1, 3);
	ck_assert_double_eq(value_of_read(1).value, 3);
}

TEST(a_load_in_parts_is_one_load)
{
	lms_start(&w, 2);
	send_load(
		&(struct load){ .site = SITE, .host = { HOST("a") }, .every = SEC, .more = true });
	ck_assert_ptr_null(messages_next(&w.lm[0].flows, MSG_FLOW_LOAD));
	send_load(&(struct load){ .host = { NULL, HOST("b") }, .every = SEC });
	confirm(0, NULL);
	confirm(1, NULL);
	ck_assert_uint_eq(ack()->nentry, 0);
	ck_assert_ptr_null(ack());
}

TEST(a_requested_read_is_sent_down_and_its_data_up)
{
	struct msg m = { .type = MSG_FLOW_READ, .flow_read = { .measurement = M, .read = 4 } };

	lms_start(&w, 2);
	send_load(&(struct load){ .site = SITE, .host = { HOST("a"), HOST("b") } });
	world_run(&w, 4 * SEC);
	ck_assert_ptr_null(frame());
	m.flow_read.time_ns = start + 4 * SEC;
	ck_assert_int_eq(top_send(&w, &m), 0);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(messages_next(&w.lm[0].flows, MSG_FLOW_READ)->flow_read.read, 4);
	ck_assert_ptr_nonnull(messages_next(&w.lm[1].flows, MSG_FLOW_READ));
	send_value(0, "a", 4, 3);
	send_value(1, "b", 4, 4);
	ck_assert_double_eq(value_of_read(4).value, 7);
	world_run(&w, 2 * SEC);
	ck_assert_ptr_null(frame());
}

TEST(final_frames_wait_for_mainsm_to_load_again)
{
	two_hosts();
	world_run(&w, SEC);
	link_close(w.top.up.link, "cut");
	for (int64_t r = 1; r <= 3; r++) {
		send_value(0, "a", r, (double)r);
		send_value(1, "b", r, 1);
		world_run(&w, 960 * MS);
	}
	for (int i = 0; i < 100 && !w.top.up.link; i++)
		world_run(&w, 100 * MS);
	ck_assert_ptr_nonnull(w.top.up.link);
	ck_assert_ptr_null(frame());
	send_load(&(struct load){ .site = SITE, .host = { HOST("a"), HOST("b") }, .every = SEC });
	for (uint64_t read = 1; read <= 3; read++)
		ck_assert_double_eq(value_of_read(read).value, (double)read + 1);
}

TEST(its_tools_end_is_its_own)
{
	two_hosts();
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { 1 } }),
			 0);
	world_run(&w, 5 * SEC);
	ck_assert_ptr_nonnull(messages_next(&w.lm[0].flows, MSG_FLOW_END));
	ck_assert_ptr_nonnull(messages_next(&w.lm[1].flows, MSG_FLOW_END));
	ck_assert_ptr_null(frame());
}

static void two_hosts_below(nsec_t every)
{
	below_start(&w, 0, NULL);
	world_run(&w, SEC);
	lm_climb(&w, 0);
	lm_climb(&w, 1);
	world_run(&w, SEC);
	ck_assert_uint_eq(below_counts(&w, 0).lms, 2);
	send_load(&(struct load){ .site = SITE, .host = { HOST("a"), HOST("b") }, .every = every });
	confirm(0, NULL);
	confirm(1, NULL);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(ack()->nentry, 0);
}

TEST(an_sm_below_passes_on_what_its_hosts_send_in_one_frame)
{
	two_hosts_below(SEC);
	world_run(&w, SEC);
	send_value(0, "a", 1, 3);
	ck_assert_ptr_null(frame());
	send_value(1, "b", 1, 4);
	ck_assert_double_eq(value_of_read(1).value, 7);
	below_kill(&w, 0);
	for (int i = 0; i < 100 && (w.lm[0].flows.n < 2 || w.lm[1].flows.n < 2); i++)
		world_run(&w, 100 * MS);
	confirm(0, NULL); /* they have moved to the upper sm, which had the pieces */
	confirm(1, NULL);
	messages_done(&w.top.flows);
	{
		int64_t r = (now() - start) / SEC + 1;

		world_run(&w, start + r * SEC - now());
		send_value(0, "a", r, 5);
		send_value(1, "b", r, 6);
		while (w.top.flows.seen + 1 < w.top.flows.n)
			w.top.flows.seen++;
		ck_assert_double_eq(value_of_read((uint64_t)r).value, 11);
	}
}

TEST(flow_ends_at_unnamed_hosts_below_another_sm)
{
	two_hosts_below(SEC);
	send_load(
		&(struct load){ .site = SITE, .host = { HOST("a") }, .every = SEC, .version = 2 });
	world_run(&w, 100 * MS);
	ck_assert_ptr_null(messages_next(&w.lm[0].flows, MSG_FLOW_END));
	ck_assert_ptr_nonnull(messages_next(&w.lm[1].flows, MSG_FLOW_END));
	send_load(&(struct load){ .site = SITE, .every = SEC, .version = 3 });
	world_run(&w, 100 * MS);
	ck_assert_ptr_nonnull(messages_next(&w.lm[0].flows, MSG_FLOW_END));
}

#define FAR_AHEAD (INT64_C(1) << 30) /* times SEC it is still a time */

static void ask_for_read(uint64_t read)
{
	const struct msg m = { .type = MSG_FLOW_READ,
			       .flow_read = { .measurement = M,
					      .read = read,
					      .time_ns = start + (nsec_t)read * SEC } };

	ck_assert_int_eq(top_send(&w, &m), 0);
	world_run(&w, 20 * MS);
}

/*
 * An sm without a piece of its own reads the number of a read from its hosts. It closes a read for
 * each host separately.
 */
TEST(no_host_ends_the_reads_of_its_neighbours)
{
	two_hosts_below(0);
	for (uint64_t r = 1; r <= 3; r++) {
		send_value(1, "b", FAR_AHEAD, 4);
		send_value(1, "b", (int64_t)r + 1, 4); /* is not requested yet */
		ask_for_read(r);
		ck_assert_ptr_nonnull(messages_next(&w.lm[0].flows, MSG_FLOW_READ));
		send_value(0, "a", (int64_t)r, 3);
		send_value(1, "b", (int64_t)r, 4);
		ck_assert_double_eq(value_of_read(r).value, 7);
	}
}

/* The start of one host does not apply to another one. */
TEST(no_host_moves_the_reads_of_its_neighbours)
{
	const struct msg *m;

	two_hosts_below(SEC);
	world_run(&w, SEC);
	send_value(1, "b", FAR_AHEAD, 4);
	send_value(0, "a", 1, 3);
	send_value(1, "b", 1, 4);
	ck_assert_double_eq(value_of_read(1).value, 7);
	send_load(&(struct load){
		.site = SITE, .host = { HOST("a") " ", HOST("b") }, .every = SEC, .version = 2 });
	world_run(&w, 10 * MS);
	m = messages_next(&w.lm[0].flows, MSG_FLOW_LOAD);
	ck_assert_ptr_nonnull(m);
	ck_assert_uint_eq(m->flow_load.read, 1);
}

SUITE_WITH("flows", set_up, clean_up)
