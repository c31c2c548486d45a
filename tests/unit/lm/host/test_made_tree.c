/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A /proc and /sys of the test's own: logins, links, control groups, signals, segments and chosen
 * processes.
 */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/ring/chosen.h"
#include "common/ring/segmount.h"
#include "lm/host/host_linux.h"
#include "tests/suite.h"
#include "tests/unit/lm/host/made_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utmp.h>

#define CONN "omig1:top:7000:248h248h248h248h248h248h24"
#define CAID "248h248h"

/* --- counters */

TEST(segments_and_interrupts_are_counted)
{
	struct host_counts c;

	put("proc/stat", "cpu0 1\nintr 4711 1 2 3\nctxt 5\nprocs_running 1\nprocs_blocked 0\n");
	ck_assert_int_eq(host_counts(host, &c, NULL), 0);
	ck_assert_int_eq(c.v[HOST_INTERRUPTS], 4711);
	ck_assert_int_eq(c.v[HOST_TCP_SENT], -1);
	put("proc/net/snmp", "Ip: Forwarding OutSegs\nIp: 1 2\n"
			     "Tcp: RtoMin MaxConn InSegs OutSegs RetransSegs InErrs\n"
			     "Tcp: 200 -1 5 1000 17 0\n");
	ck_assert_int_eq(host_counts(host, &c, NULL), 0);
	ck_assert_int_eq(c.v[HOST_TCP_SENT], 1000);
	ck_assert_int_eq(c.v[HOST_TCP_RETRANSMITTED], 17);
	put("proc/net/snmp", "Tcp: OutSegs RetransSegs\nTcp: 3\n"); /* cut off */
	ck_assert_int_eq(host_counts(host, &c, NULL), 0);
	ck_assert_int_eq(c.v[HOST_TCP_SENT], 3);
	ck_assert_int_eq(c.v[HOST_TCP_RETRANSMITTED], -1);
}

TEST(connections_of_a_tree_are_not_known)
{
	struct host_tcp tcp[2];
	size_t n = 2, left_out;

	ck_assert_int_eq(host_tcp(host, tcp, &n, &left_out), -ERR_UNSUPPORTED);
}

TEST(a_connection_of_ours_is_listed)
{
	static struct host_tcp tcp[HOST_TCP_MAX];
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	size_t n = HOST_TCP_MAX, left_out, found = 0;
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	struct host *live;
	char remote[HOST_TCP_ADDRESS_BYTES];

	ck_assert(!bind(listener, (struct sockaddr *)&at, len) && !listen(listener, 1) &&
		  !getsockname(listener, (struct sockaddr *)&at, &len) &&
		  !connect(fd, (struct sockaddr *)&at, len));
	ck_assert_int_eq(host_linux_open("/", NULL, &live, NULL), 0);
	ck_assert_int_eq(host_tcp(live, tcp, &n, &left_out), 0);
	snprintf(remote, sizeof(remote), "127.0.0.1:%u", (unsigned)ntohs(at.sin_port));
	for (size_t i = 0; i < n; i++)
		found += !strcmp(tcp[i].remote, remote) && tcp[i].rtt_s >= 0 &&
			 !tcp[i].retransmitted;
	ck_assert(found == 1 || left_out > 0);
	host_free(live);
	close(fd);
	close(listener);
}

/* --- logins */

static struct utmp entry(int16_t type, int pid, const char *line, const char *from)
{
	struct utmp u = { .ut_type = type, .ut_pid = pid };

	memcpy(u.ut_line, line, strlen(line));
	memcpy(u.ut_host, from, strlen(from));
	return u;
}

