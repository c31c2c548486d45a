/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lm's view of its host: node counters, the processes of its own user, signals. One table of
 * functions; host_linux.h is the real one, tests have their own. An unknown value is -1 or "".
 */
#ifndef LM_HOST_HOST_H
#define LM_HOST_HOST_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOST_TEXT_BYTES 128
#define HOST_LINKS_MAX 32 /* network links listed; a host with more lists the first ones */
#define HOST_BOOT_ID_BYTES 40
#define HOST_THREADS_MAX 4096 /* threads listed of one process */
#define HOST_MODULES_MAX 4096 /* listed of one process; large programs load some hundred */
/* of an argument vector or an environment: the room of a reply */
#define HOST_STRINGS_MAX_BYTES (64 * 1024)

struct host_link {
	char name[16], type[16], address[46];
	int64_t kb_per_s; /* nominal bandwidth, 1,000 bytes a second */
};

/* Facts that do not change while the host is up. Sizes of disks in KiB, of swap in pages. */
struct host_facts {
	char os_name[HOST_TEXT_BYTES], os_version[HOST_TEXT_BYTES], os_release[HOST_TEXT_BYTES];
	char os_nodename[HOST_TEXT_BYTES], arch[HOST_TEXT_BYTES];
	int64_t boot_time_s; /* seconds since 1970 */
	int64_t cpus, processes_max, cpu_mhz;
	int64_t pages, page_size;
	int64_t disks, disk_kib, tmp_kib, swap_pages;
	size_t nlinks;
	struct host_link link[HOST_LINKS_MAX];
	int64_t logins_max;
};

/* The state at one moment. */
struct host_now {
	int64_t running, disk_wait, page_wait, sleeping, swapped_out; /* numbers of threads */
	double load1, load5, load15;
	int64_t free_pages, available_pages, used_pages, free_swap_pages;
	int64_t local_users, local_active, remote_users, remote_active;
	/* Percentages of the last 10 s in which some (all) threads waited. */
	double cpu_some, memory_some, memory_full, io_some, io_full;
	/* Limits of the lm's own control group; -1 = no limit known. */
	int64_t group_memory_max, group_memory; /* bytes */
	double group_cpus; /* processors that it may use */
};

/* Counts since boot, from which rates are computed. */
enum host_count {
	HOST_CONTEXT_SWITCHES,
	HOST_EXECS,
	HOST_SYSCALLS,
	HOST_SWAP_IN, /* pages */
	HOST_SWAP_OUT,
	HOST_PAGE_IN,
	HOST_PAGE_OUT,
	HOST_DISK_READS, /* operations of whole disks */
	HOST_DISK_WRITES,
	HOST_NFS_READS, /* calls of the NFS client */
	HOST_NFS_WRITES,
	HOST_SYS_READS, /* read() calls of all processes */
	HOST_SYS_WRITES,
	HOST_PACKETS_LOCAL, /* loopback */
	HOST_PACKETS_FAST_RECEIVED, /* links of 1 Gbit/s and more */
	HOST_PACKETS_FAST_SENT,
	HOST_PACKETS_SLOW_RECEIVED, /* all other links */
	HOST_PACKETS_SLOW_SENT,
	HOST_CPU_USER, /* ticks of all processors together */
	HOST_CPU_SYSTEM,
	HOST_CPU_IDLE,
	HOST_CPU_IOWAIT,
	HOST_CPU_STEAL,
	HOST_BYTES_RECEIVED, /* by all links but loopback */
	HOST_BYTES_SENT,
	HOST_DISK_BYTES_READ, /* of whole disks */
	HOST_DISK_BYTES_WRITTEN,
	HOST_INTERRUPTS,
	HOST_TCP_SENT, /* segments of all connections */
	HOST_TCP_RETRANSMITTED,
	HOST_NCOUNTS
};

struct host_counts {
	nsec_t at, wall; /* wall: by the clock of the host, since 1970 */
	int64_t v[HOST_NCOUNTS]; /* -1 = not known */
};

enum host_figures_what {
	HOST_FIGURES_STAT = 1, /* state, times, priority, sizes, faults */
	HOST_FIGURES_STATUS = 2, /* uid, gid, peak size, stack, inner pid */
	HOST_FIGURES_IO = 4, /* calls and bytes of the kernel's accounting */
	HOST_FIGURES_SWITCHES = 8, /* one file per thread */
	/* of a process: those of its first thread, and signals for any thread */
	HOST_FIGURES_SIGNALS = 16,
	HOST_FIGURES_RUN_DELAY = 32, /* of a process: one file per thread */
	HOST_FIGURES_BLOCK_DELAY = 64, /* of a process: one file per thread */
	HOST_FIGURES_GROUP = 128, /* a file for each group around the process */
	HOST_FIGURES_FREQUENCY = 256,
};

