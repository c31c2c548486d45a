/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a real run, as its master uses them: on this host (crew_local), or through
 * factories on other hosts (neko/hosts). Frames are those of realwire.h.
 */
#ifndef NEKO_RUN_CREW_H
#define NEKO_RUN_CREW_H

#include "neko/real/real.h"
#include "neko/real/realwire.h"
#include "neko/run/run.h"
#include "proto/frame.h"

struct crew;

/* Callbacks of the master, never called within start(). */
struct crew_hearer {
	void (*on_frame)(void *arg, uint32_t id, const struct frame *f);
	/* The process has ended, and sends nothing more. Called once for each. */
	void (*on_gone)(void *arg, uint32_t id, const struct realwire_gone *how);
	void *arg;
};

struct crew_ops {
	/* Starts process id. On failure e has a text for the user. */
	int (*start)(struct crew *c, uint32_t id, struct err *e);
	/* Returns the address of the process's networks: IPv4, host order. */
	uint32_t (*address)(const struct crew *c, uint32_t id);
	/* Sends a whole frame. A process that cannot be reached counts as dead. */
	void (*send)(struct crew *c, uint32_t id, const struct buf *frame);
	/* Calls back; blocks at most for this time. */
	void (*turn)(struct crew *c, int ms);
	/* Kills the process; on_gone follows. */
	void (*kill)(struct crew *c, uint32_t id);
	/* Returns the host of the process, for messages to users. Valid until the next call. */
	const char *(*place)(const struct crew *c, uint32_t id);
	/* Ends all processes and frees the crew. */
	void (*end)(struct crew *c);
};

struct crew {
	const struct crew_ops *ops;
	struct crew_hearer hearer; /* set by the master */
	/* time from REALWIRE_GO to time 0 of the run, so that all processes receive it before */
	nsec_t lead;
};

/*
 * Makes a crew of forked processes. Returns NULL without memory. r is borrowed; its seed and
 * options must be set.
 */
struct crew *crew_local_new(struct run *r);

/* Makes the run for one process on another host, without a handler. Fails like run_new(). */
int run_new_part(struct setup *s, struct run **out, struct err *e);

/*
 * Checks the configuration of a real run, so that a crew may be made. w must be valid until the end
 * of the run.
 */
int run_prepare_real(struct run *r, const struct run_options *w, struct err *e);

/* Executes a real run with the processes of that crew, which it consumes in any case. */
int run_conduct(struct run *r, struct crew *take, struct run_counts *out, struct err *e);

uint32_t crew_size(const struct run *r);
nsec_t crew_silence(const struct run *r);

/* Writes the configuration as text. Fails with ERR_NOMEM, ERR_LIMIT. */
int crew_print_setup(const struct run *r, struct buf *out);

/*
 * Ends the process if needed, and reaps it. Writes the kind of its end to out
 * (REALWIRE_WORDS_BYTES). Blocks for some ms, because the socket of a process closes before it
 * ends.
 */
void crew_reap(int pid, char *out);

/* Called in a process of the run, on this or another host: builds its layers and fills c. */
void crew_fill_conf(struct run *r, uint32_t id, struct real_conf *c);

#endif
