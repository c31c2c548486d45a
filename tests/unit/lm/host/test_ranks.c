/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks and their launchers, by a /proc of the test's own. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "tests/suite.h"
#include "tests/unit/lm/host/made_tree.h"

static struct host_rank rank[4];
static struct host_launcher launcher[64];
static size_t nrank, nlauncher;

static void on_rank(void *arg, const struct host_rank *r)
{
	ck_assert_uint_lt(nrank, ARRAY_LEN(rank));
	rank[nrank++] = *r;
}

static void on_launcher(void *arg, const struct host_launcher *l)
{
	ck_assert_uint_lt(nlauncher, ARRAY_LEN(launcher));
	launcher[nlauncher++] = *l;
}

static void put_of(int pid, const char *name, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%d/%s", pid, name);
	put(path, text);
}

static void add_stat(int pid, int parent)
{
	char stat[256];

	snprintf(
		stat, sizeof(stat),
		"%d (some) S %d 1 1 0 -1 4194560 1 0 0 0 10 5 0 0 20 0 1 0 27063 1000 10 0 0 0 0 0 "
		"0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		pid, parent);
	put_of(pid, "stat", stat);
}

static void add_rank(int pid, int parent, const char *status)
{
	add_proc(pid, "/usr/bin/heat");
	add_stat(pid, parent);
	put_of(pid, "maps", "7f00-7f01 r-xp 0 08:01 1 /usr/lib/libmpi.so.40\n");
	put_of(pid, "status", status);
}

TEST(ranks_have_the_address_of_their_launcher_and_their_own_name)
{
	VARIABLES("OMPI_COMM_WORLD_RANK=1", "PMIX_NAMESPACE=77",
		  "OMPI_MCA_orte_hnp_uri=76.0;tcp://10.0.0.1,10.1.0.1:5000;tcp6://x:7");
	add_rank(70, 1, "Name:\theat\nNSpid:\t70\t14\nThreads:\t1\n");
	link_to("proc/self/ns/pid", "pid:[11]");
	link_to("proc/self/ns/uts", "uts:[12]");
	link_to("proc/70/ns/pid", "pid:[21]");
	link_to("proc/70/ns/uts", "uts:[12]");
	VARIABLES("PMI_RANK=0");
	add_rank(71, 80, "Name:\theat\n");
	VARIABLES("A=1");
	add_proc(80, "/usr/bin/hydra_pmi_proxy");
	put_of(80, "comm", "hydra_pmi_proxy\n");
	add_stat(80, 1);
	put_bytes("proc/80/cmdline", "hydra_pmi_proxy\0--control-port\0head:42897\0--rmk", 51);
	nrank = 0;
	ck_assert_int_eq(host_each_rank(host, on_rank, NULL), 0);
	ck_assert_uint_eq(nrank, 2);
	ck_assert_str_eq(rank[0].job, "77");
	ck_assert_str_eq(rank[0].origin, "10.0.0.1,10.1.0.1:5000");
	ck_assert_str_eq(rank[0].process, "pid:[21].14");
	ck_assert(!rank[0].is_near);
	ck_assert_str_eq(rank[1].job, "hydra-head:42897");
	ck_assert_str_eq(rank[1].origin, "head:42897");
	ck_assert_int_eq(rank[1].launcher, 80);
	ck_assert_str_eq(rank[1].process, ""); /* not known */
	ck_assert(rank[1].is_near);
}

#define TCP_HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt uid\n"
#define TCP_LINE(local, state, inode)                          \
	"   0: " local " 00000000:0000 " state                 \
	" 00000000:00000000 00:00000000 00000000  0  0 " inode \
	" 1 00000000cfe39d6b 100 0 0 10 0\n"

static bool listens(const char *where)
{
	for (size_t i = 0; i < nlauncher; i++)
		if (launcher[i].pid == 90 && str_eq(launcher[i].at, where))
			return true;
	return false;
}

TEST(launchers_have_the_addresses_at_which_they_listen)
{
	char name[256] = "", where[300];

	VARIABLES("A=1");
	add_proc(90, "/usr/bin/mpirun");
	put_of(90, "comm", "mpirun.openmpi\n");
	link_to("proc/90/fd/3", "socket:[1001]");
	link_to("proc/90/fd/4", "socket:[1002]");
	link_to("proc/90/fd/5", "socket:[1003]");
	link_to("proc/90/fd/6", "/dev/null");
	put_of(90, "net/tcp",
	       TCP_HEAD TCP_LINE("0100007F:AEF1", "0A", "1001") /* of this host only */
	       TCP_LINE("00000000:D5AD", "0A", "1002") TCP_LINE("00000000:D5AE", "01", "1003")
		       TCP_LINE("00000000:D5AF", "0A", "2001") "cut off\n");
	put_of(90, "net/tcp6",
	       TCP_HEAD TCP_LINE("00000000000000000000000001000000:0050", "0A", "1003"));
	add_proc(91, "/usr/bin/heat"); /* no launcher */
	nlauncher = 0;
	ck_assert_int_eq(host_each_launcher(host, on_launcher, NULL), 0);
	ck_assert_uint_ge(nlauncher, 4);
	ck_assert_str_eq(launcher[0].name, "mpirun.openmpi");
	ck_assert_str_eq(launcher[0].at, "");
	ck_assert(listens("127.0.0.1:44785"));
	ck_assert(listens("::1:80"));
	ck_assert_int_eq(gethostname(name, sizeof(name) - 1), 0);
	snprintf(where, sizeof(where), "%s:54701", name);
	ck_assert(listens(where));
	for (size_t i = 0; i < nlauncher; i++) {
		ck_assert_int_eq(launcher[i].pid, 90);
		ck_assert_ptr_null(strstr(launcher[i].at, ":54702"));
		ck_assert_ptr_null(strstr(launcher[i].at, ":54703"));
	}
}

SUITE_WITH("ranks", set_up, clean_up)
