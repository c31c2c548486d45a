/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads that may hang: memory of processes, and files. A page or a file can be on a file system
 * that does not answer. lm-look reads for the lm, and is killed when it takes too long.
 */
#ifndef LM_HELPER_LOOK_DO_H
#define LM_HELPER_LOOK_DO_H

#include "common/tracer/tracer_msg.h"
#include "lm/host/host.h"

#define LOOK_MAX_NS (2 * NSEC_PER_SEC) /* a page on a disk arrives within milliseconds */
#define LOOK_HANGS                                                                                \
	"it did not come within 2 s: a page or a file hangs, perhaps on a file system that does " \
	"not answer"

/*
 * Runs request m of lm-look. fn gets the answers, each valid for its call. Blocks as the host does.
 */
void look_do(struct host *h, const struct tracer_msg *m,
	     void (*fn)(void *, const struct tracer_msg *), void *arg);

#endif
