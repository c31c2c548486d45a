/* SPDX-License-Identifier: Apache-2.0 */
/* Identity of processes and threads: ends, reused pids, tokens. */
#include "lm/proc/proc_internal.h"
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/lm/world.h"

#include <stdlib.h>
#include <string.h>

static struct world w;
static struct fake_segment seg, other;

static size_t known(void)
{
	size_t n = 0;

	list_each (i, procs_all(w.lm->procs))
		n++;
	return n;
}

/* PROCS_ENDED_MAX of them and some more; the first to come ends last. */
TEST(the_dead_are_bounded_in_number_and_the_newest_stay)
{
	world_open(&w);
	ck_assert_uint_gt(FAKE_PROCS, PROCS_ENDED_MAX + 10);
	for (int i = 0; i < FAKE_PROCS; i++) {
		struct proc_registration in = { .pid = 1000 + i };
		struct proc *p;

		fake_proc_add(&w.host, 1000 + i, "x");
		ck_assert_int_eq(procs_take(w.lm->procs, &in, &p, NULL), 0);
	}
	ck_assert_uint_eq(procs_alive(w.lm->procs), FAKE_PROCS);
	for (int i = FAKE_PROCS - 1; i >= 0; i--) {
		fake_proc_end(&w.host.proc[i], 0);
		world_run(&w, MS);
	}
	ck_assert_uint_eq(procs_alive(w.lm->procs), 0);
	ck_assert_uint_eq(known(), PROCS_ENDED_MAX);
	ck_assert_str_ne(world_token(&w, 1000), "");
	ck_assert_uint_eq(w.host.open, 0);
	world_close(&w);
}

TEST(a_pid_reused_before_the_end_is_known_names_a_new_process)
{
	char token[TOKEN_BYTES];
	const struct proc *first;
	struct proc *p;

	world_open(&w);
	world_add_rank(&w, &seg, 100, 0, token);
	fake_proc_find(&w.host, 100)->is_alive = false; /* and not reported yet */
	fake_proc_add(&w.host, 100, "next");
	fake_segment_open(&other, 100, 1, 100);
	ck_assert_int_eq(registration_segment(w.lm->registration, dup(other.fd), 100, false),
			 -ERR_AGAIN);
	fake_proc_end(&w.host.proc[0], 0);
	world_run(&w, 2 * REGISTRATION_RETRY_NS);
	p = procs_find_pid(w.lm->procs, 100);
	ck_assert_ptr_nonnull(p);
	ck_assert_str_ne(p->token.s, token);
	ck_assert_int_eq(p->own.rank, 1);
	first = procs_find(w.lm->procs, token, strlen(token));
	ck_assert_uint_eq(first->state, MSG_STATE_ENDED);
	ck_assert_int_eq(first->own.rank, 0);
	fake_proc_end(fake_proc_find(&w.host, 100), 0);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(procs_alive(w.lm->procs), 0);
	world_close(&w);
	fake_segment_close(&seg);
	fake_segment_close(&other);
}

static const char *ask(const char *service, const char *token, int flags)
{
	char text[128];

	snprintf(text, sizeof(text), ":%s([%s],%d)", service, token, flags);
	return entry_text(reply_entry_of(world_ask(&w, MANIPULATOR, text), NULL));
}

TEST(values_read_under_a_reused_pid_are_dropped)
{
	char token[TOKEN_BYTES];

	world_open(&w);
	world_add_rank(&w, &seg, 100, 0, token);
	ck_assert_str_eq(ask("proc_get_info", token, 34),
			 "[\"/bin/"
			 "prog\",\"-x\"],[\"A=1\",\"OMIG_MAINSM=omig1:10.0.0.1:7:pin:lm-abcdefgh.**"
			 "************************\","
			 "\"H=omig1:10.0.0.1:7:pin\"]"); /* arguments, environment */
	fake_proc_find(&w.host, 100)->is_alive = false;
	fake_proc_add(&w.host, 100, "next");
	ck_assert_str_eq(ask("proc_get_info", token, 34), "[],[]");
	ck_assert_ptr_nonnull(strstr(ask("thread_get_info", token, 128), "ended"));
	world_close(&w);
	fake_segment_close(&seg);
}