TEST(logins_are_counted_by_origin_and_activity)
{
	const struct utmp all[] = {
		entry(USER_PROCESS, 100, "tty1", ""),
		entry(USER_PROCESS, 101, "pts/0", ":0"),
		entry(USER_PROCESS, 102, "pts/1", "far.example.org"),
		entry(USER_PROCESS, 103, "pts/2", "near"),
		entry(USER_PROCESS, 104, "pts/3", "near"),
		entry(USER_PROCESS, 999, "pts/0", "gone"), /* the entry was left over */
		entry(DEAD_PROCESS, 100, "tty1", ""),
		entry(LOGIN_PROCESS, 100, "tty1", ""),
	};
	const time_t now = time(NULL);
	struct timespec when[2] = { { .tv_sec = now - 290 }, { .tv_sec = now } };
	struct host_now n;

	for (int i = 0; i < 5; i++) {
		char path[32];

		snprintf(path, sizeof(path), "proc/%d/stat", 100 + i);
		put(path, "");
	}
	put_bytes("run/utmp", all, sizeof(all));
	put("dev/pts/0", "");
	put("dev/pts/1", "");
	put("dev/pts/2", "");
	ck_assert_int_eq(utimensat(AT_FDCWD, at("dev/pts/0"), when, 0), 0);
	when[0].tv_sec = now - 301;
	ck_assert_int_eq(utimensat(AT_FDCWD, at("dev/pts/1"), when, 0), 0);
	ck_assert_int_eq(host_now(host, &n, NULL), 0);
	ck_assert_int_eq(n.local_users, 2);
	ck_assert_int_eq(n.local_active, 1);
	ck_assert_int_eq(n.remote_users, 3);
	ck_assert_int_eq(n.remote_active, 1);
}

TEST(the_older_place_of_the_record_is_read_but_no_torn_entry)
{
	const struct utmp one = entry(USER_PROCESS, 100, "tty1", "");
	uint8_t bytes[sizeof(one) + sizeof(one) / 2] = { 0 };
	struct host_now n;

	ck_assert_int_eq(host_now(host, &n, NULL), 0);
	ck_assert_int_eq(n.local_users, -1);
	ck_assert_int_eq(n.remote_active, -1);
	put("proc/100/stat", "");
	memcpy(bytes, &one, sizeof(one));
	memcpy(bytes + sizeof(one), &one, sizeof(one) / 2);
	put_bytes("var/run/utmp", bytes, sizeof(bytes));
	ck_assert_int_eq(host_now(host, &n, NULL), 0);
	ck_assert_int_eq(n.local_users, 1);
	ck_assert_int_eq(n.remote_users, 0);
	ck_assert_int_eq(n.local_active, 0);
}

/* --- links and disks */

struct mounts {
	char text[256];
};

static bool note_mount(void *arg, const char *path, uint64_t key)
{
	struct mounts *m = arg;
	size_t n = strlen(m->text);

	snprintf(m->text + n, sizeof(m->text) - n, "%s=%llx ", path,
		 (unsigned long long)(key ^ SEG_MOUNT_KEY(0, 0, 0)));
	return false;
}

TEST(mounts_are_listed_from_the_last_one_on)
{
	struct mounts m = { "" };

	ck_assert_int_eq(host_each_mount(host, 77, note_mount, &m), -ERR_SYS);
	put("proc/self/mountinfo", "1 0 0:5 / / rw - tmpfs none rw\n");
	ck_assert_int_eq(host_each_mount(host, 77, note_mount, &m), 0);
	ck_assert_str_eq(m.text, "/=100000005 ");
	m.text[0] = '\0';
	put("proc/77/mountinfo", "21 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n"
				 "not a line\n"
				 "22 21 0:20\n"
				 "23 21 0:21 /sub /a\\040b rw - tmpfs none rw\n"
				 "24 21 0:22 / relative rw - tmpfs none rw");
	ck_assert_int_eq(host_each_mount(host, 77, note_mount, &m), 0);
	ck_assert_str_eq(m.text, "/a b=1700000015 /=1500800001 ");
}

