/* SPDX-License-Identifier: Apache-2.0 */
/* The host of a test: processes that begin and end when the test requests it. */
#ifndef TESTS_UNIT_LM_FAKE_HOST_H
#define TESTS_UNIT_LM_FAKE_HOST_H

#include "lm/host/host.h"

#define FAKE_PROCS 300
#define FAKE_THREADS 8
#define FAKE_SIGNALS 16

#define FAKE_MEMORY_ADDR 0x10000
#define FAKE_MEMORY_BYTES (128 * 1024)

struct fake_proc {
	int32_t pid, parent;
	uint64_t start;
	char name[16];
	char state;
	int32_t tid[FAKE_THREADS];
	size_t nthread;
	int signal[FAKE_SIGNALS]; /* that it got, in order */
	size_t nsignal;
	int32_t signal_tid; /* thread that the last one was for; 0 = none in particular */
	int nice[FAKE_THREADS]; /* by the index of tid */
	int32_t fixed_tid; /* whose nice value cannot be set */
	int memfd; /* -1: none */
	bool is_alive, is_foreign;
	bool is_slow; /* a signal changes nothing about its state: the test does */
	char thread_state[FAKE_THREADS]; /* by the index of tid; 0: as the process */
	bool has_signals;
	uint64_t pending, blocked, ignored, caught;
	int refuse; /* errno-like ERR_ code for signals; 0 = none */
	uint8_t *memory; /* at FAKE_MEMORY_ADDR; NULL: the kernel shows none */
	const char *const *modules; /* paths, up to a NULL; NULL: the usual ones */
	size_t writable; /* bytes of it that can be written, from its start */
	double used_s; /* of a processor, more than all have */
	int64_t resident; /* bytes; 0: not known */
	int64_t faults, switches; /* -1: not known */
	const struct host_figures *figures; /* separate numbers; NULL: the usual ones */
	struct host_proc *held;
	host_on_exit_fn on_exit;
	void *arg;
};

struct fake_host {
	struct host host;
	struct fake_proc proc[FAKE_PROCS];
	size_t n;
	const char *boot_id, *memfd;
	nsec_t now; /* for counts */
	int64_t counts; /* value of each count, */
	const int64_t *count; /* HOST_NCOUNTS; or has its own; NULL: no */
	const struct host_now *state; /* NULL: the usual one */
	size_t open; /* held processes */
	const char *file; /* content of /proc/some */
	size_t nfile;
};

void fake_host_init(struct fake_host *h);

/* With one thread, tid = pid. */
struct fake_proc *fake_proc_add(struct fake_host *h, int32_t pid, const char *name);
struct fake_proc *fake_proc_find(struct fake_host *h, int32_t pid);
void fake_thread_add(struct fake_proc *p, int32_t tid);
void fake_thread_end(struct fake_proc *p, int32_t tid);

/* It ends; its watchers are notified at once. */
void fake_proc_end(struct fake_proc *p, int status);

#endif
