/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "mainsm/directory/directory.h"
#include "mainsm/measure/measure_internal.h"
#include "mainsm/tool/scope.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

static struct directory *d;
static struct object *site, *node;
static unsigned came, changed, went;
static char last[64];

static void on_change(void *arg, const struct object *o, enum directory_change what)
{
	came += what == DIRECTORY_CAME;
	changed += what == DIRECTORY_CHANGED;
	went += what == DIRECTORY_WENT;
	snprintf(last, sizeof(last), "%s", o->token);
}

static void open_one_node(void)
{
	d = directory_new();
	came = changed = went = 0;
	directory_set_listener(d, on_change, NULL);
	ck_assert_int_eq(directory_add_site(d, 1, "a", &site), 0);
	ck_assert_int_eq(directory_add_node(d, 7, "host7", site, 10, &node), 0);
	directory_serve(d, node, 3, 0);
}

static struct msg_object object(const char *token, const char *parent)
{
	return (struct msg_object){ .token = token,
				    .parent = parent,
				    .name = "prog",
				    .job = "",
				    .flavour = "",
				    .site = "",
				    .host = "",
				    .pid = 42,
				    .rank = -1 };
}

static int apply(bool full, bool more, const struct msg_object *o, size_t n)
{
	const struct msg_directory m = {
		.full = full, .node = 7, .object = o, .nobject = n, .more = more
	};
	struct err e = { 0 };

	return directory_apply(d, 3, &m, 20, &e);
}

TEST(objects_are_below_their_parents_in_the_order_of_birth)
{
	struct msg_object o[] = { object("p_7_a00000", "n_7"), object("t_7_a00000", "p_7_a00000"),
				  object("p_7_b00000", "n_7") };

	open_one_node();
	ck_assert_int_eq(apply(true, false, o, 3), 0);
	ck_assert_uint_eq(directory_count(d, OBJECT_PROC), 2);
	ck_assert_ptr_eq(directory_find(d, "t_7_a00000")->parent, directory_find(d, "p_7_a00000"));
	ck_assert_ptr_eq(object_container(directory_find(d, "t_7_a00000"), OBJECT_SITE), site);
	ck_assert_ptr_null(object_container(node, OBJECT_PROC));
	ck_assert(directory_find(d, "p_7_a00000")->born < directory_find(d, "p_7_b00000")->born);
	ck_assert_uint_eq(directory_sequence(d), 5);
	ck_assert_uint_eq(came, 5);
	directory_free(d);
}

TEST(a_snapshot_removes_what_it_does_not_name)
{
	struct msg_object o[] = { object("p_7_a00000", "n_7"), object("t_7_a00000", "p_7_a00000"),
				  object("p_7_b00000", "n_7") };

	open_one_node();
	ck_assert_int_eq(apply(true, false, o, 3), 0);
	ck_assert_int_eq(apply(true, false, o + 2, 1), 0);
	ck_assert_ptr_null(directory_find(d, "p_7_a00000"));
	ck_assert_ptr_null(directory_find(d, "t_7_a00000"));
	ck_assert_ptr_nonnull(directory_find(d, "p_7_b00000"));
	ck_assert_uint_eq(went, 2);
	ck_assert_uint_eq(node->objects, 1);
	directory_free(d);
}

TEST(a_snapshot_in_parts_removes_only_after_the_last_one)
{
	struct msg_object o[] = { object("p_7_a00000", "n_7"), object("p_7_b00000", "n_7"),
				  object("p_7_c00000", "n_7") };

	open_one_node();
	ck_assert_int_eq(apply(true, false, o, 3), 0);
	ck_assert_int_eq(apply(true, true, o, 1), 0);
	ck_assert_uint_eq(directory_count(d, OBJECT_PROC), 3);
	ck_assert_int_eq(apply(true, false, o + 2, 1), 0);
	ck_assert_uint_eq(directory_count(d, OBJECT_PROC), 2);
	ck_assert_ptr_null(directory_find(d, "p_7_b00000"));
	directory_free(d);
}

