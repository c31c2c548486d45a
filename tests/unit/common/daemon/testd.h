/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A daemon of the skeleton as a process: testd, which has a word in its configuration. A child of
 * the test runs it, with files and a socket for notifications in a separate directory.
 */
#ifndef TESTS_UNIT_COMMON_DAEMON_TESTD_H
#define TESTS_UNIT_COMMON_DAEMON_TESTD_H

#include "common/base/clock.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* of the test, for what takes a moment; not a measure of anything */
#define TESTD_PATIENCE_MS 20000

/* Remaining life of its certificate in its second line of health. */
#define TESTD_CERTIFICATE_NS (3600 * NSEC_PER_SEC + NSEC_PER_SEC / 2)

struct daemon_spec;

struct testd {
	char dir[64], state[80], conf[80], notify[80], err[80], out[80];
	int notify_fd;
	int64_t kept_fd; /* passed to the background process; 0 = none */
};
extern struct testd testd;
extern const struct daemon_spec testd_spec;

void testd_set_up(void);
void testd_clean_up(void);
void testd_put_conf(const char *text);
/* With up to two more arguments, NULL = none. */
pid_t testd_run(const char *a, const char *b);
/* The same with another spec. */
pid_t testd_run_as(const struct daemon_spec *spec, const char *a, const char *b);
/* The exit code; above 1000: it was killed. */
int testd_wait_exit(pid_t pid);
/* Returns the next notification, "" when none has arrived. Valid until the next call. */
const char *testd_next_notice(void);
/* The file's text, valid until the next call. */
const char *testd_read_text(const char *path);
/* Polls until the file has the word. */
bool testd_has_soon(const char *path, const char *word);
/* The pid in the lock file: that of the one in the background. */
pid_t testd_background_pid(void);

#endif
