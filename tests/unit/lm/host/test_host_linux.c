/* SPDX-License-Identifier: Apache-2.0 */
/* Every field of the node, of processes and of threads, from recorded machines. */
#include "common/base/buf.h"
#include "lm/host/host_linux.h"
#include "lm/host/proctext.h"
#include "tests/suite.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct host *server, *group1;

static void open_hosts(void)
{
	struct err e = { 0 };

	ck_assert_msg(host_linux_open("tests/golden/proc-server", NULL, &server, &e) == 0, "%s",
		      e.text);
	ck_assert_msg(host_linux_open("tests/golden/proc-group1", NULL, &group1, &e) == 0, "%s",
		      e.text);
	host_linux_set_units(server, 4096, 100);
	host_linux_set_units(group1, 4096, 100);
}

static void close_hosts(void)
{
	host_free(server);
	host_free(group1);
}

static void assert_near(double a, double b)
{
	ck_assert_msg(a - b < 1e-9 && b - a < 1e-9, "%g is not %g", a, b);
}

TEST(facts_report_the_system_and_the_processors)
{
	struct host_facts f;

	ck_assert_int_eq(host_facts(server, &f, NULL), 0);
	ck_assert_str_eq(f.os_name, "Linux");
	ck_assert_str_eq(f.os_version, "#1 SMP Debian 6.1.99-1 (2024-07-15)");
	ck_assert_str_eq(f.os_release, "6.1.0-23-amd64");
	ck_assert_str_eq(f.os_nodename, "node17");
	ck_assert_str_eq(f.arch, "x86_64");
	ck_assert_int_eq(f.boot_time_s, 1700000000);
	ck_assert_int_eq(f.cpus, 3);
	ck_assert_int_eq(f.processes_max, 127000);
	ck_assert_int_eq(f.cpu_mhz, 3200);
	ck_assert_int_eq(f.logins_max, 4096);
}

TEST(facts_report_memory_and_disks)
{
	struct host_facts f;

	ck_assert_int_eq(host_facts(server, &f, NULL), 0);
	ck_assert_int_eq(f.pages, 4096000);
	ck_assert_int_eq(f.page_size, 4096);
	ck_assert_int_eq(f.swap_pages, 512000);
	ck_assert_int_eq(f.disks, 2); /* no loop, no media */
	ck_assert_int_eq(f.disk_kib, 1000500);
	ck_assert_int_eq(f.tmp_kib, -1); /* none was recorded */
}

TEST(facts_report_the_links)
{
	struct host_facts f;

	ck_assert_int_eq(host_facts(server, &f, NULL), 0);
	ck_assert_int_eq(f.nlinks, 4);
	ck_assert_str_eq(f.link[0].name, "lo");
	ck_assert_str_eq(f.link[0].type, "loopback");
	ck_assert_int_eq(f.link[0].kb_per_s, -1);
	ck_assert_str_eq(f.link[1].name, "eth0");
	ck_assert_str_eq(f.link[1].type, "ethernet");
	ck_assert_int_eq(f.link[1].kb_per_s, 12500);
	ck_assert_str_eq(f.link[2].name, "enp1s0f0");
	ck_assert_int_eq(f.link[2].kb_per_s, 1250000);
	ck_assert_str_eq(f.link[3].type, "infiniband");
}

TEST(a_clock_without_cpufreq_comes_from_cpuinfo_or_is_unknown)
{
	struct host_facts f;

	ck_assert_int_eq(host_facts(group1, &f, NULL), 0);
	ck_assert_int_eq(f.cpu_mhz, -1);
	ck_assert_int_eq(f.disks, -1);
	ck_assert_int_eq(f.processes_max, -1);
	ck_assert_str_eq(f.os_name, "");
}

TEST(now_reports_queues_and_loads)
{
	struct host_now n;

	ck_assert_int_eq(host_now(server, &n, NULL), 0);
	ck_assert_int_eq(n.running, 3); /* without the one that reads */
	ck_assert_int_eq(n.disk_wait, 2);
	ck_assert_int_eq(n.page_wait, -1);
	ck_assert_int_eq(n.sleeping, 250 - 1 - 3 - 2);
	ck_assert_int_eq(n.swapped_out, 0);
	assert_near(n.load1, 1.25);
	assert_near(n.load5, 0.50);
	assert_near(n.load15, 0.05);
}

