/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs whose programs have just begun, and questions about them. A token is requested before a
 * program starts, so mainsm knows a job before its first process is reported. A program can end
 * while its lm still starts. A question about such a job waits until a process of the job is
 * reported.
 */
#ifndef MAINSM_SERVICE_EXPECTED_H
#define MAINSM_SERVICE_EXPECTED_H

#include "mainsm/service/service.h"

/* A token for programs of that job was issued. */
void expected_note(struct services *t, const char *job);

struct expected_question {
	const char *job; /* "": any; borrowed */
	bool (*is_there)(const struct service_call *c);
	int (*answer)(struct service_call *c); /* as service_fn, never 1 */
};

/*
 * Answers now, or returns 1 if the job is expected and has no process yet. The answer then
 * follows with its first process, or at the end of the expectation. At the latest it follows at
 * the last quarter of the request's time.
 */
int expected_answer(struct service_call *c, const struct expected_question *q);

/* A process was reported. */
void expected_check(struct services *t);

#endif