/* Counters of a process or of a thread. */
struct host_figures {
	int32_t parent;
	uint64_t start; /* clock ticks since boot: with the pid it names the process */
	double age_s; /* age of the process, to a clock tick */
	char name[16];
	char state; /* as in /proc/PID/stat: R S D Z T t X I */
	int64_t threads, priority;
	double user_s, system_s;
	int64_t size, resident, resident_max, stack; /* bytes */
	int64_t minor_faults, major_faults, swaps;
	int64_t exit_code; /* as of wait(); of a zombie only */
	int64_t uid, gid;
	bool one_uid; /* real, effective and saved uid are the same */
	int32_t inner_pid; /* the pid in the process's own pid namespace */
	int64_t voluntary, involuntary; /* context switches */
	int64_t read_blocks, write_blocks; /* of 512 bytes, as in getrusage() */
	/*
	 * Sums of completed calls over all threads, ended threads and waited children too. Calls:
	 * read(), write() and their variants; not mmap(), splice() between pipes, io_uring, send()
	 * and recv(). Disk: bytes that reached the block layer, which writes do after the call.
	 */
	int64_t read_calls, write_calls, read_bytes, write_bytes;
	int64_t disk_read_bytes, disk_written_bytes;
	/*
	 * Seconds of all threads that exist: ready without a processor (CONFIG_SCHED_INFO), and
	 * blocked on disks (delay accounting; of threads that began while it was on).
	 */
	double run_delay_s, block_delay_s;
	/*
	 * Seconds without a processor because a control group had used up its quota: the sum over
	 * the processors and over the groups around the process.
	 */
	double throttled_s;
	double frequency_hz; /* of the processor that ran the first thread last; by cpufreq */
	bool has_signals; /* the four below are known; bit n - 1: signal n */
	uint64_t sig_pending, sig_blocked, sig_ignored, sig_caught;
};

#define HOST_TCP_MAX 64 /* connections listed of our user; the others are counted */
#define HOST_TCP_ADDRESS_BYTES 56

/* A TCP connection, as the kernel sees it. -1 = not known. */
struct host_tcp {
	char local[HOST_TCP_ADDRESS_BYTES], remote[HOST_TCP_ADDRESS_BYTES]; /* "127.0.0.1:80" */
	double rtt_s, rttvar_s; /* smoothed round-trip time, and its mean deviation */
	int64_t retransmitted; /* segments, since the connection was made */
	int64_t sent, received; /* bytes; sent: and acknowledged */
};

struct host;

/*
 * A process that was alive and of our user when it was opened. A reused pid never refers to another
 * process here.
 */
struct host_proc {
	struct host *host;
	int32_t pid;
	uint64_t start;
};

/* The process has ended. status as of wait(), -1 if the host could not learn it. */
typedef void (*host_on_exit_fn)(void *arg, int status);

/* Called for a memfd of the requested name; the callback owns fd. */
typedef void (*host_on_memfd_fn)(void *arg, int32_t pid, int fd);

#define CHOSEN_FOUND_MAX 65536 /* results of one search */

/* A process that is chosen (common/ring/chosen.h). Its user wrote the texts. */
struct host_chosen {
	int32_t pid;
	int32_t mark; /* the pid that the variable names */
	char name[16]; /* as in struct host_figures */
	char job[64], program[128]; /* program: the path, as far as it fits; "": not known */
};
typedef void (*host_on_chosen_fn)(void *arg, const struct host_chosen *c);

/* A process that a launcher of MPI programs has started and that has an MPI library. */
struct host_rank {
	int32_t pid, launcher; /* launcher: the topmost one on this host; 0: none */
	int64_t rank, size; /* by its environment; -1: not there */
	char job[64], program[128]; /* as in struct host_chosen; the launcher's name of the job */
	/*
	 * Where the launcher of the whole job listens for this host: HOST[,HOST]...:PORT. "": it is
	 * not known, or on this host.
	 */
	char origin[256];
	char process[64]; /* the same for all that see the process, unlike its pid; "": not known */
	bool is_near; /* in the pid and UTS namespaces of this program, as far as known */
};
typedef void (*host_on_rank_fn)(void *arg, const struct host_rank *r);

/* A launcher of MPI programs, and an address at which it listens. */
struct host_launcher {
	int32_t pid;
	char name[16]; /* as in struct host_figures */
	char at[272]; /* HOST:PORT, by a name or an address of this host; "": the first call */
};
typedef void (*host_on_launcher_fn)(void *arg, const struct host_launcher *l);

