/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of the command line, and runs of one configuration with several values of its keys:
 *
 *	--set KEY=VALUE
 *	--sweep KEY=10ms,20ms,50ms      a run for each
 *	--sweep KEY=10ms..50ms:10ms     the same by steps; both ends are runs
 *
 * Several sweeps give each combination; the last key changes fastest.
 */
#ifndef NEKO_CMD_NEKO_SWEEP_H
#define NEKO_CMD_NEKO_SWEEP_H

#include "common/base/buf.h"
#include "neko/run/run.h"

#define NEKO_SWEEP_KEYS_MAX 4 /* key columns: a wider table is unreadable */
#define NEKO_SWEEP_POINTS_MAX 1000 /* rows of a table that is still readable */
#define NEKO_SETS_MAX 64 /* more settings belong in a file */

struct neko_setting {
	char *key; /* owned, in one allocation with the value */
	const char *value;
};

struct neko_sweep_key {
	char *key; /* owned */
	char **value; /* owned, with n values */
	size_t n;
};

/* A quantity of one run. */
struct neko_sweep_cell {
	char *name, *unit; /* owned */
	uint64_t n;
	/* half: half-width of the 95 % interval, by batch means if values depend on each other */
	double mean, half, deviation, min, max;
};

struct neko_sweep_row {
	struct neko_sweep_cell *cell; /* owned, n entries */
	size_t n;
	struct run_counts counts;
	bool is_done;
};

/* All zeros: no sweep, no settings. */
struct neko_sweep {
	struct neko_setting set[NEKO_SETS_MAX];
	unsigned nset;
	struct neko_sweep_key key[NEKO_SWEEP_KEYS_MAX];
	unsigned n;
	struct neko_sweep_row *row; /* owned, one for each point */
};

/*
 * Callbacks of the options; into is a struct neko_sweep. Fail with ERR_INVALID, ERR_LIMIT,
 * ERR_NOMEM.
 */
int neko_sweep_set(void *into, const char *text, struct err *e);
int neko_sweep_add(void *into, const char *text, struct err *e);
void neko_sweep_done(struct neko_sweep *s);

/* Returns the number of runs; 1 without a sweep. */
size_t neko_sweep_points(const struct neko_sweep *s);
const char *neko_sweep_value(const struct neko_sweep *s, size_t point, unsigned key);

/* Applies all settings, and the values of that point. Fails like setup_set(). */
int neko_sweep_apply(const struct neko_sweep *s, size_t point, struct setup *to, struct err *e);

/* Stores the results of that point's run. Fails with ERR_NOMEM. */
int neko_sweep_note(struct neko_sweep *s, size_t point, const struct run *r,
		    const struct run_counts *f, struct err *e);

/* Returns the reason of a run's end, as text. */
const char *neko_sweep_end(const struct run_counts *f);

/* Writes a row for each point that has run. b->failed reports a failure. */
void neko_sweep_text(struct buf *b, const struct neko_sweep *s);
void neko_sweep_csv(struct buf *b, const struct neko_sweep *s);
void neko_sweep_json(struct buf *b, const struct neko_sweep *s, const char *path);

#endif
