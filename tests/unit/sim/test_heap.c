/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is allocated during a session's work is charged to it until it is freed. */
#include "common/loop/loop.h"
#include "common/base/array.h"
#include "sim/studies/run.h"
#include "sim/world/heap.h"
#include "tests/suite.h"

#include <stdlib.h>

#define MUCH 100000

static struct loop *loop, *of_a, *of_b;
static struct heap_account a, b;

static void drop(void *p)
{
	heap_discharge(p);
	free(p);
}

static void set_up(void)
{
	loop = loop_new_virtual();
	of_a = loop_new_part(loop);
	of_b = loop_new_part(loop);
	loop_part_set_maker(of_a, &a);
	loop_part_set_maker(of_b, &b);
	a = b = (struct heap_account){ 0 };
	heap_watch(loop);
}

static void clean_up(void)
{
	heap_watch(NULL);
	loop_free(loop);
}

TEST(memory_is_charged_to_the_running_host_until_it_is_freed)
{
	void *p, *q, *nobodys;

	loop_enter(of_a);
	p = heap_charge(malloc(heap_room(MUCH)));
	loop_enter(of_b);
	q = heap_charge(calloc(1, heap_room(3 * MUCH)));
	loop_enter(loop);
	nobodys = heap_charge(malloc(heap_room(MUCH)));
	ck_assert_uint_ge(a.bytes, MUCH);
	ck_assert_uint_lt(a.bytes, 2 * MUCH);
	ck_assert_uint_ge(b.bytes, 3 * MUCH);
	loop_enter(of_b);
	drop(p);
	drop(nobodys);
	ck_assert_uint_eq(a.bytes, 0);
	ck_assert_uint_ge(a.most, MUCH);
	loop_enter(loop);
	drop(q);
	ck_assert_uint_eq(b.bytes, 0);
}

TEST(realloc_keeps_the_content_and_charges_once)
{
	char *p;

	loop_enter(of_a);
	p = heap_charge(malloc(heap_room(100)));
	for (int i = 0; i < 100; i++)
		p[i] = (char)i;
	heap_discharge(p);
	p = heap_charge(realloc(p, heap_room(MUCH)));
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(p[i], i);
	ck_assert_uint_ge(a.bytes, MUCH);
	ck_assert_uint_lt(a.bytes, MUCH + 4096);
	drop(p);
	ck_assert_uint_eq(a.bytes, 0);
}

TEST(blocks_freed_unseen_are_not_counted_twice)
{
	void *p, *q;
	size_t one;

	loop_enter(of_a);
	p = heap_charge(malloc(heap_room(200)));
	one = a.bytes;
	free(p); /* as a library does */
	q = malloc(heap_room(200));
	q = heap_charge(q);
	ck_assert_uint_eq(a.bytes, q == p ? one : 2 * one);
	drop(q);
	ck_assert_uint_eq(a.bytes, q == p ? 0 : one);
}

TEST(blocks_of_an_ended_watch_stay_charged)
{
	void *p;

	loop_enter(of_a);
	p = heap_charge(malloc(heap_room(MUCH)));
	heap_watch(NULL);
	heap_watch(loop);
	drop(p);
	ck_assert_uint_ge(a.bytes, MUCH); /* as it was: no longer watched */
}

/* Programs of this room are linked with its wrappers, which come with the whole of it. */
static void print_nothing(void)
{
	struct buf words = BUF_INIT(1024);

	run_print_command(&(struct run_conf){ .seed = 1 }, &words);
	buf_done(&words);
}

int main(void)
{
	print_nothing();
	return suite_run("heap", set_up, clean_up);
}