/*
 * Blocks of memory: count of them (at least one), each `block` bytes long. Each starts `stride`
 * (not less) bytes after the previous one. The last one ends below 2^63.
 */
struct host_memory {
	uint64_t addr;
	size_t block, stride, count;
	uint8_t *bytes; /* block * count of them, borrowed */
	bool is_write;
	size_t done; /* out: bytes that were moved */
};

/* The parts of one file that a process has loaded; lengths are 0 for missing parts. */
struct host_module {
	const char *path; /* path as the process sees it; not terminated */
	size_t npath;
	uint64_t code_start, code_len, data_start, data_len, bss_start, bss_len;
};
typedef void (*host_on_module_fn)(void *arg, const struct host_module *m);

/* A part of a regular file. */
struct host_file {
	const char *path; /* absolute */
	int64_t offset; /* not negative */
	size_t max; /* bytes; less when the file ends before */
};

/*
 * Receives a mount of the process: its path, and its number and device as in SEG_MOUNT_KEY().
 * Returns true to end.
 */
typedef bool (*host_on_mount_fn)(void *arg, const char *path, uint64_t key);

struct host_ops {
	void (*free)(struct host *h);
	int (*facts)(struct host *h, struct host_facts *out, struct err *e);
	int (*now)(struct host *h, struct host_now *out, struct err *e);
	int (*counts)(struct host *h, struct host_counts *out, struct err *e);
	int (*tcp)(struct host *h, struct host_tcp *out, size_t *n,
		   size_t *left_out); /* may be NULL */
	int (*boot_id)(struct host *h, char out[HOST_BOOT_ID_BYTES], struct err *e);
	int (*figures)(struct host *h, int32_t pid, unsigned what, struct host_figures *out,
		       struct err *e);
	int (*thread_figures)(struct host *h, const int32_t pid_tid[2], unsigned what,
			      struct host_figures *out, struct err *e);
	int (*threads)(struct host *h, int32_t pid, int32_t *tid, size_t *n);
	int (*strings)(struct host *h, int32_t pid, bool environment, struct buf *out,
		       struct err *e);
	int (*file)(struct host *h, const struct host_file *f, struct buf *out, struct err *e);
	int (*each_mount)(struct host *h, int32_t pid, host_on_mount_fn fn,
			  void *arg); /* may be NULL */
	int (*each_memfd)(struct host *h, const char *name, host_on_memfd_fn fn, void *arg);
	int (*each_chosen)(struct host *h, const char *caid, host_on_chosen_fn fn,
			   void *arg); /* may be NULL */
	int (*each_rank)(struct host *h, host_on_rank_fn fn, void *arg); /* may be NULL */
	int (*each_launcher)(struct host *h, host_on_launcher_fn fn, void *arg); /* may be NULL */
	int (*open)(struct host *h, int32_t pid, struct host_proc **out, struct err *e);
	int (*open_ended)(struct host *h, int32_t pid, uint64_t start, struct host_proc **out,
			  struct err *e); /* may be NULL */
	int (*watch)(struct host_proc *p, host_on_exit_fn fn, void *arg, struct err *e);
	int (*send_signal)(struct host_proc *p, int sig, struct err *e);
	int (*thread_signal)(struct host_proc *p, int32_t tid, int sig, struct err *e);
	int (*thread_priority)(struct host_proc *p, int32_t tid, int nice, struct err *e);
	int (*memory)(struct host_proc *p, struct host_memory *m, struct err *e);
	int (*modules)(struct host_proc *p, host_on_module_fn fn, void *arg, struct err *e);
	int (*proc_each_mount)(struct host_proc *p, host_on_mount_fn fn, void *arg); /* or NULL */
	void (*close)(struct host_proc *p);
};

/* First member of each implementation. */
struct host {
	const struct host_ops *ops;
};

/* NULL is fine. Processes that are still open must be closed before. */
void host_free(struct host *h);

/* Blocks as /proc does. -ERR_SYS if there is no /proc. */
int host_facts(struct host *h, struct host_facts *out, struct err *e);
int host_now(struct host *h, struct host_now *out, struct err *e);
int host_counts(struct host *h, struct host_counts *out, struct err *e);

/*
 * Lists established TCP connections of our user in this net namespace. *n: room in, number out.
 * *left_out: those without room. -ERR_UNSUPPORTED, -ERR_SYS.
 */
int host_tcp(struct host *h, struct host_tcp *out, size_t *n, size_t *left_out);

