/* SPDX-License-Identifier: Apache-2.0 */
/* docs/states: each picture has the steps of its table. OMIG_WRITE_STATES=1 writes the graphs. */
#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/file.h"
#include "common/link/link.h"
#include "mainsm/csr/csr.h"
#include "mainsm/measure/measure.h"
#include "tests/suite.h"
#include "tree/standing.h"
#include "tree/states.h"
#include "tree/streams.h"

#include <stdlib.h>
#include <string.h>

static const struct states *const tables[] = { &standing_states, &csr_states, &measure_states,
					       &stream_states };

static void read_doc(const char *name, const char *ext, struct buf *b)
{
	char path[128];
	struct err e = { 0 };

	snprintf(path, sizeof(path), "docs/states/%s.%s", name, ext);
	*b = BUF_INIT(1 << 20);
	ck_assert_msg(!file_read(path, b->max, 0, b, &e), "%s", e.text);
}

static void is_drawn(const char *name, struct buf *table)
{
	struct buf dot;
	char path[128];

	snprintf(path, sizeof(path), "docs/states/%s.dot", name);
	if (getenv("OMIG_WRITE_STATES"))
		ck_assert_int_eq(file_write_atomic(path, table->p, table->n, NULL), 0);
	read_doc(name, "dot", &dot);
	ck_assert_msg(!strcmp(buf_str(&dot), buf_str(table)), "make states writes %s", path);
	buf_done(&dot);
	buf_done(table);
}

TEST(each_graph_is_that_of_its_table)
{
	struct buf b = BUF_INIT(10000);

	link_print_dot(&b);
	is_drawn("link", &b);
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		b = BUF_INIT(10000);
		states_print_dot(tables[i], &b);
		is_drawn(tables[i]->name, &b);
	}
}

/* The titles of the edges, as Graphviz writes them. */
TEST(each_picture_has_each_step)
{
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		const struct states *t = tables[i];
		struct buf svg;
		char edge[128];

		read_doc(t->name, "svg", &svg);
		for (unsigned k = 0; k < t->nstate * t->nevent; k++) {
			unsigned from = k / t->nevent;

			snprintf(edge, sizeof(edge), "<title>%s&#45;&gt;%s</title>", t->state[from],
				 t->state[t->next[k]]);
			ck_assert_msg(t->next[k] == from || strstr(buf_str(&svg), edge), "%s: %s",
				      t->name, edge);
		}
		buf_done(&svg);
	}
}

/* Each state is reached from the first one, and no event leads to a state outside of the table. */
TEST(each_state_is_reached)
{
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		const struct states *t = tables[i];
		uint64_t reached = 1;

		for (unsigned round = 0; round < t->nstate; round++)
			for (unsigned k = 0; k < t->nstate * t->nevent; k++) {
				ck_assert_uint_lt(t->next[k], t->nstate);
				if (reached >> (k / t->nevent) & 1)
					reached |= UINT64_C(1) << t->next[k];
			}
		ck_assert_uint_eq(reached, (UINT64_C(1) << t->nstate) - 1);
	}
}

SUITE("states")
