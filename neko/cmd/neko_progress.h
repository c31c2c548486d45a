/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of a run: a line on the terminal, if it takes longer than two seconds. */
#ifndef NEKO_CMD_NEKO_PROGRESS_H
#define NEKO_CMD_NEKO_PROGRESS_H

#include "common/cli/progress.h"
#include "neko/run/run.h"

/*
 * Called in each turn of a run. The sweep has `runs` runs, of which this is number `run`; both are
 * 1 without a sweep.
 */
void neko_progress(struct progress *p, const struct run_turn *t, size_t run, size_t runs);

#endif
