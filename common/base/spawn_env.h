/* SPDX-License-Identifier: Apache-2.0 */
/* The settings under which a daemon was started, for the programs that it starts. */
#ifndef COMMON_BASE_SPAWN_ENV_H
#define COMMON_BASE_SPAWN_ENV_H

/*
 * An environment variable that a daemon sets before it hardens itself: "MASK FILES CORE". The umask
 * is octal, the soft limits of descriptors and core files are decimal.
 */
#define ENV_SPAWN "OMIG_SPAWN_ENV"

#endif