TEST(a_change_keeps_other_fields_and_reports_differences_only)
{
	struct msg_object o[] = { object("p_7_a00000", "n_7"), object("p_7_b00000", "n_7") };

	open_one_node();
	ck_assert_int_eq(apply(true, false, o, 2), 0);
	ck_assert_int_eq(apply(false, false, o, 1), 0);
	ck_assert_uint_eq(changed, 0);
	o[0].rank = 3;
	o[0].state = 77;
	ck_assert_int_eq(apply(false, false, o, 1), 0);
	ck_assert_uint_eq(changed, 1);
	ck_assert_str_eq(last, "p_7_a00000");
	ck_assert_int_eq(directory_find(d, "p_7_a00000")->rank, 3);
	ck_assert_uint_eq(directory_find(d, "p_7_a00000")->state, MSG_STATE_UNREACHABLE);
	o[0].op = MSG_OP_GONE;
	ck_assert_int_eq(apply(false, false, o, 1), 0);
	ck_assert_int_eq(apply(false, false, o, 1), 0);
	ck_assert_uint_eq(directory_count(d, OBJECT_PROC), 1);
	directory_free(d);
}

TEST(a_node_may_report_its_own_objects_only)
{
	struct object *other;
	struct msg_object bad[] = {
		object("p_8_a00000", "n_8"),
		object("p_8_a00000", "n_7"),
		object("p_7_a00000", "n_8"),
		object("p_7_a00000", "s_1"),
		object("t_7_a00000", "n_7"),
		object("n_9", "s_1"),
		object("s_2", ""),
		object("p_7", "n_7"),
		object("p__a00000", "n_7"),
		object("p_x_a00000", "n_7"),
		object("p_7_", "n_7"),
		object("p_7_c0tvy+", "n_7"),
		object("p_7_a0000\x01", "n_7"),
		object("p_7_c0tvyil", "n_7"),
		object("p_07_a00000", "n_7"),
		object("", ""),
		object("c_1", "n_7"),
		object("p_99999999999999_a00000", "n_7"),
	};

	open_one_node();
	ck_assert_int_eq(directory_add_node(d, 8, "host8", site, 10, &other), 0);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ck_assert_int_lt(apply(false, false, &bad[i], 1), 0);
	ck_assert_uint_eq(directory_count(d, OBJECT_PROC), 0);
	ck_assert_int_eq(directory_apply(d, 4, &(struct msg_directory){ .node = 7 }, 20, NULL),
			 -ERR_DENIED);
	ck_assert_int_eq(directory_apply(d, 3, &(struct msg_directory){ .node = 8 }, 20, NULL),
			 -ERR_DENIED);
	ck_assert_int_eq(directory_apply(d, 3, &(struct msg_directory){ .node = 99 }, 20, NULL),
			 -ERR_DENIED);
	directory_free(d);
}

TEST(one_node_cannot_take_all_objects)
{
	int rc = 0;
	char token[32];
	size_t n = 0;

	open_one_node();
	for (; !rc && n <= DIRECTORY_NODE_OBJECTS_MAX + 1; n++) {
		struct msg_object o;

		snprintf(token, sizeof(token), "p_7_%06zu", n);
		o = object(token, "n_7");
		rc = apply(false, false, &o, 1);
	}
	ck_assert_int_eq(rc, -ERR_LIMIT);
	ck_assert_uint_eq(directory_count(d, OBJECT_PROC), DIRECTORY_NODE_OBJECTS_MAX);
	directory_free(d);
}

#define A_MESSAGE 1024 /* objects */

/* Adds n processes to that node, in messages of A_MESSAGE objects. */
static int add_procs(uint32_t number, size_t n, struct err *e)
{
	char token[A_MESSAGE][24], parent[16];
	struct msg_object o[A_MESSAGE];
	const struct msg_directory m = { .node = number, .object = o, .nobject = n };

	snprintf(parent, sizeof(parent), "n_%u", number);
	for (size_t i = 0; i < n; i++) {
		snprintf(token[i], sizeof(token[i]), "p_%u_%06zu", number,
			 directory_count(d, OBJECT_PROC) + i);
		o[i] = object(token[i], parent);
	}
	return directory_apply(d, 3, &m, 20, e);
}

