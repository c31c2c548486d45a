/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A summary is unchanged after it was written and read. Hostile files are refused with the place.
 * Efficiencies are those of the formulas.
 */
#include "tests/suite.h"
#include "common/base/str.h"
#include "tools/summary/summary_text.h"

#include <math.h>
#include <string.h>

static struct summary made;

static struct summary_process *put_rank(struct summary_section *of, int64_t rank, double seconds,
					double waits, double sends)
{
	struct summary_process *p = summary_add_process(of);
	struct summary_call *c;

	ck_assert_ptr_nonnull(p);
	p->rank = rank;
	p->pid = 100 + rank;
	p->seconds = seconds;
	p->cpu_s = seconds / 2;
	p->exit_status = 0;
	p->is_final = p->has_calls = p->has_partners = true;
	str_copy(p->host, sizeof(p->host), rank < 2 ? "node1" : "node2");
	str_copy(p->program, sizeof(p->program), "heat2d");
	c = summary_add_call(p);
	*c = (struct summary_call){ .of = (unsigned)summary_name(of, "MPI_Waitall", "complete"),
				    .count = 100,
				    .seconds = waits };
	c = summary_add_call(p);
	*c = (struct summary_call){ .of = (unsigned)summary_name(of, "MPI_Send", "send"),
				    .count = 10,
				    .seconds = sends,
				    .bytes_out = 5120 };
	*summary_add_partner(p) = (struct summary_partner){
		.rank = 1 - rank, .count = 10, .sends = 10, .bytes_out = 5120
	};
	return p;
}

static void set_up(void)
{
	struct summary_section *of;
	struct summary_slice slice = { .begin_s = 0, .end_s = 5, .rank_s = 10, .n = 2 };

	str_copy(made.omig, sizeof(made.omig), "0.1.0");
	str_copy(made.job, sizeof(made.job), "heat2d.4711");
	str_copy(made.command, sizeof(made.command), "mpirun");
	str_copy(made.measured, sizeof(made.measured), "partner");
	made.begun_ns = INT64_C(1795439412425407846);
	made.seconds = 10.5;
	made.exit_status = 3 << 8;
	of = summary_add_section(&made);
	of->world_size = 3;
	put_rank(of, 0, 10, 6, 1);
	put_rank(of, 1, 10, 1, 1);
	slice.seconds = calloc(2, sizeof(*slice.seconds));
	slice.seconds[0] = 3.5;
	slice.seconds[1] = 0.25;
	summary_add_slice(of, &slice);
	made.has_sizes = true;
	*summary_add_size(&made) = (struct summary_size){ "MPI_Send", 0, 0, 4, 0, 0.25 };
	*summary_add_size(&made) = (struct summary_size){ "MPI_Send", 512, 1023, 15, 7680, 1.5 };
	*summary_add_size(&made) =
		(struct summary_size){ "MPI_Send", 1 << 30, -1, 1, UINT64_C(3) << 30, 0.5 };
	made.has_sites = true;
	*summary_add_site(&made) = (struct summary_site){ .name = "MPI_Send",
							  .module = "/opt/heat/heat2d",
							  .address = 0x1234,
							  .count = 5,
							  .seconds = 0.5,
							  .longest_s = NAN,
							  .most_rank = -1,
							  .most_s = NAN };
	*summary_add_site(&made) = (struct summary_site){ .name = "MPI_Waitall",
							  .function = "exchange",
							  .source = "halo.c:41",
							  .module = "/opt/heat/heat2d",
							  .address = 0x1300,
							  .count = 200,
							  .seconds = 6.5,
							  .longest_s = 0.25,
							  .bytes_out = 2048,
							  .ranks = 2,
							  .most_rank = 0,
							  .most_s = 6 };
	summary_note(&made, "rank 2: %s", "its host did not answer");
}

static void clean_up(void)
{
	summary_done(&made);
}

static void write_made(struct buf *b)
{
	*b = BUF_INIT(1 << 20);
	ck_assert_int_eq(summary_write(&made, b), 0);
}

TEST(summary_is_read_as_written)
{
	struct summary again = { 0 };
	struct buf first, second = BUF_INIT(1 << 20);
	struct err e = { 0 };

	summary_sort(&made);
	write_made(&first);
	ck_assert_msg(!summary_read(buf_str(&first), first.n, &again, &e), "%s", e.text);
	ck_assert_int_eq(again.begun_ns, made.begun_ns);
	ck_assert_uint_eq(again.section[0].process[0].call[0].bytes_out, 5120);
	ck_assert(isnan(again.section[0].process[0].rss_bytes));
	ck_assert_double_eq(again.section[0].slice[0].seconds[1], 3.5);
	ck_assert_str_eq(again.note[0], "rank 2: its host did not answer");
	ck_assert_uint_eq(again.nsize, 3);
	ck_assert_int_eq(again.size[0].from, 512); /* most time first */
	ck_assert_int_eq(again.size[1].to, -1);
	ck_assert_uint_eq(again.nsite, 2);
	ck_assert_str_eq(again.site[0].source, "halo.c:41"); /* most time first */
	ck_assert_int_eq(again.site[0].most_rank, 0);
	ck_assert_str_eq(again.site[1].function, "");
	ck_assert(isnan(again.site[1].longest_s));
	ck_assert_int_eq(summary_write(&again, &second), 0);
	ck_assert_str_eq(buf_str(&first), buf_str(&second));
	summary_done(&again);
	buf_done(&first);
	buf_done(&second);
}

