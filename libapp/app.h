/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Omig's library inside a program. A program needs no call of this library to be watched. If it is
 * linked with -lomig, or runs with the library preloaded, it may call these functions. Every call
 * is safe at any time, from any thread and signal handler.
 */
#ifndef OMIG_APP_H
#define OMIG_APP_H

#ifdef __cplusplus
extern "C" {
#endif

enum omig_attach {
	OMIG_UNWATCHED = 0, /* no MPI_Init, probe or event yet, OMIG_DISABLE, or no memory */
	OMIG_READY = 1, /* set up; no lm holds the segment yet */
	OMIG_ATTACHED = 2 /* an lm holds this process's segment */
};

/* enum omig_attach. */
int omig_app_attached(void);

/* "0.1.0": a constant. */
const char *omig_app_version(void);

#ifdef __cplusplus
}
#endif

#endif
