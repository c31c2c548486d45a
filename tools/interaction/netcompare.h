/* SPDX-License-Identifier: Apache-2.0 */
/* omig interaction compare: what changed between two sets of interactions. */
#ifndef TOOLS_INTERACTION_NETCOMPARE_H
#define TOOLS_INTERACTION_NETCOMPARE_H

#include "tools/interaction/netread.h"

#define NETCOMPARE_LEVEL 0.99 /* a difference is sure when its interval does not contain 0 */

/*
 * files: the earlier one, the later one. Returns an exit status: CMD_CHANGED when the mean response
 * time surely differs.
 */
int netcompare_run(const struct netread_options *w, bool json, char **files);

#endif
