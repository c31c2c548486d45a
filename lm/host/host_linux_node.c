/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of the whole node. */
#include "lm/host/host_linux_internal.h"
#include "lm/host/proctext.h"

#include <fcntl.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

static void kernel_line(struct host_linux *h, char *out, const char *name)
{
	text_line(out, HOST_TEXT_BYTES, linux_text(h, "proc/sys/kernel/%s", name));
}

static void os_facts(struct host_linux *h, struct host_facts *f)
{
	struct utsname u;

	kernel_line(h, f->os_name, "ostype");
	kernel_line(h, f->os_version, "version");
	kernel_line(h, f->os_release, "osrelease");
	kernel_line(h, f->os_nodename, "hostname");
	kernel_line(h, f->arch, "arch"); /* since Linux 6.1 */
	if (!f->arch[0] && h->is_live && uname(&u) == 0)
		text_line(f->arch, sizeof(f->arch), u.machine);
	f->boot_time_s = -1;
	text_field(linux_text(h, "proc/stat"), "btime", &f->boot_time_s);
}

static int64_t count_cpus(const char *stat)
{
	int64_t n = 0;

	for (const char *p = stat; p; p = text_next_line(p))
		if (!strncmp(p, "cpu", 3) && p[3] >= '0' && p[3] <= '9')
			n++;
	return n ? n : -1;
}

