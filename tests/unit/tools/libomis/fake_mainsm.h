/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An imitation of mainsm over real TLS, in a separate process.
 * Its answer depends on the text of the request:
 *
 *	:print(...)        final, entry 1 of n_1 with the text as a string
 *	:parts()           a final reply in three parts
 *	:silence()         nothing
 *	:drop()            the connection is closed
 *	:events()          blocks of the subscription run7, stream 3 place 10; and final; when they
 *	                   are acknowledged its end at the next place
 *	:policy()          final, value "policy,quorum,deadline_ms"
 *	x(): ...           DEFINED, ENABLED, TRIGGERED twice, DELETED
 *	anything else      a syntax error
 */
#ifndef TESTS_UNIT_TOOLS_LIBOMIS_FAKE_MAINSM_H
#define TESTS_UNIT_TOOLS_LIBOMIS_FAKE_MAINSM_H

#include <stdint.h>
#include <sys/types.h>

struct fake_mainsm {
	pid_t pid;
	char conn[4096]; /* its connection string */
	char dir[256]; /* its state, and (as OMIG_STATE_DIR) that of the tool */
};

enum fake_mood { FAKE_KIND, FAKE_REFUSES_ENROLMENT, FAKE_REFUSES_HELLO };

/* Ends with the test's process at the latest. Asserts that it works. */
void fake_mainsm_start(struct fake_mainsm *f, enum fake_mood mood);
void fake_mainsm_stop(struct fake_mainsm *f);

#endif