TEST(now_reports_memory_pressure_and_group)
{
	struct host_now n;

	ck_assert_int_eq(host_now(server, &n, NULL), 0);
	ck_assert_int_eq(n.free_pages, 1024000);
	ck_assert_int_eq(n.available_pages, 2048000);
	ck_assert_int_eq(n.used_pages, 4096000 - 1024000);
	ck_assert_int_eq(n.free_swap_pages, 256000);
	assert_near(n.cpu_some, 12.5);
	assert_near(n.memory_some, 1);
	assert_near(n.memory_full, 0.5);
	assert_near(n.io_some, 3);
	assert_near(n.io_full, 2.25);
	ck_assert_int_eq(n.group_memory_max, 1073741824); /* the parent's: its own is "max" */
	ck_assert_int_eq(n.group_memory, 555);
	assert_near(n.group_cpus, 1.5);
	ck_assert_int_eq(n.local_users, -1); /* no record exists */
}

TEST(the_first_version_of_control_groups_is_read_too)
{
	struct host_now n;

	ck_assert_int_eq(host_now(group1, &n, NULL), 0);
	ck_assert_int_eq(n.group_memory_max, 268435456);
	ck_assert_int_eq(n.group_memory, 4096);
	assert_near(n.group_cpus, 0.5);
	ck_assert_int_eq(n.running, 0);
	ck_assert_int_eq(n.sleeping, 0);
	assert_near(n.io_full, -1);
	ck_assert_int_eq(n.available_pages, -1);
}

TEST(counts_report_switches_pages_and_disks)
{
	struct host_counts c;

	ck_assert_int_eq(host_counts(server, &c, NULL), 0);
	ck_assert_int_eq(c.v[HOST_CONTEXT_SWITCHES], 987654321);
	ck_assert_int_eq(c.v[HOST_EXECS], -1);
	ck_assert_int_eq(c.v[HOST_SYSCALLS], -1);
	ck_assert_int_eq(c.v[HOST_SWAP_IN], 11);
	ck_assert_int_eq(c.v[HOST_SWAP_OUT], 22);
	ck_assert_int_eq(c.v[HOST_PAGE_IN], 100000);
	ck_assert_int_eq(c.v[HOST_PAGE_OUT], 200000);
	ck_assert_int_eq(c.v[HOST_DISK_READS], 1020); /* no parts, no loop, no media */
	ck_assert_int_eq(c.v[HOST_DISK_WRITES], 530);
	ck_assert_int_eq(c.v[HOST_DISK_BYTES_READ], 20001 * 512);
	ck_assert_int_eq(c.v[HOST_DISK_BYTES_WRITTEN], 3001 * 512);
	ck_assert_int_eq(c.v[HOST_NFS_READS], 770);
	ck_assert_int_eq(c.v[HOST_NFS_WRITES], 880);
	ck_assert_int_eq(c.v[HOST_SYS_READS], -1);
}

TEST(counts_report_packets_by_speed_and_processor_time)
{
	struct host_counts c;

	ck_assert_int_eq(host_counts(server, &c, NULL), 0);
	ck_assert_int_eq(c.v[HOST_PACKETS_LOCAL], 29);
	ck_assert_int_eq(c.v[HOST_PACKETS_SLOW_RECEIVED], 1000);
	ck_assert_int_eq(c.v[HOST_PACKETS_SLOW_SENT], 700);
	ck_assert_int_eq(c.v[HOST_PACKETS_FAST_RECEIVED], 44 + 6);
	ck_assert_int_eq(c.v[HOST_PACKETS_FAST_SENT], 55 + 8);
	ck_assert_int_eq(c.v[HOST_BYTES_RECEIVED], 1000000 + 123 + 5);
	ck_assert_int_eq(c.v[HOST_BYTES_SENT], 500000 + 500 + 7);
	ck_assert_int_eq(c.v[HOST_CPU_USER], 1200);
	ck_assert_int_eq(c.v[HOST_CPU_SYSTEM], 313);
	ck_assert_int_eq(c.v[HOST_CPU_IDLE], 40000);
	ck_assert_int_eq(c.v[HOST_CPU_IOWAIT], 500);
	ck_assert_int_eq(c.v[HOST_CPU_STEAL], 80);
}

