/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a measurement on their way up, and what a branch may have missed. */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "tests/suite.h"
#include "tree/flowbox.h"
#include "tree/missed.h"

#include <stdlib.h>
#include <string.h>

#define SENT_MAX 400

/* Frames that a parent received while it was connected. */
static struct {
	bool is_away;
	size_t n, batches;
	struct {
		uint64_t read, dropped;
		nsec_t time;
		size_t nbatch, bytes;
		char object[32];
		uint8_t first;
	} frame[SENT_MAX];
} parent;

static int send(void *arg, const struct msg *m)
{
	const struct msg_flow_batch *f = &m->flow_batch;

	if (parent.is_away)
		return -1;
	ck_assert_uint_eq(m->type, MSG_FLOW_BATCH);
	ck_assert_uint_eq(f->measurement, 7);
	ck_assert_uint_lt(parent.n, SENT_MAX);
	parent.frame[parent.n].read = f->read;
	parent.frame[parent.n].dropped = f->dropped;
	parent.frame[parent.n].time = f->time_ns;
	parent.frame[parent.n].nbatch = f->nbatch;
	parent.frame[parent.n].bytes = 0;
	for (size_t i = 0; i < f->nbatch; i++)
		parent.frame[parent.n].bytes += f->batch[i].n;
	parent.frame[parent.n].first = f->nbatch && f->batch[0].n ? f->batch[0].p[0] : 0;
	snprintf(parent.frame[parent.n].object, sizeof(parent.frame[0].object), "%s", f->object);
	parent.batches += f->nbatch;
	parent.n++;
	return 0;
}

static struct flowbox *box;

static void set_up(void)
{
	memset(&parent, 0, sizeof(parent));
	box = flowbox_new(&(struct flowbox_conf){ 7, send, NULL });
	ck_assert_ptr_nonnull(box);
}

static void clean_up(void)
{
	flowbox_free(box);
}

/* A read with one batch of n bytes. */
static void add_read(uint64_t read, size_t n)
{
	static uint8_t bytes[FRAME_MAX_BYTES + 1];

	memset(bytes, (int)read, n);
	flowbox_begin(box, read, (nsec_t)read * 10, "n_1");
	flowbox_add_bytes(box, bytes, n);
	flowbox_end(box);
}

TEST(a_read_is_one_frame_with_its_time_and_object)
{
	flowbox_begin(box, 3, 30, "n_1");
	flowbox_add_bytes(box, "abc", 3);
	flowbox_add_bytes(box, "de", 2);
	flowbox_flush(box);
	ck_assert_uint_eq(parent.n, 0); /* it is not whole */
	flowbox_end(box);
	ck_assert_uint_eq(flowbox_counts(box).waiting, 1);
	flowbox_flush(box);
	ck_assert_uint_eq(parent.n, 1);
	ck_assert_uint_eq(parent.frame[0].read, 3);
	ck_assert_int_eq(parent.frame[0].time, 30);
	ck_assert_str_eq(parent.frame[0].object, "n_1");
	ck_assert_uint_eq(parent.frame[0].nbatch, 2);
	ck_assert_uint_eq(parent.frame[0].bytes, 5);
	ck_assert_uint_eq(parent.frame[0].first, 'a');
	ck_assert_uint_eq(parent.frame[0].dropped, 0);
	ck_assert_uint_eq(flowbox_counts(box).frames, 1);
	ck_assert_uint_eq(flowbox_counts(box).bytes, 5);
	ck_assert_uint_eq(flowbox_counts(box).waiting, 0);
	flowbox_end(box); /* nothing was begun */
	flowbox_flush(box);
	ck_assert_uint_eq(parent.n, 1);
}

TEST(new_read_drops_an_unfinished_frame)
{
	flowbox_begin(box, 3, 30, "n_1");
	flowbox_add_bytes(box, "abc", 3);
	flowbox_begin(box, 4, 40, "");
	flowbox_end(box);
	flowbox_flush(box);
	ck_assert_uint_eq(parent.n, 1);
	ck_assert_uint_eq(parent.frame[0].read, 4);
	ck_assert_uint_eq(parent.frame[0].nbatch, 0);
}

TEST(frames_wait_for_a_parent_in_their_order)
{
	parent.is_away = true;
	for (uint64_t i = 1; i <= 5; i++) {
		add_read(i, 10);
		flowbox_flush(box);
	}
	ck_assert_uint_eq(flowbox_counts(box).waiting, 5);
	ck_assert_uint_eq(flowbox_counts(box).frames, 0);
	parent.is_away = false;
	flowbox_flush(box);
	ck_assert_uint_eq(parent.n, 5);
	for (uint64_t i = 0; i < 5; i++) {
		ck_assert_uint_eq(parent.frame[i].read, i + 1);
		ck_assert_uint_eq(parent.frame[i].dropped, 0);
	}
	ck_assert_uint_eq(flowbox_counts(box).bytes, 50);
}