/* Adds nodes and processes until the directory has `most` objects. */
static void fill(size_t most)
{
	size_t n = 2; /* one site and one node exist */
	uint32_t number = 7;

	open_one_node();
	while (n < most) {
		size_t more = most - n < A_MESSAGE ? most - n : A_MESSAGE;

		if (node->objects + more > DIRECTORY_NODE_OBJECTS_MAX) {
			ck_assert_int_eq(directory_add_node(d, ++number, "host", site, 10, &node),
					 0);
			directory_serve(d, node, 3, 0);
			n++;
			continue;
		}
		ck_assert_int_eq(add_procs(number, more, &(struct err){ 0 }), 0);
		n += more;
	}
}

static size_t measured(const struct object *o, struct session *s)
{
	const struct list *children = &o->children;
	size_t n = 1;

	ck_assert_int_ge(scope_attach(s->scope, o), 0);
	list_each (i, children)
		n += measured(list_entry(i, struct object, sibling), s);
	return n;
}

/*
 * Fills the directory to its limit. One more object is refused with a reason, and all others can be
 * measured.
 */
TEST(the_directory_takes_objects_up_to_its_limit)
{
	struct err e = { 0 };
	struct session *s;
	struct measure_world *w;

	fill(DIRECTORY_OBJECTS_MAX - 1);
	ck_assert_int_eq(add_procs(node->number, 1, &e), 0);
	ck_assert_int_eq(add_procs(node->number, 1, &e), -ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(e.text, "no room for 'p_"));
	s = session_new(1, NULL, &(struct identity){ .role = ROLE_TOOL_OBSERVE, .host = "me@here" },
			d, NULL);
	ck_assert_ptr_nonnull(s);
	ck_assert_uint_eq(measured(site, s), DIRECTORY_OBJECTS_MAX);
	w = measure_world_new(s, NULL);
	ck_assert_ptr_nonnull(w);
	ck_assert_uint_eq(w->world.n, DIRECTORY_OBJECTS_MAX);
	measure_world_free(w);
	session_free(s);
	directory_free(d);
}

TEST(objects_of_a_lost_branch_are_unreachable_then_removed)
{
	struct msg_object o[] = { object("p_7_a00000", "n_7"), object("p_7_b00000", "n_7"),
				  object("n_7", "s_1") };

	open_one_node();
	o[1].state = MSG_STATE_ENDED;
	ck_assert_int_eq(apply(true, false, o, 3), 0);
	ck_assert_uint_eq(node->sub, MSG_NODE_UP);
	ck_assert_uint_eq(object_state(directory_find(d, "p_7_a00000")), MSG_STATE_RUN);
	directory_branch_lost(d, 3, 100);
	ck_assert_uint_eq(node->sub, MSG_NODE_LOST);
	ck_assert_int_eq(node->since, 100);
	ck_assert_uint_eq(object_state(directory_find(d, "p_7_a00000")), MSG_STATE_UNREACHABLE);
	ck_assert_uint_eq(object_state(directory_find(d, "p_7_b00000")), MSG_STATE_ENDED);
	ck_assert_int_eq(apply(true, false, o, 3), -ERR_DENIED);
	ck_assert_uint_eq(directory_forget(d, 150, 50), 0);
	ck_assert_uint_eq(directory_forget(d, 151, 50), 1);
	ck_assert_ptr_null(directory_node(d, 7));
	ck_assert_uint_eq(directory_count(d, OBJECT_PROC), 0);
	directory_free(d);
}

TEST(a_node_that_reports_its_end_has_ended)
{
	struct msg_object o[] = { object("p_7_a00000", "n_7"), object("n_7", "s_1") };

	open_one_node();
	ck_assert_int_eq(apply(true, false, o, 1), 0);
	o[1].op = MSG_OP_GONE;
	ck_assert_int_eq(apply(false, false, o + 1, 1), 0);
	ck_assert_ptr_null(directory_node(d, 7));
	ck_assert_str_eq(last, "n_7");
	directory_free(d);
}

