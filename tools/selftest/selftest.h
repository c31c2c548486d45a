/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of `omig selftest services`. A table has a row for each service. A bed, a monitor and
 * a scratch process, is the place where rows run.
 */
#ifndef TOOLS_SELFTEST_SELFTEST_H
#define TOOLS_SELFTEST_SELFTEST_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "tools/term/say.h"
#include "tools/launch/launch.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* --- the table */

enum selftest_need {
	NEED_NOTHING,
	NEED_PTRACE, /* others' memory, registers, system calls, starting programs */
	NEED_REGISTERS, /* as above, and a known processor */
	NEED_SWITCHES, /* perf_event_open for the scheduler */
	NEED_BREAKPOINTS, /* perf_event_open for addresses */
	NEED_OWN_MONITOR, /* would harm a shared monitor */
};

#define SELFTEST_STEPS_MAX 14

/*
 * Kinds of steps. In a text, {name} is replaced by a value; in a pattern, by text that matches the
 * value. The answer of a request is a line `OBJECTS VALUE`, or `error STATUS OBJECTS WORDS`, per
 * entry.
 */
enum selftest_step_kind {
	STEP_END,
	STEP_REQUEST, /* an error of any entry fails the row */
	STEP_TRY, /* a request that may fail */
	STEP_OTHER_TOOL, /* a request of another tool, which enrols with {string} */
	STEP_CSR, /* a conditional request, which is enabled; {csr} is the last one */
	STEP_SAVE, /* NAME [PATTERN]: {NAME} is now the value of the answer's first line */
	STEP_MATCH, /* a pattern that the answer matches */
	STEP_AWAIT, /* as above, with the request repeated until it matches */
	STEP_COMMAND, /* a command for the scratch process */
	STEP_OUTPUT, /* a pattern for all that the scratch process has written */
	STEP_PROC_FILE, /* FILE PATTERN: of the file below /proc/{pid}, in time */
	STEP_NOTIFIED, /* a pattern for the replies of conditional requests, in time */
	STEP_NOT_NOTIFIED, /* a pattern that those replies do not match */
	STEP_ELSEWHERE, /* the system test that tries the service */
	STEP_QUIET, /* no process of the monitor runs */
};

struct selftest_step {
	enum selftest_step_kind kind;
	const char *text;
};

struct selftest_row {
	const char *service; /* NULL ends the table */
	enum selftest_need need;
	struct selftest_step step[SELFTEST_STEPS_MAX + 1]; /* STEP_END behind the last one */
};

extern const struct selftest_row selftest_rows[];

/* Returns NULL if there is none. */
const struct selftest_row *selftest_row_find(const char *service);

/* Returns "request", "match", ...: the name of the kind in a list of steps. */
const char *selftest_step_name(enum selftest_step_kind kind);

/*
 * Returns why this host lacks the feature, as far as that is known without a trial; NULL: the host
 * should have it. `bin` is the folder of this program.
 */
const char *selftest_lacks(enum selftest_need need, bool is_own_monitor, const char *bin,
			   char *words, size_t size);

/* --- words: {name} and its value */

#define SELFTEST_WORDS_MAX 64

struct selftest_words {
	struct selftest_word {
		char name[16];
		char value[LAUNCH_CONN_BYTES];
	} v[SELFTEST_WORDS_MAX];
	size_t n;
};

/* Sets or replaces a word; false if there is no room. */
bool selftest_word_set(struct selftest_words *w, const char *name, const char *value);
/* NULL: none */
const char *selftest_word(const struct selftest_words *w, const char *name, size_t n);

/*
 * Appends text with its words replaced; in patterns by matching text. -ERR_NOTFOUND for an unknown
 * one.
 */
int selftest_expand(const struct selftest_words *w, const char *text, bool is_pattern,
		    struct buf *out, struct err *e);

/* --- the bed */

struct selftest_bed {
	struct launch launch;
	bool is_own_monitor;
	char dir[FILE_PATH_BYTES]; /* private; removed with all processes in it */
	pid_t scratch;
	int to_scratch, from_scratch; /* pipes */
	int keeper; /* closing it ends everything, also when it is the kernel that closes it */
	pid_t keeper_pid;
	struct buf said; /* output of the scratch process */
	struct selftest_words words;
	volatile sig_atomic_t *stop; /* set by a signal */
};

/*
 * Makes a monitor, unless one is named, connects to it, starts the scratch process and attaches it.
 * Reports failures on stderr and returns an exit status. selftest_bed_close() must follow in any
 * case.
 */
int selftest_bed_open(struct selftest_bed *bed, const struct cmd_common *c,
		      volatile sig_atomic_t *stop);
void selftest_bed_close(struct selftest_bed *bed);

/* Sends a line to the scratch process and waits until it is done. -ERR_TIMEOUT, -ERR_CLOSED. */
int selftest_bed_command(struct selftest_bed *bed, const char *words, struct err *e);
/* Reads its output, waiting up to ms milliseconds. */
int selftest_bed_listen(struct selftest_bed *bed, int ms, struct err *e);
/* True if no process of the bed's own monitor runs. */
bool selftest_bed_is_quiet(const struct selftest_bed *bed);

/* --- a row */

struct selftest_result {
	enum selftest_end {
		SELFTEST_OK,
		SELFTEST_FAILS,
		SELFTEST_NOT_HERE,
		SELFTEST_ELSEWHERE
	} end;
	char why[400];
};

void selftest_row_run(struct selftest_bed *bed, const struct selftest_row *row,
		      struct selftest_result *out);

#endif
