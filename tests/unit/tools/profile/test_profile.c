/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of a job, joined from the sums of its hosts. */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tools/profile/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES 3

static Omis_object_result entry[ENTRIES + 1], node[ENTRIES + 1];
static struct profile p;

static void fill(Omis_object_result *to, const char *objects, const char *value)
{
	*to = (Omis_object_result){ strdup(objects), OMIS_OK, strdup(value), strlen(value) };
}

static void read_all(enum profile_by by)
{
	ck_assert(profile_read(&p, by, entry, node));
}

static void done(void)
{
	profile_done(&p);
	for (size_t i = 0; i < ENTRIES; i++) {
		free(entry[i].obj_list);
		free(entry[i].result);
		free(node[i].obj_list);
		free(node[i].result);
	}
	memset(entry, 0, sizeof(entry));
	memset(node, 0, sizeof(node));
}

/* Two hosts: 10 s of 2 ranks each, of which one has ended; they count bytes. */
static void two_hosts(void)
{
	fill(&entry[0], "p_1_a,p_1_b",
	     "1000,n_1,2,0,0,0,0,20000000000,10000000000,7,0,0,"
	     "[\"MPI_Waitall\",\"complete\",10,6000000000,1,0,0,1,4000000000,2,1000,"
	     "2000000000],"
	     "[\"MPI_Isend\",\"send\",20,100000000,0,4096,0,0,60000000,2,0,0]");
	fill(&entry[1], "p_2_a,p_2_b",
	     "2000,n_2,2,1,0,0,0,20000000000,10000000000,15,0,0,"
	     "[\"MPI_Waitall\",\"complete\",10,3000000000,0,0,0,3,3000000000,2,500,"
	     "1000000000],"
	     "[\"MPI_Barrier\",\"barrier\",2,900000000,0,0,0,2,500000000,2,400000000,-1]");
	fill(&node[0], "n_1", "\"east1\"");
	fill(&node[1], "n_2", "\"east2\"");
}

static const char *shown(size_t rows)
{
	static char text[4096];
	const struct term t = { .is_tty = false };
	struct buf b = BUF_INIT(sizeof(text));

	ck_assert_int_eq(profile_show(&t, &p, "heat", rows, &b), 0);
	snprintf(text, sizeof(text), "%.*s", (int)b.n, (const char *)b.p);
	buf_done(&b);
	return text;
}

TEST(a_profile_sums_hosts_and_names_the_longest_call_first)
{
	two_hosts();
	read_all(PROFILE_CALL);
	profile_sort(&p, PROFILE_BY_TIME);
	ck_assert_str_eq(
		shown(0),
		"MPI_Waitall takes 90 % of the time in MPI, most on rank 1 (4 s); 4 ranks are "
		"in MPI for 25 % of the time\n"
		"job heat: 4 ranks on 2 nodes, measured for up to 10 s; 1 has ended\n"
		"CALL         CALLS    TIME  % MPI  % WALL    MEAN     MIN  MAX    MOST  ON RANK  "
		"SENT  RECEIVED\n"
		"MPI_Waitall     20     9 s   90.0    22.5  450 ms  500 ns  2 s     4 s        1  "
		"   0         0\n"
		"MPI_Barrier      2  900 ms    9.0     2.2  450 ms  400 ms    -  500 ms        2  "
		"   0         0\n"
		"MPI_Isend       20  100 ms    1.0     0.2    5 ms       -    -   60 ms        0  "
		"4.0K         0\n");
	ck_assert_int_eq(p.time_ns, 1000);
	ck_assert_double_eq_tol(p.row[0].in_call, 1, 1e-12);
	ck_assert_double_eq_tol(p.row[0].ranks, 4, 1e-12);
	profile_sort(&p, PROFILE_BY_NAME);
	ck_assert_str_eq(p.row[0].name, "MPI_Barrier");
	profile_sort(&p, PROFILE_BY_BYTES);
	ck_assert_str_eq(p.row[0].name, "MPI_Isend");
	ck_assert_ptr_nonnull(strstr(shown(1), "2 more rows (--rows)\n"));
	done();
}

TEST(nodes_have_their_names_and_their_own_time)
{
	two_hosts();
	read_all(PROFILE_NODE);
	profile_sort(&p, PROFILE_BY_TIME);
	ck_assert_uint_eq(p.n, 2);
	ck_assert_str_eq(p.row[0].name, "east1");
	ck_assert_str_eq(p.row[0].most_call, "MPI_Waitall");
	ck_assert_double_eq_tol(profile_of_wall(&p, &p.row[0]), 30.5, 1e-9);
	ck_assert_double_eq_tol(profile_of_mpi(&p, &p.row[1]), 39, 1e-9);
	done();
}

