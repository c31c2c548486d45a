/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mainsm as a program: options, state directory, certificates, the line on stdout, and launching
 * sms.
 */
#ifndef MAINSM_PROGRAM_H
#define MAINSM_PROGRAM_H

#include "common/daemon/daemon.h"

extern const struct daemon_spec mainsm_program_spec;

#endif
