/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the processes of a real run live, as its master sees them: on this host (crew_local), or
 * behind factories on others (neko/hosts). A frame is one of realwire.h.
 */
#ifndef NEKO_RUN_CREW_H
#define NEKO_RUN_CREW_H

#include "neko/real/real.h"
#include "neko/real/realwire.h"
#include "neko/run/run.h"
#include "proto/frame.h"

struct crew;

/* Callbacks of the master, never from within start(). */
struct crew_hearer {
	void (*on_frame)(void *arg, uint32_t id, const struct frame *f);
	/* The process has ended, and nothing more comes. Once each. */
	void (*on_gone)(void *arg, uint32_t id, const struct realwire_gone *how);
	void *arg;
};

struct crew_ops {
	/* Process id begins to be. Errors are for people. */
	int (*start)(struct crew *c, uint32_t id, struct err *e);
	/* The address of the process's networks: IPv4, host order. */
	uint32_t (*address)(const struct crew *c, uint32_t id);
	/* Sends a whole frame. A process to which it cannot be sent counts as dead. */
	void (*send)(struct crew *c, uint32_t id, const struct buf *frame);
	/* Calls back; blocks at most for this time. */
	void (*turn)(struct crew *c, int ms);
	/* Ends it without a word; on_gone comes. */
	void (*kill)(struct crew *c, uint32_t id);
	/* Where it is, for people. Valid until the next call. */
	const char *(*place)(const struct crew *c, uint32_t id);
	/* All are ended, and the crew is freed. */
	void (*end)(struct crew *c);
};

struct crew {
	const struct crew_ops *ops;
	struct crew_hearer hearer; /* set by the master */
	nsec_t lead; /* from the go to time 0, so that all hear it before */
};

/* fork(). NULL: no memory. r is borrowed; its seed and options are set. */
struct crew *crew_local_new(struct run *r);

/* For one process on another host: it has no handler. Errors as run_new(). */
int run_new_part(struct setup *s, struct run **out, struct err *e);

/* What a real run is made of, is examined; then a crew may be made. w lives until the run is
 * over. */
int run_prepare_real(struct run *r, const struct run_options *w, struct err *e);

/* run_real() with the processes of that crew, which it consumes in any case. */
int run_conduct(struct run *r, struct crew *take, struct run_counts *out, struct err *e);

uint32_t crew_size(const struct run *r);
nsec_t crew_silence(const struct run *r);

/* The configuration as text. -ERR_NOMEM, -ERR_LIMIT. */
int crew_print_setup(const struct run *r, struct buf *out);

/*
 * The process is ended, if it has not, and reaped; out (REALWIRE_WORDS_BYTES) says how it ended.
 * Blocks for some ms: a line is closed before its process has ended.
 */
void crew_reap(int pid, char *out);

/* A process of the run says what it is to be, on this or another host: builds its layers and fills
 * c. */
void crew_fill_conf(struct run *r, uint32_t id, struct real_conf *c);

#endif