/* Writes one line without its end, which differs after each boot. */
int host_boot_id(struct host *h, char out[HOST_BOOT_ID_BYTES], struct err *e);

/*
 * `what`: enum host_figures_what; the other fields stay unknown. -ERR_NOTFOUND if there is no such
 * process.
 */
int host_figures(struct host *h, int32_t pid, unsigned what, struct host_figures *out,
		 struct err *e);
int host_thread_figures(struct host *h, int32_t pid, int32_t tid, unsigned what,
			struct host_figures *out);

/* Thread ids in ascending order; *n: room in, number out. -ERR_NOTFOUND. */
int host_threads(struct host *h, int32_t pid, int32_t *tid, size_t *n);

/* Appends the argument vector, or the environment, each string with its 0. -ERR_NOTFOUND,
 * -ERR_DENIED, -ERR_LIMIT. */
int host_strings(struct host *h, int32_t pid, bool environment, struct buf *out, struct err *e);

/*
 * Appends the file; follows no link in the last part. -ERR_INVALID, -ERR_DENIED (no regular file),
 * -ERR_SYS.
 */
int host_file(struct host *h, const struct host_file *f, struct buf *out, struct err *e);

/*
 * Calls fn for each mount of the process, later ones first; of the lm when that process has ended.
 * -ERR_UNSUPPORTED, -ERR_SYS.
 */
int host_each_mount(struct host *h, int32_t pid, host_on_mount_fn fn, void *arg);

/*
 * The same for a process that is held. Between two calls without a change of its mounts, the table
 * is not read again.
 */
int host_proc_each_mount(struct host_proc *p, host_on_mount_fn fn, void *arg);

/*
 * Calls fn for each memfd called `name` that a process of our user holds open. Blocks for one pass
 * over /proc.
 */
int host_each_memfd(struct host *h, const char *name, host_on_memfd_fn fn, void *arg);

/*
 * Calls fn for each process of our user that is chosen, for the monitor of that CA. Blocks for one
 * pass over /proc.
 */
int host_each_chosen(struct host *h, const char *caid, host_on_chosen_fn fn, void *arg);

/* Calls fn for each rank of our user, watched or not. Blocks for one pass over /proc. */
int host_each_rank(struct host *h, host_on_rank_fn fn, void *arg);

/* Calls fn for each launcher of our user, and again for each address. Blocks as host_each_rank().
 */
int host_each_launcher(struct host *h, host_on_launcher_fn fn, void *arg);

/*
 * -ERR_NOTFOUND: no such process, or one of another user, a zombie, the lm itself, or pid <= 1.
 */
int host_proc_open(struct host *h, int32_t pid, struct host_proc **out, struct err *e);

/*
 * Opens a process of our user, as the kernel reports, that is gone or a zombie. If watched, it ends
 * in the loop's next turn; all other operations fail with -ERR_NOTFOUND. start: replaces its start
 * time if /proc has none. -ERR_NOTFOUND while a living process has the pid, or if the host cannot
 * do this.
 */
int host_proc_open_ended(struct host *h, int32_t pid, uint64_t start, struct host_proc **out,
			 struct err *e);

/* fn is called once, from the loop. At most one watch per process. */
int host_proc_watch(struct host_proc *p, host_on_exit_fn fn, void *arg, struct err *e);

/*
 * Sends the signal to this process, never to another; sig 0 only checks whether it exists.
 * -ERR_NOTFOUND: it is gone, -ERR_DENIED, -ERR_INVALID (no such signal).
 */
int host_proc_signal(struct host_proc *p, int sig, struct err *e);

/* Sends to one thread of the process, never to another; as host_proc_signal(). */
int host_thread_signal(struct host_proc *p, int32_t tid, int sig, struct err *e);

/* nice: -20 to 19. -ERR_NOTFOUND: the thread is gone, -ERR_DENIED. */
int host_thread_priority(struct host_proc *p, int32_t tid, int nice, struct err *e);

/*
 * Reads or writes memory of this process, never of another. -ERR_NOTFOUND: it is gone, -ERR_DENIED:
 * the kernel refuses. -ERR_SYS names the unmapped address; the bytes before it are done.
 */
int host_proc_memory(struct host_proc *p, struct host_memory *m, struct err *e);

/* Calls fn for the program and then for each library. -ERR_NOTFOUND, -ERR_DENIED, -ERR_LIMIT:
 * without a call. */
int host_proc_modules(struct host_proc *p, host_on_module_fn fn, void *arg, struct err *e);

/* Ends the watch. NULL is fine. */
void host_proc_close(struct host_proc *p);

/* Sets every field to unknown. */
void host_figures_clear(struct host_figures *f);

#endif
