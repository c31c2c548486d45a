/* SPDX-License-Identifier: Apache-2.0 */
/* How a daemon was started, for the programs that are started by it for others. */
#ifndef COMMON_BASE_SPAWN_ENV_H
#define COMMON_BASE_SPAWN_ENV_H

/*
 * A variable of the environment, set by a daemon before it makes itself stricter: "MASK FILES
 * CORE", umask in octal, soft limits of descriptors and of core files in decimal.
 */
#define ENV_SPAWN "OMIG_SPAWN_ENV"

#endif