TEST(ranks_show_which_is_longest_and_which_is_shortest)
{
	fill(&entry[0], "p_1_a,p_1_b",
	     "1000,n_1,2,1,0,0,0,20000000000,10000000000,3,0,0,"
	     "[0,p_1_a,1,10,1000000000,0,0,10000000000,\"MPI_Recv\",900000000],"
	     "[1,p_1_b,0,12,5000000000,0,0,10000000000,\"MPI_Send\",5000000000]");
	read_all(PROFILE_RANK);
	profile_sort(&p, PROFILE_BY_TIME);
	ck_assert_str_eq(
		shown(0),
		"rank 1 is longest in MPI (5 s, 50 % of its time, most in MPI_Send); rank 0 is "
		"shortest in MPI (1 s, 10 % of its time, most in MPI_Recv)\n"
		"job heat: 2 ranks on 1 node, measured for up to 10 s; 1 has ended\n"
		"RANK  CALLS  TIME  % MPI  % WALL    MOST  IN        SENT  RECEIVED  STATE\n"
		"   1     12   5 s   83.3    50.0     5 s  MPI_Send     -         -  run\n"
		"   0     10   1 s   16.7    10.0  900 ms  MPI_Recv     -         -  ended\n");
	done();
}

TEST(pairs_are_rows_and_what_hosts_left_out_is_reported)
{
	fill(&entry[0], "p_1_a",
	     "1000,n_1,1,0,0,0,0,5000000000,5000000000,15,7,0,[3,4,2,1000,10,0]");
	read_all(PROFILE_PARTNER);
	ck_assert_int_eq(p.row[0].rank, 3);
	ck_assert_int_eq(p.row[0].partner, 4);
	ck_assert(p.has_partners);
	ck_assert_ptr_nonnull(strstr(shown(0), "7 rows with less time are left out\n"));
	done();
}

TEST(sites_of_one_place_are_one_row_and_unknown_ones_addresses)
{
	fill(&entry[0], "p_1_a",
	     "1000,n_1,1,0,0,0,0,5000000000,5000000000,16391,0,3,"
	     "[\"MPI_Send\",p_1_a,2,2000000000,1500000000,10,0,0,2000000000,1,[\"/a/heat\",4660],"
	     "[\"\",99]],[\"MPI_Send\",p_1_a,1,1000,1000,0,0,0,1000,1,[\"/a/heat\",4660]]");
	fill(&entry[1], "p_2_a",
	     "1000,n_2,1,0,0,0,0,5000000000,5000000000,16391,0,0,"
	     "[\"MPI_Send\",p_2_a,2,1000000000,1700000000,10,0,1,1000000000,1,[\"/a/heat\",4660],"
	     "[\"\",99]]");
	read_all(PROFILE_SITE);
	profile_sort(&p, PROFILE_BY_TIME);
	ck_assert_uint_eq(p.n, 2);
	ck_assert(p.has_sites);
	ck_assert_uint_eq(p.sampled, 0);
	ck_assert_double_eq_tol(p.row[0].seconds, 3, 1e-9);
	ck_assert_double_eq_tol(p.row[0].longest_s, 1.7, 1e-9);
	ck_assert_int_eq(p.row[0].most_rank, 0);
	ck_assert_ptr_nonnull(
		strstr(shown(0), "MPI_Send in heat+0x1234 takes 100 % of the time in MPI"));
	ck_assert_ptr_nonnull(strstr(shown(0), "  ?+0x63\n"));
	ck_assert_ptr_nonnull(strstr(shown(0), "3 calls are in no row: tables of ranks are full"
					       "\n"));
	ck_assert_ptr_null(strstr(shown(0), "-g"));
	for (size_t i = 0; i < 2; i++)
		p.row[i].frame[0] = (struct profile_frame){
			.is_found = true, .function = "main", .path = "/a/heat", .address = 0x10 + i
		};
	ck_assert_ptr_nonnull(strstr(shown(0), "  main      heat+0x10  "));
	ck_assert_ptr_nonnull(strstr(shown(0), "  main      heat+0x11  "));
	ck_assert_ptr_nonnull(strstr(shown(0), "compile the program with -g"));
	p.row[0].frame[0] = (struct profile_frame){ .is_found = true,
						    .function = "solve",
						    .source = "heat.c:88" };
	ck_assert_ptr_null(strstr(shown(0), "-g"));
	ck_assert_ptr_nonnull(strstr(shown(0), "MPI_Send in solve heat.c:88 takes"));
	done();
}

