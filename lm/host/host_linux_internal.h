/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the Linux host only. */
#ifndef LM_HOST_HOST_LINUX_INTERNAL_H
#define LM_HOST_HOST_LINUX_INTERNAL_H

#include "common/base/buf.h"
#include "lm/host/host.h"

#include <sys/types.h>

/* larger than /proc/stat of 1,000 processors with their interrupts */
#define HOST_FILE_MAX_BYTES (256 * 1024)

struct loop;
struct loop_fd;

/*
 * The mounts of processes with the same mount namespace and root. The open file pins the namespace:
 * a table of a foreign one is closed with its process.
 */
struct mount_table {
	int fd; /* of mountinfo, which the kernel marks when a mount changes; < 0: not open */
	uint64_t space; /* number of the namespace */
	char root[256]; /* of the process, in it */
	struct buf text;
};

struct host_linux {
	struct host host;
	struct loop *loop; /* borrowed */
	int root; /* directory that holds proc and sys */
	bool is_live; /* root is "/": the kernel may be asked for facts that no file has */
	int64_t page_size, ticks_per_s;
	int32_t own_pid;
	uint32_t uid;
	struct buf text; /* the file read last; freed when idle for long texts */
	struct mount_table mounts; /* of this process itself, and of all that see the same ones */
	uint64_t mount_reads;
};

/* A process that is held. */
struct linux_proc {
	struct host_proc proc;
	int fd;
	struct loop_fd *watch;
	host_on_exit_fn on_exit;
	void *arg;
	struct mount_table mounts; /* if it has its own */
};

/* Returns the file as text, "" if it cannot be read. Valid until the next call. */
const char *linux_text(struct host_linux *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Returns the first number of the file, or `unknown`. */
int64_t linux_number(struct host_linux *h, int64_t unknown, const char *path);

int linux_facts(struct host *h, struct host_facts *out, struct err *e);
int linux_now(struct host *h, struct host_now *out, struct err *e);
int linux_counts(struct host *h, struct host_counts *out, struct err *e);
int linux_tcp(struct host *h, struct host_tcp *out, size_t *n, size_t *left_out);
void linux_users(struct host_linux *h, struct host_now *out);
void linux_group(struct host_linux *h, struct host_now *out);
/* Returns the seconds of struct host_figures, throttled_s. */
double linux_throttled(struct host_linux *h, int32_t pid);
int64_t linux_link_speed(struct host_linux *h, const char *name);
size_t linux_links(struct host_linux *h, struct host_link *out, size_t max);
void linux_disks(struct host_linux *h, int64_t *number, int64_t *kib);

/* True for a name in /sys/block with a device behind it: no loop, no RAM, no part of a disk. */
bool linux_is_disk(struct host_linux *h, const char *name);

int linux_figures(struct host *h, int32_t pid, unsigned what, struct host_figures *out,
		  struct err *e);
int linux_thread_figures(struct host *h, const int32_t pid_tid[2], unsigned what,
			 struct host_figures *out, struct err *e);
int linux_threads(struct host *h, int32_t pid, int32_t *tid, size_t *n);
int linux_strings(struct host *h, int32_t pid, bool environment, struct buf *out, struct err *e);
int linux_file(struct host *h, const struct host_file *f, struct buf *out, struct err *e);
int linux_each_mount(struct host *h, int32_t pid, host_on_mount_fn fn, void *arg);
int linux_proc_each_mount(struct host_proc *p, host_on_mount_fn fn, void *arg);
void mount_table_init(struct mount_table *t);
void mount_table_done(struct mount_table *t);
int linux_each_memfd(struct host *h, const char *name, host_on_memfd_fn fn, void *arg);
int linux_each_rank(struct host *h, host_on_rank_fn fn, void *arg);
int linux_each_launcher(struct host *h, host_on_launcher_fn fn, void *arg);
int linux_each_chosen(struct host *h, const char *caid, host_on_chosen_fn fn, void *arg);

/* Returns the numbers among the entries of a folder, ascending; those beyond max are left out. */
size_t linux_numbered(struct host_linux *h, const char *path, int32_t *out, size_t max);

int linux_proc_open(struct host *h, int32_t pid, struct host_proc **out, struct err *e);
int linux_proc_open_ended(struct host *h, int32_t pid, uint64_t start, struct host_proc **out,
			  struct err *e);
int linux_proc_watch(struct host_proc *p, host_on_exit_fn fn, void *arg, struct err *e);
int linux_proc_signal(struct host_proc *p, int sig, struct err *e);
int linux_thread_signal(struct host_proc *p, int32_t tid, int sig, struct err *e);
int linux_thread_priority(struct host_proc *p, int32_t tid, int nice, struct err *e);
int linux_memory(struct host_proc *p, struct host_memory *m, struct err *e);
int linux_modules(struct host_proc *p, host_on_module_fn fn, void *arg, struct err *e);
void linux_proc_close(struct host_proc *p);

/* The memory of a process, open. */
struct mem {
	int fd; /* closed by the caller that opened it */
	int32_t pid;
};

/* Opens the memory of this process, even if its pid is reused. -ERR_NOTFOUND, -ERR_DENIED. */
int linux_open_mem(struct host_proc *p, bool is_write, struct mem *out, struct err *e);

/*
 * As pread(). The caller checks afterwards that the process still exists: then the data are its
 * own.
 */
ssize_t linux_read_mem(const struct mem *from, void *to, size_t n, uint64_t addr);

/* Converts errno of a signal that could not be sent to an error. */
int linux_signal_failed(struct err *e);

#endif
