/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of `omig doctor`. */
#ifndef TOOLS_CMD_DOCTOR_H
#define TOOLS_CMD_DOCTOR_H

#include <stddef.h>

#define DOCTOR_FINDINGS_MAX 512 /* a line for each daemon of some hundred hosts */

enum doctor_state { DOCTOR_OK, DOCTOR_NOTE, DOCTOR_FAIL };

struct doctor_finding {
	const char *check; /* one word */
	enum doctor_state state;
	const char *remedy; /* NULL for DOCTOR_OK */
	char text[300];
};

struct doctor {
	struct doctor_finding finding[DOCTOR_FINDINGS_MAX];
	size_t n;
};

/* check and remedy must be literals. */
void doctor_add(struct doctor *d, const char *check, enum doctor_state state, const char *remedy,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/*
 * Checks this host and this user: folders, files, MPI, memory files, /proc, ports, clock,
 * environment.
 */
void doctor_check_host(struct doctor *d);

#endif