TEST(sizes_of_all_hosts_are_rows_by_call_and_class)
{
	fill(&entry[0], "p_1_a",
	     "1000,n_1,1,0,0,0,0,5000000000,5000000000,7,0,0,"
	     "[\"MPI_Send\",8,15,2,3000000000,20],[\"MPI_Send\",524288,1048575,1,1000,600000]");
	fill(&entry[1], "p_2_a",
	     "1000,n_2,1,0,0,0,0,5000000000,5000000000,7,0,2,"
	     "[\"MPI_Send\",8,15,1,1000000000,10],[\"MPI_Recv\",1073741824,-1,1,0,1073741824]");
	read_all(PROFILE_SIZE);
	profile_sort(&p, PROFILE_BY_TIME);
	ck_assert_str_eq(shown(0),
			 "MPI_Send of 8-15 bytes takes 100 % of the time in calls that move bytes\n"
			 "job heat: 2 ranks on 2 nodes, measured for up to 5 s\n"
			 "CALL      SIZE     CALLS  TIME  % MPI  % WALL    MEAN  BYTES\n"
			 "MPI_Send  8-15         3   4 s  100.0    40.0  1.33 s     30\n"
			 "MPI_Send  512K-1M      1  1 us    0.0     0.0    1 us   586K\n"
			 "MPI_Recv  1G+          1   0 s    0.0     0.0     0 s   1.0G\n"
			 "2 calls are in no row: tables of ranks are full\n");
	profile_sort(&p, PROFILE_BY_NAME);
	ck_assert_int_eq(p.row[1].size_from, 8);
	ck_assert_int_eq(p.row[2].size_from, 524288);
	profile_sort(&p, PROFILE_BY_BYTES);
	ck_assert_str_eq(p.row[0].name, "MPI_Recv");
	done();
}

TEST(unknown_times_are_not_shown_as_0)
{
	fill(&entry[0], "p_1_a,p_1_b",
	     "1000,n_1,2,0,2,3,0,0,0,1025,0,0,[\"MPI_Send\",\"send\",10,0,0,0,0,0,0,1]");
	read_all(PROFILE_CALL);
	ck_assert_str_eq(
		shown(0),
		"no time in MPI was measured\n"
		"job heat: 2 ranks on 1 node; time is not measured in 2; 3 processes "
		"cannot be read; time is an estimate from one call in 16\n"
		"CALL      CALLS  TIME  % MPI  % WALL  MEAN  MIN  MAX  MOST  ON RANK  SENT  "
		"RECEIVED\n"
		"MPI_Send     10   0 s      -       -   0 s    -    -   0 s        0     -         "
		"-\n");
	done();
	read_all(PROFILE_CALL);
	ck_assert_str_eq(shown(0), "no rank has replied\njob heat: 0 ranks on 0 nodes\n");
	done();
}

TEST(hostile_replies_change_nothing_else)
{
	static const char *const values[] = {
		"",
		"1",
		"\"x\",2,[",
		"1,n_1,-5,-1,-1,-1,-1,-1,-1,-1,-1,-1,[],[[]],[1,2],7,\"x\"",
		"1,n_1,1,0,0,0,0,1,1,3,0,0,[\"MPI_Send\",5,\"x\",-3,nan,inf,-1,-9,-1,-1]",
		"1,n_1,9223372036854775807,0,0,0,0,1,1,-1,0,0,[[],[],[]],[1,2,3,4,5,6,7,8,9,10,[[]],[\"/x\",1,2],7]",
	};

	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		for (int by = 0; by < PROFILE_KINDS; by++) {
			struct buf b = BUF_INIT(65536);
			struct json j;

			fill(&entry[0], "p_1_a", values[i]);
			read_all((enum profile_by)by);
			profile_sort(&p, PROFILE_BY_MEAN);
			shown(0);
			json_init(&j, &b);
			json_object(&j);
			profile_to_json(&j, &p);
			json_object_end(&j);
			ck_assert_int_eq(json_end(&j), 0);
			ck_assert(!(p.seconds < 0) && !(p.calls < 0));
			buf_done(&b);
			done();
		}
}

TEST(csv_and_json_have_the_same_columns)
{
	struct buf b = BUF_INIT(4096);

	two_hosts();
	read_all(PROFILE_CALL);
	profile_csv_head(PROFILE_CALL, &b);
	profile_to_csv(&p, &b);
	ck_assert_ptr_nonnull(strstr(
		buf_str(&b), "call,class,calls,seconds,mpi_percent,wall_percent,"
			     "mean_seconds,min_seconds,max_seconds,most_seconds,most_rank,"
			     "ranks,in_call,bytes_out,bytes_in\n"
			     "MPI_Waitall,complete,20,9,90,22.5,0.45,5e-07,2,4,1,4,1,0,0\n"));
	buf_done(&b);
	done();
}

SUITE("profile")