/* The written text with one piece replaced. */
static void refused(const char *piece, const char *by, const char *words)
{
	struct buf whole, changed = BUF_INIT(1 << 20);
	struct summary s = { 0 };
	struct err e = { 0 };
	const char *at;

	write_made(&whole);
	at = strstr(buf_str(&whole), piece);
	ck_assert_ptr_nonnull(at);
	buf_put(&changed, whole.p, (size_t)(at - buf_str(&whole)));
	buf_puts(&changed, by);
	buf_puts(&changed, at + strlen(piece));
	ck_assert_int_ne(summary_read(buf_str(&changed), changed.n, &s, &e), 0);
	ck_assert_msg(strstr(e.text, words) != NULL, "'%s' has no '%s'", e.text, words);
	ck_assert_uint_eq(s.n, 0);
	buf_done(&whole);
	buf_done(&changed);
}

TEST(the_table_of_sizes_states_its_coverage)
{
	const struct summary_text_options options = { .prefix = "" };
	struct buf b = BUF_INIT(1 << 20);

	summary_sort(&made);
	made.size[0].count--;
	ck_assert_int_eq(summary_text(&made, &options, &b), 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&b),
				     "Calls by the size of their messages, of all ranks (95 % of "
				     "these calls)\n"
				     "CALL      SIZE      CALLS    TIME"));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "\nMPI_Send  512-1023     14"));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "\nMPI_Send  1G+           1"));
	buf_clear(&b);
	made.size[0].count++;
	ck_assert_int_eq(summary_text(&made, &options, &b), 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "of all ranks\nCALL"));
	buf_done(&b);
}

static void shows(const char *words)
{
	const struct summary_text_options options = { .prefix = "omig: " };
	struct buf b = BUF_INIT(1 << 20);

	ck_assert_int_eq(summary_text(&made, &options, &b), 0);
	ck_assert_msg(strstr(buf_str(&b), words) != NULL, "%s", buf_str(&b));
	buf_done(&b);
}

TEST(call_sites_are_reported_and_are_a_table)
{
	summary_sort(&made);
	shows("\nomig: most time in MPI: MPI_Waitall in exchange halo.c:41 72 %, MPI_Send in "
	      "heat2d+0x1234 6 %\n");
	shows("\nCall sites, of all ranks (93.2 % of these calls)\n"
	      "CALL         CALLED IN           CALLS    TIME  MPI%  TIME%     MEAN     MAX  "
	      "MOST (RANK)  BYTES\n"
	      "MPI_Waitall  exchange halo.c:41    200   6.5 s  72.2   32.5  32.5 ms  250 ms      "
	      "6 s (0)   2.0K\n"
	      "MPI_Send     heat2d+0x1234           5  500 ms   5.6    2.5   100 ms       -      "
	      "      -      -\n");
}

TEST(a_page_has_call_sites)
{
	struct buf b = BUF_INIT(1 << 20);

	ck_assert_int_eq(summary_html(&made, &b), 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "<h2>Call sites</h2>"));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "exchange halo.c:41"));
	buf_done(&b);
}

TEST(hostile_files_are_refused_with_the_place)
{
	refused("\"address\":4660", "\"address\":-1",
		"sites[0].address is not a number in its range");
	refused("halo.c:41", "halo.c\\u001b:41", "sites[1].source is not a name");
	refused("\"most_rank\":0", "\"most_rank\":0.5", "sites[1].most_rank is not a whole number");
	refused("\"max_seconds\":0.25", "\"max_seconds\":\"x\"", "sites[1].max_seconds");
	refused("\"sites\":[", "\"sites\":[null,", "sites[0].name is not a name");
	refused("\"sites\":[", "\"sites\":7,\"x\":[", "sites is not an array");
	refused("omig-summary", "neko", "this is not a summary");
	refused("\"version\":1", "\"version\":2", "version 2");
	refused("\"rank\":0", "\"rank\":-2", "sections[0].processes[0].rank");
	refused("\"rank\":0", "\"rank\":\"x\"", "sections[0].processes[0].rank");
	refused("\"pid\":101", "\"pid\":1.5", "sections[0].processes[1].pid is not a whole number");
	refused("\"count\":100", "\"count\":1e300",
		"sections[0].processes[0].calls[0].count is not a number in its range");
	refused("\"seconds\":6", "\"seconds\":-6", "processes[0].calls[0].seconds");
	refused("\"name\":\"MPI_Send\"", "\"name\":\"MPI_\\u001b[2J\"",
		"processes[0].calls[1].name is not a name");
	refused("\"name\":\"MPI_Send\"", "\"name\":\"MPI_Waitall\"",
		"processes[0].calls[1].name is there twice");
	refused("\"slices\":[", "\"slices\":[7,", "sections[0].slices[0].begin");
	refused("[\"MPI_Waitall\",3.5]", "[3.5]", "sections[0].slices[0].calls[0]");
	refused("\"processes\":[", "\"processes\":3,\"x\":[", "processes is not an array");
	refused("\"missing\":[", "\"missing\":[null,", "missing[0]");
	refused("\"from\":512", "\"from\":1024", "sizes[1].to is below from");
	refused("\"sizes\":[", "\"sizes\":7,\"x\":[", "sizes is not an array");
}