TEST(a_process_reports_all_its_figures)
{
	struct host_figures f;
	unsigned all =
		HOST_FIGURES_STAT | HOST_FIGURES_STATUS | HOST_FIGURES_IO | HOST_FIGURES_SWITCHES;

	ck_assert_int_eq(host_figures(server, 4242, all, &f, NULL), 0);
	ck_assert_str_eq(f.name, "my (odd) prog");
	ck_assert_int_eq(f.state, 'S');
	ck_assert_int_eq(f.parent, 4200);
	ck_assert_uint_eq(f.start, 777000);
	ck_assert_double_ge(f.age_s, 0);
	ck_assert_int_eq(f.threads, 3);
	ck_assert_int_eq(f.priority, 20);
	assert_near(f.user_s, 3.1);
	assert_near(f.system_s, 1.2);
	ck_assert_int_eq(f.size, 104857600);
	ck_assert_int_eq(f.resident, 2560 * 4096);
	ck_assert_int_eq(f.resident_max, 20480 * 1024);
	ck_assert_int_eq(f.stack, 132 * 1024);
	ck_assert_int_eq(f.minor_faults, 1500);
	ck_assert_int_eq(f.major_faults, 25);
	ck_assert_int_eq(f.swaps, 3);
	ck_assert_int_eq(f.uid, 1000);
	ck_assert_int_eq(f.gid, 1001);
	ck_assert(f.one_uid);
	ck_assert_int_eq(f.inner_pid, 17);
	ck_assert_int_eq(f.read_blocks, 2048);
	ck_assert_int_eq(f.write_blocks, 1);
	ck_assert_int_eq(f.disk_read_bytes, 1048576);
	ck_assert_int_eq(f.disk_written_bytes, 512);
	ck_assert_int_eq(f.read_bytes, 6976);
	ck_assert_int_eq(f.write_bytes, 12);
	ck_assert_int_eq(f.read_calls, 10);
	ck_assert_int_eq(f.write_calls, 3);
	ck_assert_int_eq(f.voluntary, 120); /* both threads that were there */
	ck_assert_int_eq(f.involuntary, 10);
}

TEST(a_zombie_reports_its_end_and_a_saved_uid_is_seen)
{
	struct host_figures f;

	ck_assert_int_eq(
		host_figures(server, 4300, HOST_FIGURES_STAT | HOST_FIGURES_STATUS, &f, NULL), 0);
	ck_assert_int_eq(f.state, 'Z');
	ck_assert_int_eq(f.exit_code, 256);
	ck_assert(!f.one_uid);
	ck_assert_int_eq(f.read_blocks, -1); /* not requested */
}

TEST(absent_or_torn_proc_files_are_not_found)
{
	struct host_figures f;
	struct buf b = BUF_INIT(1000);

	ck_assert_int_eq(host_figures(server, 4243, HOST_FIGURES_STAT, &f, NULL), -ERR_NOTFOUND);
	ck_assert_int_eq(host_figures(server, 5000, HOST_FIGURES_STAT, &f, NULL), -ERR_NOTFOUND);
	ck_assert_int_eq(host_figures(server, 0, HOST_FIGURES_STAT, &f, NULL), -ERR_NOTFOUND);
	ck_assert_int_eq(host_figures(server, -1, HOST_FIGURES_STATUS, &f, NULL), -ERR_NOTFOUND);
	ck_assert_int_lt(host_strings(server, 4243, false, &b, NULL), 0);
	buf_done(&b);
}

TEST(threads_have_figures_of_their_own)
{
	struct host_figures f;
	int32_t tid[8];
	size_t n = 8;

	ck_assert_int_eq(host_threads(server, 4242, tid, &n), 0);
	ck_assert_int_eq(n, 2);
	ck_assert_int_eq(tid[0], 4242);
	ck_assert_int_eq(tid[1], 4250);
	ck_assert_int_eq(host_thread_figures(server, 4242, 4250, HOST_FIGURES_STAT, &f), 0);
	ck_assert_str_eq(f.name, "worker");
	ck_assert_int_eq(f.state, 'R');
	ck_assert_int_eq(f.priority, 15);
	assert_near(f.user_s, 0.1);
	assert_near(f.system_s, 0.2);
	ck_assert_uint_eq(f.start, 777100);
	ck_assert_int_eq(host_thread_figures(server, 4242, 4251, HOST_FIGURES_STAT, &f),
			 -ERR_NOTFOUND);
	n = 8;
	ck_assert_int_eq(host_threads(server, 4243, tid, &n), -ERR_NOTFOUND);
}