TEST(links_have_the_types_that_the_kernel_numbers)
{
	static const struct {
		const char *name, *number, *type;
	} links[] = {
		{ "a", "1", "ethernet" }, { "b", "772", "loopback" }, { "c", "32", "infiniband" },
		{ "d", "512", "ppp" },	  { "e", "65534", "tunnel" }, { "f", "768", "tunnel" },
		{ "g", "769", "tunnel" }, { "h", "24", "type 24" },   { "i", "", "type -1" },
	};
	struct host_facts f;
	char text[300] = "", path[64];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s: 1 2\n", links[i].name);
		snprintf(path, sizeof(path), "sys/class/net/%s/type", links[i].name);
		put(path, links[i].number);
	}
	put("proc/net/dev", text);
	put("sys/class/net/a/speed", "1000\n");
	put("sys/class/net/b/speed", "-1\n");
	put("sys/class/net/c/speed", "0\n");
	ck_assert_int_eq(host_facts(host, &f, NULL), 0);
	ck_assert_int_eq(f.nlinks, ARRAY_LEN(links));
	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		ck_assert_str_eq(f.link[i].name, links[i].name);
		ck_assert_str_eq(f.link[i].type, links[i].type);
		ck_assert_str_eq(f.link[i].address, "");
		ck_assert_int_eq(f.link[i].kb_per_s, i ? -1 : 125000);
	}
}

TEST(disks_are_those_with_a_device_that_stays)
{
	struct host_facts f;

	ck_assert_int_eq(host_facts(host, &f, NULL), 0);
	ck_assert_int_eq(f.disks, -1);
	put("sys/block/sda/device/model", "x");
	put("sys/block/sda/size", "2001\n");
	put("sys/block/nvme0n1/device/model", "x");
	put("sys/block/nvme0n1/size", "8\n");
	put("sys/block/sr0/device/model", "x");
	put("sys/block/sr0/size", "100\n");
	put("sys/block/fd0/device/model", "x");
	put("sys/block/fd0/size", "100\n");
	put("sys/block/loop0/size", "100\n");
	ck_assert_int_eq(host_facts(host, &f, NULL), 0);
	ck_assert_int_eq(f.disks, 2);
	ck_assert_int_eq(f.disk_kib, 1000 + 4);
}

/* --- control groups */

