/* SPDX-License-Identifier: Apache-2.0 */
/* The segment version of the lm that listens, known beside its socket (seg_listen() of seg.h). */
#ifndef COMMON_RING_SEGLISTEN_H
#define COMMON_RING_SEGLISTEN_H

#include <stdint.h>

/*
 * The SEG_VERSION of the lm that listens at that path. The lm writes it in digits beside its
 * socket, seg_listen() removes what a dead lm has left. 0: not known, as while the lm starts. One
 * short file is read, nothing is waited for.
 */
uint32_t seg_lm_version(const char *path);

/* The name of that file, "<path>.segment". -1: does not fit. */
int seg_lm_version_path(char *out, unsigned long size, const char *path);

/* Why a process with another version is not watched, and what to do; lm and libomig are versions.
 * Cut to size. */
void seg_other_version(char *out, unsigned long size, uint32_t lm, uint32_t libomig);
#define SEG_OTHER_VERSION_BYTES 256 /* holds that text */

/*
 * The version of an lm of which this host's user has been warned, in digits: `omig run` sets it for
 * the ranks, and rank 0 says nothing more of that version.
 */
#define SEG_OTHER_LM_VARIABLE "OMIG_OTHER_LM"

#endif