TEST(arguments_and_environment_keep_their_zeros)
{
	struct buf b = BUF_INIT(HOST_STRINGS_MAX_BYTES);

	ck_assert_int_eq(host_strings(server, 4242, false, &b, NULL), 0);
	ck_assert_int_eq(b.n, 19);
	ck_assert_mem_eq(b.p, "./my prog\0--size=4", 19);
	buf_clear(&b);
	ck_assert_int_eq(host_strings(server, 4242, true, &b, NULL), 0);
	ck_assert_mem_eq(b.p, "HOME=/home/u\0LANG=C", 20);
	buf_done(&b);
}

TEST(the_boot_id_is_one_line)
{
	char id[HOST_BOOT_ID_BYTES];

	ck_assert_int_eq(host_boot_id(server, id, NULL), 0);
	ck_assert_str_eq(id, "0f0e0d0c-0b0a-4908-8706-050403020100");
	ck_assert_int_eq(host_boot_id(group1, id, NULL), -ERR_SYS);
}

TEST(a_host_without_proc_is_refused_with_its_path)
{
	struct err e = { 0 };
	struct host *h;

	ck_assert_int_eq(host_linux_open("tests/golden", NULL, &h, &e), -ERR_SYS);
	ck_assert_ptr_nonnull(strstr(e.text, "/proc"));
}

TEST(this_machine_reports_figures_of_linux)
{
	struct host_facts f;
	struct host_counts c;
	struct host_now n;
	struct host *h;

	ck_assert_int_eq(host_linux_open("/", NULL, &h, NULL), 0);
	ck_assert_int_eq(host_facts(h, &f, NULL), 0);
	ck_assert_int_eq(host_now(h, &n, NULL), 0);
	ck_assert_int_eq(host_counts(h, &c, NULL), 0);
	ck_assert_str_eq(f.os_name, "Linux");
	ck_assert_int_eq(f.cpus, sysconf(_SC_NPROCESSORS_ONLN));
	ck_assert_int_gt(f.pages, 0);
	ck_assert_int_gt(f.tmp_kib, 0);
	ck_assert_int_ge(n.sleeping, 0);
	for (int i = 0; i < HOST_NCOUNTS; i++)
		if (i != HOST_EXECS && i != HOST_SYSCALLS && i != HOST_SYS_READS &&
		    i != HOST_SYS_WRITES)
			ck_assert_msg(c.v[i] >= 0, "count %d", i);
	host_free(h);
}

TEST(parsed_numbers_saturate_and_words_end)
{
	const char *word;
	int64_t v = 7;
	double d;
	size_t n;

	ck_assert_ptr_nonnull(text_number("  99999999999999999999 ", &v));
	ck_assert_int_eq(v, INT64_MAX);
	ck_assert_ptr_null(text_number(" x", &v));
	ck_assert_ptr_null(text_number("-", &v));
	ck_assert_ptr_nonnull(text_number("-12", &v));
	ck_assert_int_eq(v, -12);
	ck_assert_ptr_null(text_decimal("", &d));
	ck_assert_ptr_nonnull(text_decimal("3.25x", &d));
	assert_near(d, 3.25);
	ck_assert_ptr_null(text_word("  \nnext", &word, &n));
	ck_assert_ptr_null(text_find("ab\ncd\n", "b"));
	ck_assert(!text_field("key\nkey 3", "key", &v));
}

/* --- mounts of a process in a namespace of its own */

#define CHILD_LINES 16

struct child {
	pid_t pid;
	int to, from; /* pipes */
	char dir[32];
};

/* Prints "ok" behind each command of a line; exits at the first that fails. */
static const char child_script[] = "while read -r line; do eval \"$line\" || exit 1; echo ok; done";