TEST(a_broken_file_has_line_and_column)
{
	struct summary s = { 0 };
	struct err e = { 0 };

	ck_assert_int_eq(summary_read("{\n\"a\":,}", 8, &s, &e), -ERR_PARSE);
	ck_assert_uint_eq(e.line, 2);
}

TEST(efficiencies_are_those_of_the_formulas)
{
	struct efficiency e = efficiency_of(&made.section[0]);

	/* computation 3 and 8 of 10 seconds */
	ck_assert_double_eq_tol(e.load_balance, 5.5 / 8, 1e-12);
	ck_assert_double_eq_tol(e.communication, 0.8, 1e-12);
	ck_assert_double_eq_tol(e.parallel, 0.55, 1e-12);
	ck_assert_double_eq_tol(e.mpi_share, 0.45, 1e-12);
	ck_assert_int_eq(e.most->rank, 1);
}

/* Threads together may be in MPI for longer than their rank lives. */
TEST(a_rank_is_in_mpi_for_no_longer_than_it_lives)
{
	struct summary_process *p = &made.section[0].process[0];

	p->call[0].seconds = 60;
	ck_assert_double_eq(summary_mpi_seconds(p), 10);
	ck_assert(efficiency_of(&made.section[0]).load_balance > 0);
}

TEST(unknown_calls_are_no_zero)
{
	struct summary_section *of = &made.section[0];
	struct buf b = BUF_INIT(1 << 20);

	of->process[0].has_calls = of->process[1].has_calls = false;
	summary_say_section(of, &b);
	ck_assert_msg(strstr(buf_str(&b), "its calls are not known") != NULL, "%s", buf_str(&b));
	ck_assert(isnan(efficiency_of(of).parallel));
	buf_done(&b);
}

TEST(the_first_lines_summarise_the_job)
{
	const struct summary_text_options w = { .prefix = "omig: " };
	struct buf b = BUF_INIT(1 << 20);

	summary_sort(&made);
	ck_assert_int_eq(summary_text(&made, &w, &b), 0);
	ck_assert_msg(str_has_prefix(
			      buf_str(&b),
			      "omig: job heat2d.4711: heat2d, 2 of 3 ranks on 1 host, 10 s: "
			      "45.0 % in MPI, imbalance 31.2 % (rank 1 computes most); mpirun "
			      "ended with status 3\n"
			      "omig: not covered: rank 2: its host did not answer\n"
			      "omig: most time in MPI: MPI_Waitall in exchange halo.c:41 72 %, "
			      "MPI_Send in heat2d+0x1234 6 %\n"
			      "omig: MPI_Waitall 78 %, MPI_Send 22 % of the time in MPI; "
			      "10KB sent\n"
			      "omig: parallel efficiency of 2 ranks 55.0 % = load balance 68.8 % x "
			      "communication 80.0 %\n"),
		      "%s", buf_str(&b));
	buf_done(&b);
}

TEST(a_page_escapes_what_names_say)
{
	struct buf b = BUF_INIT(1 << 20);

	str_copy(made.section[0].process[0].host, SUMMARY_NAME_BYTES, "<script>&\"");
	ck_assert_int_eq(summary_html(&made, &b), 0);
	ck_assert_ptr_null(strstr(buf_str(&b), "<script"));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "&lt;script&gt;&amp;"));
	buf_done(&b);
}

TEST(slices_become_half_as_many_and_lose_nothing)
{
	struct summary_section *of = &made.section[0];
	double sum = 0, time = 0;

	for (int i = 1; i < 1000; i++) {
		struct summary_slice s = { .begin_s = 5 * i, .end_s = 5 * i + 5, .rank_s = 10 };

		s.n = i % 2 ? 2 : 1;
		s.seconds = calloc(s.n, sizeof(*s.seconds));
		s.seconds[0] = 1;
		summary_add_slice(of, &s);
		ck_assert_ptr_null(s.seconds);
	}
	ck_assert_uint_le(of->nslice, SUMMARY_SLICES_MAX);
	for (size_t i = 0; i < of->nslice; i++) {
		sum += of->slice[i].seconds[0];
		time += of->slice[i].rank_s;
		ck_assert(!i || of->slice[i].begin_s == of->slice[i - 1].end_s);
	}
	ck_assert_double_eq_tol(sum, 999 + 3.5, 1e-9);
	ck_assert_double_eq_tol(time, 10000, 1e-9);
}

SUITE_WITH("summary", set_up, clean_up)