static int64_t cpu_clock_mhz(struct host_linux *h)
{
	int64_t v = linux_number(h, -1, "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
	const char *p;

	if (v > 0)
		return v / 1000;
	p = text_find(linux_text(h, "proc/cpuinfo"), "cpu MHz");
	p = p ? strchr(p, ':') : NULL;
	return p && text_number(p + 1, &v) ? v : -1;
}

static void cpu_facts(struct host_linux *h, struct host_facts *f)
{
	int64_t pids = linux_number(h, -1, "proc/sys/kernel/pid_max");
	int64_t threads = linux_number(h, -1, "proc/sys/kernel/threads-max");

	f->cpus = count_cpus(linux_text(h, "proc/stat"));
	f->processes_max = pids > 0 && (threads <= 0 || pids < threads) ? pids : threads;
	f->cpu_mhz = cpu_clock_mhz(h);
}

static int64_t tmp_kib(struct host_linux *h)
{
	int fd = openat(h->root, "tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statvfs v;
	int64_t kib = -1;

	if (fd < 0)
		return -1;
	if (fstatvfs(fd, &v) == 0)
		kib = (int64_t)v.f_blocks * (int64_t)(v.f_frsize / 512) / 2;
	close(fd);
	return kib;
}

int linux_facts(struct host *host, struct host_facts *f, struct err *e)
{
	struct host_linux *h = (struct host_linux *)host;
	int64_t kib = -1;

	memset(f, 0, sizeof(*f));
	os_facts(h, f);
	cpu_facts(h, f);
	f->page_size = h->page_size;
	f->pages = f->swap_pages = -1;
	if (text_field(linux_text(h, "proc/meminfo"), "MemTotal:", &kib))
		f->pages = kib * 1024 / h->page_size;
	if (text_field(linux_text(h, "proc/meminfo"), "SwapTotal:", &kib))
		f->swap_pages = kib * 1024 / h->page_size;
	linux_disks(h, &f->disks, &f->disk_kib);
	f->tmp_kib = tmp_kib(h);
	f->nlinks = linux_links(h, f->link, HOST_LINKS_MAX);
	f->logins_max = linux_number(h, -1, "proc/sys/kernel/pty/max");
	return f->cpus < 0 ? err_set(e, ERR_SYS, "/proc/stat has no processors") : 0;
}

/* procs_running includes the reader: this lm. */
static void queue_now(struct host_linux *h, struct host_now *n)
{
	const char *p = linux_text(h, "proc/stat");
	int64_t threads = -1;

	n->running = n->disk_wait = n->sleeping = n->page_wait = -1;
	n->swapped_out = 0; /* Linux moves pages out, never whole processes */
	text_field(p, "procs_blocked", &n->disk_wait);
	if (text_field(p, "procs_running", &n->running) && n->running > 0)
		n->running--;
	n->load1 = n->load5 = n->load15 = -1;
	p = text_decimal(linux_text(h, "proc/loadavg"), &n->load1);
	p = p ? text_decimal(p, &n->load5) : NULL;
	p = p ? text_decimal(p, &n->load15) : NULL;
	p = p ? strchr(p, '/') : NULL;
	if (p && text_number(p + 1, &threads) && n->running >= 0 && n->disk_wait >= 0) {
		n->sleeping = threads - 1 - n->running - n->disk_wait;
		if (n->sleeping < 0)
			n->sleeping = 0;
	}
}

static int64_t pages_of(struct host_linux *h, const char *meminfo, const char *key)
{
	int64_t kib;

	return text_field(meminfo, key, &kib) ? kib * 1024 / h->page_size : -1;
}

static void memory_now(struct host_linux *h, struct host_now *n)
{
	const char *text = linux_text(h, "proc/meminfo");
	int64_t all = pages_of(h, text, "MemTotal:");

	n->free_pages = pages_of(h, text, "MemFree:");
	n->available_pages = pages_of(h, text, "MemAvailable:");
	n->free_swap_pages = pages_of(h, text, "SwapFree:");
	n->used_pages = all >= 0 && n->free_pages >= 0 ? all - n->free_pages : -1;
}

static double pressure(struct host_linux *h, const char *what, const char *key)
{
	const char *p = text_find(linux_text(h, "proc/pressure/%s", what), key);
	double v;

	return p && text_decimal(p, &v) ? v : -1;
}

int linux_now(struct host *host, struct host_now *n, struct err *e)
{
	struct host_linux *h = (struct host_linux *)host;

	memset(n, 0, sizeof(*n));
	queue_now(h, n);
	memory_now(h, n);
	n->cpu_some = pressure(h, "cpu", "some avg10=");
	n->memory_some = pressure(h, "memory", "some avg10=");
	n->memory_full = pressure(h, "memory", "full avg10=");
	n->io_some = pressure(h, "io", "some avg10=");
	n->io_full = pressure(h, "io", "full avg10=");
	linux_users(h, n);
	linux_group(h, n);
	return n->running < 0 ? err_set(e, ERR_SYS, "/proc/stat has no run queue") : 0;
}

static void cpu_counts(const char *stat, int64_t *v)
{
	const char *p = text_find(stat, "cpu ");
	int64_t t[8];

	if (!p || text_numbers(p, t, 8) < 8)
		return;
	v[HOST_CPU_USER] = t[0] + t[1];
	v[HOST_CPU_SYSTEM] = t[2] + t[5] + t[6];
	v[HOST_CPU_IDLE] = t[3];
	v[HOST_CPU_IOWAIT] = t[4];
	v[HOST_CPU_STEAL] = t[7];
}

static void vm_counts(struct host_linux *h, int64_t *v)
{
	const char *text = linux_text(h, "proc/vmstat");

	text_field(text, "pswpin", &v[HOST_SWAP_IN]);
	text_field(text, "pswpout", &v[HOST_SWAP_OUT]);
	if (text_field(text, "pgpgin", &v[HOST_PAGE_IN]))
		v[HOST_PAGE_IN] = v[HOST_PAGE_IN] * 1024 / h->page_size;
	if (text_field(text, "pgpgout", &v[HOST_PAGE_OUT]))
		v[HOST_PAGE_OUT] = v[HOST_PAGE_OUT] * 1024 / h->page_size;
}

#define SECTOR_BYTES 512 /* of diskstats, for any sector size of the disk */

/* diskstats: major minor name reads merged sectors ms writes merged sectors ... */
static void disk_line(struct host_linux *h, const char *line, int64_t *v)
{
	int64_t device, t[7];
	const char *p, *word;
	char name[64];
	size_t n;

	p = text_number(line, &device);
	p = p ? text_number(p, &device) : NULL;
	p = p ? text_word(p, &word, &n) : NULL;
	if (!p || n >= sizeof(name) || text_numbers(p, t, 7) < 7)
		return;
	memcpy(name, word, n);
	name[n] = 0;
	if ((!t[0] && !t[4]) || !linux_is_disk(h, name))
		return;
	v[HOST_DISK_READS] += t[0];
	v[HOST_DISK_WRITES] += t[4];
	v[HOST_DISK_BYTES_READ] += t[2] * SECTOR_BYTES;
	v[HOST_DISK_BYTES_WRITTEN] += t[6] * SECTOR_BYTES;
}

static void disk_counts(struct host_linux *h, int64_t *v)
{
	const char *text = linux_text(h, "proc/diskstats");

	if (!*text)
		return;
	v[HOST_DISK_READS] = v[HOST_DISK_WRITES] = 0;
	v[HOST_DISK_BYTES_READ] = v[HOST_DISK_BYTES_WRITTEN] = 0;
	for (const char *p = text; p; p = text_next_line(p))
		disk_line(h, p, v);
}

/* Without the file no NFS was ever mounted here, so the counts are 0. */
static void nfs_counts(struct host_linux *h, int64_t *v)
{
	const char *text = linux_text(h, "proc/net/rpc/nfs"), *p;
	int64_t t[9];

	v[HOST_NFS_READS] = v[HOST_NFS_WRITES] = 0;
	p = text_find(text, "proc3");
	if (p && text_numbers(p, t, 9) == 9) {
		v[HOST_NFS_READS] += t[7];
		v[HOST_NFS_WRITES] += t[8];
	}
	p = text_find(text, "proc4");
	if (p && text_numbers(p, t, 4) == 4) {
		v[HOST_NFS_READS] += t[2];
		v[HOST_NFS_WRITES] += t[3];
	}
}

#define FAST_LINK_KB_PER_S (1000 * 125) /* 1 Gbit/s */

/* net/dev: "name: bytes packets" and six more received, then bytes packets sent. */
static void link_line(struct host_linux *h, const char *line, int64_t *v)
{
	char name[TEXT_LINK_BYTES];
	const char *p = text_link(line, name);
	int64_t t[10];
	bool is_fast;

	if (!p || text_numbers(p, t, 10) < 10)
		return;
	if (!strcmp(name, "lo")) {
		v[HOST_PACKETS_LOCAL] += t[9];
		return;
	}
	is_fast = linux_link_speed(h, name) >= FAST_LINK_KB_PER_S;
	v[is_fast ? HOST_PACKETS_FAST_RECEIVED : HOST_PACKETS_SLOW_RECEIVED] += t[1];
	v[is_fast ? HOST_PACKETS_FAST_SENT : HOST_PACKETS_SLOW_SENT] += t[9];
	v[HOST_BYTES_RECEIVED] += t[0];
	v[HOST_BYTES_SENT] += t[8];
}

static void link_counts(struct host_linux *h, struct buf *keep, int64_t *v)
{
	/* A copy: each line reads the speed of its link from another file. */
	if (buf_puts(keep, linux_text(h, "proc/net/dev")) || !keep->n)
		return;
	for (int i = HOST_PACKETS_LOCAL; i <= HOST_PACKETS_SLOW_SENT; i++)
		v[i] = 0;
	v[HOST_BYTES_RECEIVED] = v[HOST_BYTES_SENT] = 0;
	for (const char *p = buf_str(keep); p; p = text_next_line(p))
		link_line(h, p, v);
}

/* net/snmp: a line "Tcp:" with names, then one with numbers in the same order. */
static void tcp_counts(struct host_linux *h, int64_t *v)
{
	const char *names = text_find(linux_text(h, "proc/net/snmp"), "Tcp:"), *word, *p;
	const char *line = names ? text_next_line(names) : NULL;
	size_t n;

	p = line ? text_find(line, "Tcp:") : NULL;
	while (p && (names = text_word(names, &word, &n))) {
		int64_t number = -1;

		p = text_word(p, &line, &(size_t){ 0 });
		if (p && n == strlen("OutSegs") && !memcmp(word, "OutSegs", n))
			v[HOST_TCP_SENT] = text_number(line, &number) ? number : -1;
		if (p && n == strlen("RetransSegs") && !memcmp(word, "RetransSegs", n))
			v[HOST_TCP_RETRANSMITTED] = text_number(line, &number) ? number : -1;
	}
}

int linux_counts(struct host *host, struct host_counts *out, struct err *e)
{
	struct host_linux *h = (struct host_linux *)host;
	struct buf keep = BUF_INIT(HOST_FILE_MAX_BYTES);
	const char *stat;

	for (int i = 0; i < HOST_NCOUNTS; i++)
		out->v[i] = -1;
	out->at = clock_mono();
	out->wall = clock_wall();
	stat = linux_text(h, "proc/stat");
	if (!text_field(stat, "ctxt", &out->v[HOST_CONTEXT_SWITCHES]))
		return err_set(e, ERR_SYS, "/proc/stat has no context switches");
	text_field(stat, "intr", &out->v[HOST_INTERRUPTS]);
	cpu_counts(stat, out->v);
	vm_counts(h, out->v);
	disk_counts(h, out->v);
	nfs_counts(h, out->v);
	tcp_counts(h, out->v);
	link_counts(h, &keep, out->v);
	buf_done(&keep);
	return 0;
}