/*
 * An observer sees the name of a program, and neither its arguments nor its environment: they may
 * contain secrets.
 */
TEST(arguments_and_environment_are_not_for_observers)
{
	static const int guarded[] = { 1 << 1, 1 << 4, 1 << 5, (1 << 26) - 1, -1 };
	const struct msg_entry *e;
	char token[TOKEN_BYTES], text[128];

	world_open(&w);
	world_add_rank(&w, &seg, 100, 0, token);
	for (size_t i = 0; i < ARRAY_LEN(guarded); i++) {
		snprintf(text, sizeof(text), ":proc_get_info([%s],%d)", token, guarded[i]);
		e = reply_entry_of(world_ask(&w, OBSERVER, text), NULL);
		ck_assert_uint_eq(e->status, STATUS_NO_PERMISSION);
		ck_assert_str_eq(entry_text(e),
				 "proc_get_info with these flags needs the right manipulate");
	}
	snprintf(text, sizeof(text), ":proc_get_info([%s],%d)", token, 1 << 25);
	ck_assert_str_eq(entry_text(reply_entry_of(world_ask(&w, OBSERVER, text), NULL)),
			 "\"prog\"");
	world_close(&w);
	fake_segment_close(&seg);
}

struct tid_hash {
	uint32_t hash;
	int32_t tid;
};

static int compare_hashes(const void *a, const void *b)
{
	const struct tid_hash *x = a, *y = b;

	return (x->hash > y->hash) - (x->hash < y->hash);
}

#define TIDS (1 << 17)

/* Thread ids of two processes that would have the same token. */
static void find_twins(const struct proc *p, const struct proc *q, int32_t *p_tid, int32_t *q_tid)
{
	struct tid_hash *all = calloc(TIDS, sizeof(*all)), *twin = NULL;
	uint64_t words[4] = { (uint64_t)p->pid, p->start, 0, p->start };

	ck_assert_ptr_nonnull(all);
	for (int32_t i = 0; i < TIDS; i++) {
		words[2] = (uint64_t)i + 1000;
		all[i] = (struct tid_hash){ procs_hash(p->owner, words), i + 1000 };
	}
	qsort(all, TIDS, sizeof(*all), compare_hashes);
	words[0] = (uint64_t)q->pid;
	words[1] = words[3] = q->start;
	for (*q_tid = 1000; !twin && *q_tid < 1000 + TIDS; *q_tid += !twin) {
		words[2] = (uint64_t)*q_tid;
		twin = bsearch(&(struct tid_hash){ procs_hash(q->owner, words), 0 }, all, TIDS,
			       sizeof(*all), compare_hashes);
	}
	ck_assert_ptr_nonnull(twin);
	*p_tid = twin->tid;
	free(all);
}

TEST(threads_of_two_processes_never_have_the_same_token)
{
	const struct proc_thread *t, *u, *found;
	int32_t tid, twin;
	struct proc *p, *q;

	world_open(&w);
	world_add_rank(&w, &seg, 100, 0, NULL);
	world_add_rank(&w, &other, 200, 1, NULL);
	p = procs_find_pid(w.lm->procs, 100);
	q = procs_find_pid(w.lm->procs, 200);
	find_twins(p, q, &tid, &twin);
	fake_thread_add(fake_proc_find(&w.host, 100), tid);
	fake_thread_add(fake_proc_find(&w.host, 200), twin);
	world_run(&w, 5 * SEC);
	t = proc_find_tid(p, tid);
	u = proc_find_tid(q, twin);
	ck_assert_str_ne(t->token.s, u->token.s);
	ck_assert_ptr_eq(procs_find_thread(w.lm->procs, t->token.s, strlen(t->token.s), &found), p);
	ck_assert_ptr_eq(procs_find_thread(w.lm->procs, u->token.s, strlen(u->token.s), &found), q);
	ck_assert_ptr_eq(found, u);
	world_close(&w);
	fake_segment_close(&seg);
	fake_segment_close(&other);
}

SUITE("lm processes")