static void child_start(struct child *c, const char *const *argv)
{
	int to[2], from[2];

	snprintf(c->dir, sizeof(c->dir), "/tmp/omig-mounts-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(c->dir));
	ck_assert_int_eq(pipe2(to, O_CLOEXEC) | pipe2(from, O_CLOEXEC), 0);
	c->pid = fork();
	ck_assert_int_ge(c->pid, 0);
	if (!c->pid) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	c->to = to[1];
	c->from = from[0];
}

/* Returns false if the command has failed. */
static bool child_does(const struct child *c, const char *fmt, ...)
{
	char line[256], got[CHILD_LINES];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	line[n++] = '\n';
	return write(c->to, line, (size_t)n) == n && read(c->from, got, sizeof(got)) == 3;
}

static void child_end(struct child *c)
{
	close(c->to);
	close(c->from);
	ck_assert_int_eq(waitpid(c->pid, NULL, 0), c->pid);
	ck_assert_int_eq(rmdir(c->dir), 0);
}

struct sought {
	const char *path;
	uint64_t key; /* of its first mount; 0: none */
};

static bool seek_mount(void *arg, const char *path, uint64_t key)
{
	struct sought *s = arg;

	if (strcmp(path, s->path) != 0)
		return false;
	s->key = key;
	return true;
}

static uint64_t key_at(struct host_proc *p, const char *path)
{
	struct sought s = { path, 0 };

	ck_assert_int_eq(host_proc_each_mount(p, seek_mount, &s), 0);
	return s.key;
}

static const char *const unshared[] = { "unshare", "--user", "--map-root-user", "--mount",
					"sh",	   "-c",     child_script,	NULL };

TEST(mounts_are_read_again_only_when_one_has_changed)
{
	struct host_proc *p;
	struct child c;
	struct host *h;
	uint64_t first;

	ck_assert_int_eq(host_linux_open("/", NULL, &h, NULL), 0);
	child_start(&c, unshared);
	if (!child_does(&c, "mount -t tmpfs none %s", c.dir)) {
		puts("# SKIP no namespaces of users here");
	} else {
		ck_assert_int_eq(host_proc_open(h, c.pid, &p, NULL), 0);
		first = key_at(p, c.dir);
		ck_assert_uint_ne(first, 0);
		ck_assert_uint_eq(key_at(p, c.dir), first);
		ck_assert_uint_eq(host_linux_mount_reads(h), 1);
		ck_assert(child_does(&c, "mount -t tmpfs none %s", c.dir));
		ck_assert_uint_ne(key_at(p, c.dir), first);
		ck_assert_uint_ne(key_at(p, c.dir), 0);
		ck_assert_uint_eq(host_linux_mount_reads(h), 2);
		ck_assert(child_does(&c, "umount %s && umount %s", c.dir, c.dir));
		ck_assert_uint_eq(key_at(p, c.dir), 0);
		ck_assert(child_does(&c, "mkdir %s/sub; mount -t tmpfs none %s/sub", c.dir, c.dir));
		ck_assert_uint_eq(key_at(p, c.dir), 0);
		ck_assert(child_does(&c, "umount %s/sub; rmdir %s/sub", c.dir, c.dir));
		host_proc_close(p);
	}
	child_end(&c);
	host_free(h);
}

TEST(process_that_enters_another_namespace_has_its_mounts)
{
	static const char *const plain[] = { "sh", "-c", child_script, NULL };
	struct host_proc *p, *other;
	struct child c, d;
	struct host *h;
	uint64_t key;

	ck_assert_int_eq(host_linux_open("/", NULL, &h, NULL), 0);
	child_start(&c, unshared);
	child_start(&d, plain);
	if (!child_does(&c, "mount -t tmpfs none %s", c.dir)) {
		puts("# SKIP no namespaces of users here");
	} else {
		ck_assert(child_does(&d, "true"));
		ck_assert_int_eq(host_proc_open(h, c.pid, &p, NULL), 0);
		ck_assert_int_eq(host_proc_open(h, d.pid, &other, NULL), 0);
		key = key_at(p, c.dir);
		ck_assert_uint_ne(key, 0);
		ck_assert_uint_eq(key_at(other, c.dir), 0);
		ck_assert_uint_eq(key_at(other, c.dir), 0);
		ck_assert_uint_eq(host_linux_mount_reads(h), 2);
		/* The same process, in a new namespace. */
		ck_assert(child_does(&c, "exec unshare --mount sh -c 'umount %s; echo ok; %s'",
				     c.dir, child_script));
		ck_assert_uint_eq(key_at(p, c.dir), 0);
		ck_assert_uint_eq(host_linux_mount_reads(h), 3);
		host_proc_close(other);
		host_proc_close(p);
	}
	child_end(&c);
	child_end(&d);
	host_free(h);
}

SUITE_WITH("host_linux", open_hosts, close_hosts)
