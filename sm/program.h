/* SPDX-License-Identifier: Apache-2.0 */
/* The sm as a process: configuration, certificate, network, and the core in sm.h. */
#ifndef SM_PROGRAM_H
#define SM_PROGRAM_H

#include "common/daemon/daemon.h"

extern const struct daemon_spec sm_program_spec;

#endif
