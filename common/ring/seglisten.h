/* SPDX-License-Identifier: Apache-2.0 */
/* The segment version of a listening lm, in a file beside its socket (seg_listen() of seg.h). */
#ifndef COMMON_RING_SEGLISTEN_H
#define COMMON_RING_SEGLISTEN_H

#include <stdint.h>

/*
 * Returns the SEG_VERSION of the lm that listens at that path, which the lm writes in digits beside
 * its socket. seg_listen() removes the file of a dead lm. Returns 0 if the version is unknown, for
 * example while the lm starts. Reads a short file without waiting.
 */
uint32_t seg_lm_version(const char *path);

/* Writes the name of that file, "<path>.segment". Returns -1 if it does not fit. */
int seg_lm_version_path(char *out, unsigned long size, const char *path);

/*
 * Writes why a process with another version is not watched, and the remedy. lm and libomig are
 * versions. The text is cut to size.
 */
void seg_other_version(char *out, unsigned long size, uint32_t lm, uint32_t libomig);
#define SEG_OTHER_VERSION_BYTES 256 /* room for that text */

/*
 * The version of an lm, in digits, about which the user of this host was warned. `omig run` sets it
 * for the ranks, so that rank 0 does not repeat the warning.
 */
#define SEG_OTHER_LM_VARIABLE "OMIG_OTHER_LM"

#endif
