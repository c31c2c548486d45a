/* SPDX-License-Identifier: Apache-2.0 */
/* A metric by pairs of ranks: its values, and how they are shown. */
#include "common/base/array.h"
#include "tests/unit/tools/waits/planted.h"
#include "tools/waits/matrix.h"

#include <math.h>

static struct exchange x;
static struct matrix m;
static char text[1 << 20];

static void make(const char *metric, const char *const value[PLANTED_RANKS])
{
	struct pmsl_builtin b;
	struct err e;

	ck_assert_int_eq(matrix_metric(metric, &b, &e), 0);
	planted_between(&x, value);
	ck_assert(matrix_make(&m, &b, &x));
}

static void done(void)
{
	matrix_done(&m);
	exchange_done(&x);
}

static const char *taken(struct buf *b)
{
	ck_assert(!b->failed);
	snprintf(text, sizeof(text), "%.*s", (int)b->n, (const char *)b->p);
	buf_done(b);
	return text;
}

static const char *shown(bool is_plain)
{
	const struct term t = { .is_tty = false };
	struct buf b = BUF_INIT(sizeof(text));

	ck_assert_int_eq(matrix_show(&t, &m, is_plain, &b), 0);
	return taken(&b);
}

static const char *const traffic[] = {
	"11" SEC ",[\"MPI_Isend\",1,10,1000,0,0,0,0,0,2,7],[\"MPI_Send\",1,5,500,0,0,0,0,0,2,7],"
	"[\"MPI_Irecv\",1,10,0,90,0,0,0,0,1,7]",
	"11" SEC ",[\"MPI_Send\",2,5,2000,0,0,0,0,0,2,7],[\"MPI_Send\",3,5,0,0,0,0,0,0,2,7]",
	"11" SEC, "11" SEC
};

TEST(calls_of_one_pair_are_one_value_and_zeros_are_none)
{
	make("Send_volume", traffic);
	ck_assert_uint_eq(m.n, 2);
	ck_assert_int_eq(m.cell[0].partner, 1);
	ck_assert_double_eq(m.cell[0].value, 1500);
	ck_assert_double_eq(m.sum, 3500);
	ck_assert_int_eq(m.largest->rank, 1);
	ck_assert_ptr_eq(strstr(shown(false), "Send_volume: most is rank 1 -> rank 2, 2 kB"), text);
	ck_assert_ptr_nonnull(strstr(text, "FROM"));
	done();
	make("MPI_Send_count", traffic);
	ck_assert_uint_eq(m.n, 3);
	ck_assert_double_eq(m.sum, 15);
	done();
	make("Receive_volume", traffic);
	ck_assert_ptr_nonnull(strstr(shown(false), "rank 0 <- rank 1"));
	done();
	make("MPI_Put_volume", traffic);
	ck_assert_ptr_nonnull(strstr(shown(false), "no pair of 4 ranks has a value"));
	done();
}

TEST(a_delay_has_its_bound)
{
	make("Wait_delay", planted_chain);
	for (size_t i = 0; i < m.n; i++) {
		if (m.cell[i].rank == 0)
			ck_assert_double_eq(m.cell[i].error, 0);
		if (m.cell[i].rank == 1) {
			ck_assert_double_eq_tol(m.cell[i].value, 3, 1e-9);
			ck_assert_double_eq_tol(m.cell[i].error, 3, 1e-9);
		}
	}
	ck_assert_ptr_nonnull(strstr(shown(false), "waits for"));
	done();
}

TEST(metrics_without_partners_are_refused_with_the_reason)
{
	struct pmsl_builtin b;
	struct err e;

	ck_assert_int_eq(matrix_metric("Send_volum", &b, &e), -ERR_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(e.text, "did you mean Send_volume?"));
	ck_assert_int_eq(matrix_metric("Barrier_delay", &b, &e), -ERR_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(e.text, "name none"));
	ck_assert_int_eq(matrix_metric("Node_load", &b, &e), -ERR_UNSUPPORTED);
}

/* More ranks than a table has room for: a ring of them. */
static void make_ring(int ranks)
{
	struct pmsl_builtin b;
	struct err e;

	ck_assert_int_eq(matrix_metric("Send_volume", &b, &e), 0);
	x = (struct exchange){ .world_size = ranks,
			       .rank = calloc((size_t)ranks, sizeof(*x.rank)),
			       .n = (size_t)ranks };
	for (int i = 0; i < ranks; i++) {
		x.rank[i].rank = i;
		x.rank[i].seconds = 1;
		x.rank[i].pair = calloc(1, sizeof(*x.rank[i].pair));
		x.rank[i].npair = 1;
		x.rank[i].pair[0] = (struct exchange_pair){ .func = (unsigned)call_find("MPI_Send"),
							    .partner = (i + 1) % ranks,
							    .bytes_out = 1 + i };
	}
	ck_assert(matrix_make(&m, &b, &x));
}

TEST(many_ranks_are_shades)
{
	make_ring(64);
	ck_assert_ptr_nonnull(strstr(shown(true), "9"));
	ck_assert_ptr_null(strstr(text, "\xe2\x96\x88"));
	ck_assert_ptr_nonnull(strstr(shown(false), "\xe2\x96\x88"));
	ck_assert_ptr_null(strstr(text, "stands for"));
	done();
	make_ring(1024);
	ck_assert_uint_eq(m.n, 1024);
	ck_assert_ptr_nonnull(strstr(shown(true), "a character stands for 15 x 15 ranks"));
	done();
}

static unsigned count(const char *what)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

TEST(a_picture_has_a_square_and_a_row_for_each_pair)
{
	struct buf b = BUF_INIT(sizeof(text));

	make_ring(64);
	matrix_svg(&b, &m);
	ck_assert_ptr_nonnull(strstr(taken(&b), "prefers-color-scheme:dark"));
	ck_assert_uint_eq(count("class=\"cell\""), 64);
	ck_assert_uint_eq(count("<script"), 0);
	b = (struct buf)BUF_INIT(sizeof(text));
	matrix_html(&b, &m);
	taken(&b);
	ck_assert_uint_eq(count("class=\"cell\""), 64);
	ck_assert_uint_eq(count("<tr><td>"), 64);
	ck_assert_uint_eq(count("http"), count("http-equiv") + count("http://www.w3.org"));
	done();
}

TEST(programs_get_every_pair)
{
	struct buf b = BUF_INIT(sizeof(text));
	struct json j;

	make("Send_volume", traffic);
	matrix_csv(&b, &m, true);
	ck_assert_str_eq(taken(&b), "metric,rank,partner,way,value,error,unit\n"
				    "Send_volume,0,1,sends,1500,0,B\n"
				    "Send_volume,1,2,sends,2000,0,B\n");
	b = (struct buf)BUF_INIT(sizeof(text));
	json_init(&j, &b);
	json_object(&j);
	matrix_json(&j, &m);
	json_object_end(&j);
	ck_assert_int_eq(json_end(&j), 0);
	ck_assert_ptr_nonnull(strstr(taken(&b),
				     "\"pairs\":[{\"rank\":0,\"partner\":1,\"value\":1500,"
				     "\"error\":0},"));
	done();
}

SUITE("matrix")
