/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation in turn fails: the sm continues, and works when memory is back. */
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/sm/world.h"

#include "sm/hosts/objects.h"

static struct world w;

TEST(opening_fails_cleanly_or_succeeds)
{
	struct err e = { 0 };
	int rc;

	world_open(&w);
	world_stop_sm(&w);
	world_start_sm(&w);
	world_stop_sm(&w);
	ck_assert_int_eq(mem_ctx_open(w.net, &w.lm[3].b.id, &w.ctx, NULL), 0);
	w.conf.ctx = w.ctx;
	ALLOC_SWEEP (k) {
		struct sm *sm = NULL;

		rc = sm_open(&w.conf, &sm, &e);
		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM || rc == -ERR_LIMIT);
		ck_assert(!rc || sm == NULL);
		sm_free(sm);
		world_run(&w, MS);
	}
	net_ctx_free(w.ctx);
	w.ctx = NULL;
	world_done(&w);
}

/*
 * The fakes allocate too: only the first turns after their messages are swept, with all that the sm
 * does.
 */
static void sweep_message(const struct msg *m, bool from_top)
{
	ALLOC_SWEEP (k) {
		alloc_sweep_pause();
		if (!w.top.up.link || !w.lm[0].b.is_up || !w.lm[1].b.is_up)
			world_run(&w, 20 * SEC);
		if (from_top)
			top_send(&w, m);
		else
			lm_send(&w.lm[0], m);
		w.lm[0].b.is_mute = w.lm[1].b.is_mute = true;
		w.lm[0].b.no_ack = w.lm[1].b.no_ack = true;
		alloc_sweep_arm(k);
		loop_turn(w.loop);
		loop_turn(w.loop);
		loop_turn(w.loop);
	}
	alloc_sweep_pause();
	w.lm[0].b.is_mute = w.lm[1].b.is_mute = false;
	w.lm[0].b.no_ack = w.lm[1].b.no_ack = false;
	world_run(&w, 30 * SEC);
	ck_assert_uint_eq(reply_status(top_ask(&w, ":node_get_info([n_1,n_2],1)", SEC)), STATUS_OK);
}

TEST(messages_are_lost_or_done_and_the_sm_continues)
{
	static const char text[] =
		":node_get_info([n_1],1) ; omig_pa_create([p_2_000001],pa_cl_1) omig_status()";
	static const char event[] =
		"thread_has_started_lib_call([p_1_000001,p_2_000001],\"MPI_Send\"): print([$time])";
	static const uint32_t numbers[] = { 1, 2, 3 };
	static const struct msg_object o = { .token = "p_1_000009",
					     .parent = "n_1",
					     .name = "new" };
	struct msg m = { .type = MSG_REQUEST };

	world_open(&w);
	lms_start(&w, 2);
	m.request = (struct msg_request){ .id = 1,
					  .identity = "x",
					  .right = OMIS_MANIPULATE,
					  .deadline_ns = 10 * MS,
					  .text = { (const uint8_t *)text, sizeof(text) - 1 },
					  .action = numbers,
					  .naction = 3 };
	sweep_message(&m, true);
	m.type = MSG_ARM;
	m.arm = (struct msg_arm){ .csr = "c_1",
				  .tool = 3,
				  .identity = "x",
				  .version = 1,
				  .text = { (const uint8_t *)event, sizeof(event) - 1 } };
	sweep_message(&m, true);
	m.type = MSG_DIRECTORY;
	m.directory = (struct msg_directory){ .node = 1, .object = &o, .nobject = 1 };
	sweep_message(&m, false);
	ck_assert_ptr_nonnull(top_find(&w, "p_1_000009"));
	world_done(&w);
}

static int count_objects(void *arg, const struct msg_directory *m)
{
	size_t *n = arg;

	*n += m->nobject;
	return 0;
}

TEST(objects_are_whole_or_not_there)
{
	const struct msg_object o[] = {
		{ .token = "p_1_000001",
		  .parent = "n_1",
		  .name = "a",
		  .job = "",
		  .flavour = "",
		  .host = "",
		  .site = "" },
		{ .token = "t_1_000001",
		  .parent = "p_1_000001",
		  .name = "b",
		  .job = "",
		  .flavour = "",
		  .host = "",
		  .site = "" },
		{ .token = "p_1_000001",
		  .parent = "n_1",
		  .name = "c",
		  .job = "",
		  .flavour = "",
		  .host = "",
		  .site = "" },
	};
	const struct msg_directory m = { .full = true, .node = 1, .object = o, .nobject = 3 };
	struct objects_total total = { 0 };

	ALLOC_SWEEP (k) {
		struct objects *x = objects_new(1, "a", "h1", &total);
		size_t told = 0;
		const struct objects_sink sink = { count_objects, &told };
		bool left = false;
		int rc = x ? objects_apply(x, &m, &left, NULL) : -ERR_NOMEM;
		int said = rc ? rc : objects_notify(x, &o[0], &sink);

		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		ck_assert(!x || objects_count(x) == total.n);
		ck_assert(said || told == 3);
		objects_free(x);
		ck_assert_uint_eq(total.n, 0);
		ck_assert_uint_eq(total.bytes, 0);
	}
}

SUITE("sm memory")