TEST(attaching_takes_the_containers_and_detaching_the_contents)
{
	struct msg_object o[] = { object("p_7_a00000", "n_7"), object("t_7_a00000", "p_7_a00000"),
				  object("p_7_b00000", "n_7") };
	struct scope *s = scope_new();
	const struct object *a, *t;

	open_one_node();
	ck_assert_int_eq(apply(true, false, o, 3), 0);
	a = directory_find(d, "p_7_a00000");
	t = directory_find(d, "t_7_a00000");
	ck_assert(!scope_has(s, t));
	ck_assert_int_eq(scope_attach(s, t), -ERR_INVALID);
	ck_assert_int_eq(scope_attach(s, a), 1);
	ck_assert_int_eq(scope_attach(s, a), 0);
	ck_assert(scope_has(s, a) && scope_has(s, t) && scope_has(s, node) && scope_has(s, site));
	ck_assert(!scope_has(s, directory_find(d, "p_7_b00000")));
	ck_assert_uint_eq(scope_version(s), 1);
	ck_assert_int_eq(scope_detach(s, node), 1);
	ck_assert_int_eq(scope_detach(s, node), 0);
	ck_assert(!scope_has(s, a) && !scope_has(s, t) && scope_has(s, site));
	ck_assert_uint_eq(scope_count(s), 1);
	scope_forget(s, site);
	ck_assert_uint_eq(scope_count(s), 0);
	scope_free(s);
	directory_free(d);
}

TEST(a_thread_that_is_detached_alone_returns_with_its_process)
{
	struct msg_object o[] = { object("p_7_a00000", "n_7"), object("t_7_a00000", "p_7_a00000"),
				  object("t_7_b00000", "p_7_a00000") };
	struct scope *s = scope_new();
	const struct object *proc, *t;

	open_one_node();
	ck_assert_int_eq(apply(true, false, o, 3), 0);
	proc = directory_find(d, "p_7_a00000");
	t = directory_find(d, "t_7_a00000");
	ck_assert_int_eq(scope_detach(s, t), 0); /* it was not attached */
	ck_assert(!scope_hides_any(s));
	scope_attach(s, proc);
	ck_assert(scope_has_all(s, proc));
	ck_assert_int_eq(scope_detach(s, t), 1);
	ck_assert_int_eq(scope_detach(s, t), 0);
	ck_assert_uint_eq(scope_version(s), 2);
	ck_assert(!scope_has(s, t) && scope_has(s, directory_find(d, "t_7_b00000")) &&
		  scope_has(s, proc));
	ck_assert(scope_hides_any(s) && !scope_has_all(s, proc));
	ck_assert_int_eq(scope_attach(s, proc), 0); /* already attached: nothing changes */
	ck_assert(!scope_has(s, t));
	ck_assert_int_eq(scope_detach(s, proc), 1);
	ck_assert_int_eq(scope_attach(s, proc), 1);
	ck_assert(scope_has(s, t) && scope_has_all(s, proc));
	scope_detach(s, t);
	scope_forget(s, t);
	ck_assert(!scope_hides_any(s));
	scope_free(s);
	directory_free(d);
}

static int build(void)
{
	struct msg_object o[] = { object("p_7_a00000", "n_7"), object("t_7_a00000", "p_7_a00000") };
	const struct msg_directory m = { .full = true, .node = 7, .object = o, .nobject = 2 };
	struct directory *x = directory_new();
	struct object *s, *n;
	struct err e = { 0 };
	int rc = x ? directory_add_site(x, 1, "a", &s) : -ERR_NOMEM;

	if (!rc)
		rc = directory_add_node(x, 7, "h", s, 1, &n);
	if (!rc) {
		directory_serve(x, n, 1, 0);
		rc = directory_apply(x, 1, &m, 2, &e);
	}
	directory_free(x);
	return rc;
}

TEST(running_out_of_memory_leaves_a_sound_directory)
{
	ALLOC_SWEEP (k) {
		int rc = build();

		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
	}
}

SUITE("directory")