TEST(the_oldest_frames_make_room_and_are_counted_once)
{
	size_t kept;

	parent.is_away = true;
	for (uint64_t i = 1; i <= SENT_MAX / 2; i++)
		add_read(i, 1);
	kept = flowbox_counts(box).waiting;
	ck_assert_uint_lt(kept, SENT_MAX / 2);
	parent.is_away = false;
	flowbox_flush(box);
	ck_assert_uint_eq(parent.n, kept);
	ck_assert_uint_eq(parent.frame[0].read, SENT_MAX / 2 - kept + 1);
	ck_assert_uint_eq(parent.frame[0].dropped, SENT_MAX / 2 - kept);
	ck_assert_uint_eq(parent.frame[1].dropped, 0);
	flowbox_add_dropped(box, 3);
	flowbox_add_dropped(box, 4);
	add_read(1000, 1);
	flowbox_flush(box);
	ck_assert_uint_eq(parent.frame[kept].dropped, 7);
}

TEST(a_large_read_goes_in_several_frames_of_one_read)
{
	static uint8_t part[FRAME_MAX_BYTES / 4];

	flowbox_begin(box, 9, 90, "n_1");
	for (int i = 0; i < 7; i++)
		flowbox_add_bytes(box, part, sizeof(part));
	flowbox_end(box);
	flowbox_flush(box);
	ck_assert_uint_eq(parent.n, 3); /* three to a frame: it is full by half then */
	ck_assert_uint_eq(parent.batches, 7);
	for (size_t i = 0; i < parent.n; i++) {
		ck_assert_uint_eq(parent.frame[i].read, 9);
		ck_assert_int_eq(parent.frame[i].time, 90);
		ck_assert_str_eq(parent.frame[i].object, "n_1");
		ck_assert_uint_eq(parent.frame[i].dropped, 0);
	}
}

TEST(a_batch_that_no_frame_could_hold_is_counted)
{
	add_read(1, FRAME_MAX_BYTES + 1);
	flowbox_flush(box);
	ck_assert_uint_eq(parent.n, 1);
	ck_assert_uint_eq(parent.frame[0].nbatch, 0);
	ck_assert_uint_eq(parent.frame[0].dropped, 1);
	add_read(2, 10);
	flowbox_flush(box);
	ck_assert_uint_eq(parent.frame[1].nbatch, 1);
	ck_assert_uint_eq(parent.frame[1].dropped, 0);
}

/* --- missed reads */

static struct {
	size_t n;
	char csr[2 * MISSED_MAX][TOKEN_BYTES];
	uint32_t tool[2 * MISSED_MAX];
} seen;

static void see(void *arg, const struct msg *m)
{
	ck_assert_uint_lt(seen.n, 2 * MISSED_MAX);
	if (m->type == MSG_DISARM)
		snprintf(seen.csr[seen.n], TOKEN_BYTES, "%s", m->disarm.csr);
	else
		seen.tool[seen.n] = m->tool_gone.tool;
	seen.n++;
}

TEST(a_branch_receives_all_that_it_missed_once_in_order)
{
	static struct missed b;

	missed_send(&b, see, NULL);
	ck_assert_uint_eq(seen.n, 0);
	missed_csr(&b, "c_1");
	missed_tool(&b, 41);
	missed_csr(&b, "c_2");
	missed_tool(&b, 42);
	missed_tool(&b, 43);
	missed_send(&b, see, NULL);
	ck_assert_uint_eq(seen.n, 5);
	ck_assert_str_eq(seen.csr[0], "c_1");
	ck_assert_str_eq(seen.csr[1], "c_2");
	for (uint32_t i = 2; i < 5; i++)
		ck_assert_uint_eq(seen.tool[i], 39 + i);
}

TEST(the_last_ones_are_remembered)
{
	static struct missed b;
	char csr[TOKEN_BYTES];

	for (unsigned i = 0; i < MISSED_MAX + 10; i++) {
		snprintf(csr, sizeof(csr), "c_%u", i);
		missed_csr(&b, csr);
		missed_tool(&b, i);
	}
	seen.n = 0;
	missed_send(&b, see, NULL);
	ck_assert_uint_eq(seen.n, 2 * MISSED_MAX);
	ck_assert_str_eq(seen.csr[0], "c_10");
	ck_assert_str_eq(seen.csr[MISSED_MAX - 1], csr);
	ck_assert_uint_eq(seen.tool[MISSED_MAX], 10);
	ck_assert_uint_eq(seen.tool[2 * MISSED_MAX - 1], MISSED_MAX + 9);
}

SUITE_WITH("tree flowbox", set_up, clean_up)