TEST(the_smallest_limit_on_the_way_up_counts)
{
	struct host_now n;

	put("proc/self/cgroup", "0::/a/b/c\n");
	put("sys/fs/cgroup/a/b/c/memory.max", "max\n");
	put("sys/fs/cgroup/a/b/memory.max", "5000\n");
	put("sys/fs/cgroup/a/memory.max", "4000\n");
	put("sys/fs/cgroup/memory.max", "9000\n");
	put("sys/fs/cgroup/a/b/c/memory.current", "77\n");
	put("sys/fs/cgroup/a/b/c/cpu.max", "50000 100000\n");
	ck_assert_int_eq(host_now(host, &n, NULL), 0);
	ck_assert_int_eq(n.group_memory_max, 4000);
	ck_assert_int_eq(n.group_memory, 77);
	ck_assert_double_eq(n.group_cpus, 0.5);
	put("sys/fs/cgroup/memory.max", "0\n");
	put("sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
	ck_assert_int_eq(host_now(host, &n, NULL), 0);
	ck_assert_int_eq(n.group_memory_max, 0);
	ck_assert_double_eq(n.group_cpus, -1);
}

TEST(the_root_group_has_its_files_at_the_top)
{
	struct host_now n;

	put("proc/self/cgroup", "0::/\n");
	put("sys/fs/cgroup/memory.max", "123\n");
	put("sys/fs/cgroup/memory.current", "7\n");
	put("sys/fs/cgroup/cpu.max", "30000 0\n");
	ck_assert_int_eq(host_now(host, &n, NULL), 0);
	ck_assert_int_eq(n.group_memory_max, 123);
	ck_assert_int_eq(n.group_memory, 7);
	ck_assert_double_eq(n.group_cpus, -1);
}

TEST(controllers_of_the_first_version_share_a_hierarchy)
{
	struct host_now n;

	put("proc/self/cgroup", "4:devices:/x\n3:cpu,cpuacct:/c\n2:memory:/m/n\n1:cpuset:/y\n");
	put("sys/fs/cgroup/memory/m/n/memory.limit_in_bytes", "9223372036854771712\n");
	put("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "1152921504606846976\n");
	put("sys/fs/cgroup/memory/m/n/memory.usage_in_bytes", "66\n");
	put("sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "250000\n");
	put("sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n");
	ck_assert_int_eq(host_now(host, &n, NULL), 0);
	ck_assert_int_eq(n.group_memory_max, -1); /* a huge number means no limit */
	ck_assert_int_eq(n.group_memory, 66);
	ck_assert_double_eq(n.group_cpus, 2.5);
	put("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "1152921504606846975\n");
	put("sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "-1\n");
	ck_assert_int_eq(host_now(host, &n, NULL), 0);
	ck_assert_int_eq(n.group_memory_max, 1152921504606846975);
	ck_assert_double_eq(n.group_cpus, -1);
}

#define STAT_FIRST \
	"77 (a) R 1 1 1 0 -1 0 1 0 2 0 3 4 0 0 20 0 1 0 9 100 5 0 0 0 0 0 0 0 0 0 0 0 0 0 17 "
#define STAT(processor, blocked) STAT_FIRST processor " 0 0 " blocked " 0 0 0 0 0 0 0 0 0 0\n"

static double figure_of(unsigned what)
{
	struct host_figures f;

	ck_assert_int_eq(host_figures(host, 77, what, &f, NULL), 0);
	return what == HOST_FIGURES_RUN_DELAY	  ? f.run_delay_s
	       : what == HOST_FIGURES_BLOCK_DELAY ? f.block_delay_s
	       : what == HOST_FIGURES_GROUP	  ? f.throttled_s
						  : f.frequency_hz;
}

TEST(a_process_was_ready_as_long_as_all_its_threads)
{
	put("proc/77/stat", STAT("3", "0"));
	ck_assert_double_eq(figure_of(HOST_FIGURES_RUN_DELAY), -1);
	put("proc/77/task/77/schedstat", "5 1500000000 9\n");
	put("proc/77/task/78/schedstat", "7 250000000 1\n");
	ck_assert_double_eq_tol(figure_of(HOST_FIGURES_RUN_DELAY), 1.75, 1e-12);
	put("proc/77/task/77/schedstat", "0 0 0\n"); /* the kernel does not count */
	put("proc/77/task/78/schedstat", "0 0\n");
	ck_assert_double_eq(figure_of(HOST_FIGURES_RUN_DELAY), -1);
}

TEST(waits_for_disks_are_known_with_delay_accounting_only)
{
	put("proc/77/stat", STAT("3", "150"));
	put("proc/77/task/77/stat", STAT("3", "150"));
	put("proc/77/task/78/stat", STAT("3", "30"));
	ck_assert_double_eq(figure_of(HOST_FIGURES_BLOCK_DELAY), -1);
	put("proc/sys/kernel/task_delayacct", "0\n");
	ck_assert_double_eq(figure_of(HOST_FIGURES_BLOCK_DELAY), -1);
	put("proc/sys/kernel/task_delayacct", "1\n");
	ck_assert_double_eq_tol(figure_of(HOST_FIGURES_BLOCK_DELAY), 1.8, 1e-12);
}

TEST(the_clock_is_that_of_the_processor_that_ran_the_process_last)
{
	put("proc/77/stat", STAT("3", "0"));
	put("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "800000\n");
	ck_assert_double_eq(figure_of(HOST_FIGURES_FREQUENCY), -1);
	put("sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq", "2400000\n");
	ck_assert_double_eq(figure_of(HOST_FIGURES_FREQUENCY), 2.4e9);
}

TEST(a_process_is_throttled_by_each_group_around_it)
{
	put("proc/77/stat", STAT("3", "0"));
	put("proc/77/cgroup", "0::/a/b\n");
	ck_assert_double_eq(figure_of(HOST_FIGURES_GROUP), -1);
	put("sys/fs/cgroup/a/b/cpu.stat", "usage_usec 9\n");
	ck_assert_double_eq(figure_of(HOST_FIGURES_GROUP), -1);
	put("sys/fs/cgroup/a/b/cpu.stat", "usage_usec 9\nnr_throttled 1\nthrottled_usec 250000\n");
	put("sys/fs/cgroup/a/cpu.stat", "throttled_usec 500000\n");
	put("sys/fs/cgroup/cpu.stat", "throttled_usec 0\n");
	put("sys/fs/cpu.stat", "throttled_usec 77000000\n");
	ck_assert_double_eq_tol(figure_of(HOST_FIGURES_GROUP), 0.75, 1e-12);
	put("proc/77/cgroup", "0::/../a\n"); /* not in our namespace */
	ck_assert_double_eq(figure_of(HOST_FIGURES_GROUP), -1);
	put("proc/77/cgroup", "3:cpu,cpuacct:/\n");
	put("sys/fs/cgroup/cpu/cpu.stat", "nr_periods 1\nthrottled_time 2000000000\n");
	ck_assert_double_eq_tol(figure_of(HOST_FIGURES_GROUP), 2, 1e-12);
}

TEST(both_versions_at_once_complete_each_other)
{
	struct host_now n;

	put("proc/self/cgroup", "2:memory:/m\n0::/u\n");
	put("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "100\n");
	put("sys/fs/cgroup/memory/m/memory.usage_in_bytes", "10\n");
	put("sys/fs/cgroup/unified/u/memory.max", "50\n");
	put("sys/fs/cgroup/unified/u/memory.current", "5\n");
	put("sys/fs/cgroup/unified/u/cpu.max", "10 40\n");
	ck_assert_int_eq(host_now(host, &n, NULL), 0);
	ck_assert_int_eq(n.group_memory_max, 100);
	ck_assert_int_eq(n.group_memory, 10);
	ck_assert_double_eq(n.group_cpus, 0.25);
}

/* --- processes */

TEST(masks_of_signals_are_known_together_or_not_at_all)
{
	struct host_figures f;

	put("proc/70/status", "Uid:\t1\t1\t1\t1\nSigPnd:\t01\nShdPnd:\t02\nSigBlk:\tf0\n"
			      "SigIgn:\t0000000000001000\nSigCgt:\t8000000000000000\n");
	put("proc/71/status", "Uid:\t1\t1\t1\t1\nSigPnd:\t01\nSigBlk:\tf0\nSigIgn:\t1\n");
	ck_assert_int_eq(host_figures(host, 70, HOST_FIGURES_SIGNALS, &f, NULL), 0);
	ck_assert(f.has_signals);
	ck_assert_uint_eq(f.sig_pending, 3);
	ck_assert_uint_eq(f.sig_blocked, 0xf0);
	ck_assert_uint_eq(f.sig_ignored, 0x1000);
	ck_assert_uint_eq(f.sig_caught, UINT64_C(1) << 63);
	ck_assert_int_eq(f.uid, -1); /* not requested */
	ck_assert_int_eq(host_figures(host, 71, HOST_FIGURES_SIGNALS, &f, NULL), 0);
	ck_assert(!f.has_signals);
	ck_assert_int_eq(host_figures(host, 71, HOST_FIGURES_STATUS, &f, NULL), 0);
	ck_assert(!f.has_signals);
	ck_assert_int_eq(f.uid, 1);
	ck_assert_int_eq(f.stack, -1);
	ck_assert_int_eq(host_figures(host, 72, HOST_FIGURES_SIGNALS, &f, NULL), -ERR_NOTFOUND);
}

static struct {
	unsigned n;
	int32_t pid[8];
} found;

static void on_memfd(void *arg, int32_t pid, int fd)
{
	found.pid[found.n++ % 8] = pid;
	close(fd);
}

TEST(segments_are_found_by_their_whole_name)
{
	char file[64];

	memset(&found, 0, sizeof(found));
	snprintf(file, sizeof(file), "%s/memfd:a (deleted)", root);
	link_to("proc/80/fd/3", "/memfd:seg (deleted)");
	link_to("proc/80/fd/4", "/memfd:segment (deleted)");
	link_to("proc/80/fd/5", "/memfd:seg");
	link_to("proc/80/fd/x", "/memfd:seg (deleted)");
	/* None of them can be opened in a made tree: none is found. */
	ck_assert_int_eq(host_each_memfd(host, "seg", on_memfd, NULL), 0);
	ck_assert_uint_eq(found.n, 0);
}

static struct host_chosen chosen[8];
static size_t nchosen;

static void on_chosen(void *arg, const struct host_chosen *c)
{
	ck_assert_uint_lt(nchosen, ARRAY_LEN(chosen));
	chosen[nchosen++] = *c;
}

TEST(chosen_processes_are_those_of_the_monitor_with_the_mark)
{
	VARIABLES("A=1", CHOSEN_VARIABLE "=12", "OMIG_MAINSM=" CONN, "OMIG_JOB=night");
	add_proc(50, "/usr/bin/heat");
	VARIABLES(CHOSEN_VARIABLE "=13", "OMIG_MAINSM=" CONN);
	add_proc(51, "/usr/bin/gone (deleted)");
	/* No mark, a bad one, one with another name, and another monitor. */
	VARIABLES("OMIG_MAINSM=" CONN);
	add_proc(52, "/usr/bin/heat");
	VARIABLES(CHOSEN_VARIABLE "=0", "OMIG_MAINSM=" CONN);
	add_proc(53, "/usr/bin/heat");
	VARIABLES("X" CHOSEN_VARIABLE "=12", CHOSEN_VARIABLE "S=12", "OMIG_MAINSM=" CONN);
	add_proc(54, "/usr/bin/heat");
	VARIABLES(CHOSEN_VARIABLE "=12", "OMIG_MAINSM=omig1:top:7000:48h248h248h248h248h248h248");
	add_proc(55, "/usr/bin/heat");
	VARIABLES(CHOSEN_VARIABLE "=12");
	add_proc(56, "/usr/bin/heat");
	VARIABLES(CHOSEN_VARIABLE "=", "OMIG_MAINSM=" CONN);
	add_proc(57, "/usr/bin/heat");
	environment.n = 0;
	add_proc(58, "/usr/bin/heat");
	nchosen = 0;
	ck_assert_int_eq(host_each_chosen(host, CAID, on_chosen, NULL), 0);
	ck_assert_uint_eq(nchosen, 2);
	ck_assert_int_eq(chosen[0].pid, 50);
	ck_assert_int_eq(chosen[0].mark, 12);
	ck_assert_str_eq(chosen[0].name, "a name");
	ck_assert_str_eq(chosen[0].job, "night");
	ck_assert_str_eq(chosen[0].program, "/usr/bin/heat");
	ck_assert_int_eq(chosen[1].pid, 51);
	ck_assert_str_eq(chosen[1].job, "");
	ck_assert_str_eq(chosen[1].program, "/usr/bin/gone");
}

TEST(our_own_programs_are_never_chosen)
{
	link_to("proc/self/exe", "/opt/omig/bin/lm");
	VARIABLES(CHOSEN_VARIABLE "=12", "OMIG_MAINSM=" CONN);
	add_proc(60, "/opt/omig/bin/lm-look");
	add_proc(61, "/opt/omig/bin/deeper/heat");
	add_proc(62, "/opt/omig/binary/heat");
	add_proc(63, "/opt/omig/bin");
	add_proc((int)getpid(), "/usr/bin/heat");
	nchosen = 0;
	ck_assert_int_eq(host_each_chosen(host, CAID, on_chosen, NULL), 0);
	ck_assert_uint_eq(nchosen, 3);
	ck_assert_int_eq(chosen[0].pid, 61);
	ck_assert_int_eq(chosen[1].pid, 62);
	ck_assert_int_eq(chosen[2].pid, 63);
}

TEST(processes_of_other_users_are_left_alone)
{
	VARIABLES(CHOSEN_VARIABLE "=12", "OMIG_MAINSM=" CONN);
	add_proc(60, "/usr/bin/heat");
	if (chown(at("proc/60"), 12345, 12345))
		return; /* only root may change the owner */
	nchosen = 0;
	ck_assert_int_eq(host_each_chosen(host, CAID, on_chosen, NULL), 0);
	ck_assert_uint_eq(nchosen, 0);
}

SUITE_WITH("made host", set_up, clean_up)
