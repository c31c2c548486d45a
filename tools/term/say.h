/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by all commands of omig: options, exit statuses and messages. */
#ifndef TOOLS_TERM_SAY_H
#define TOOLS_TERM_SAY_H

#include "common/cli/opt.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct json;

enum cmd_exit {
	CMD_OK,
	CMD_FAILURE,
	CMD_USAGE,
	CMD_UNREACHABLE, /* no mainsm answers */
	CMD_NOTFOUND, /* an object or service that is not there */
	CMD_DENIED,
	CMD_PARTIAL, /* answered, but not for all objects */
	CMD_CHANGED, /* compare: something surely changed */
	CMD_TIMEOUT = 124,
	CMD_NOEXEC = 126, /* run, exec: the program is not executable, as in shells */
	CMD_NOPROGRAM = 127, /* run, exec: the program does not exist */
	CMD_SIGNAL = 128, /* + the signal's number */
};

/* Options of all commands that ask a mainsm. */
struct cmd_common {
	bool json;
	const char *color; /* auto, always, never */
	const char *mainsm; /* connection string; NULL = as libomis finds it */
	int64_t timeout_ns;
};

#define CMD_COMMON_INIT ((struct cmd_common){ .color = "auto", .timeout_ns = INT64_C(5000000000) })

#define CMD_TIMEOUT_MIN_NS INT64_C(1000000)
#define CMD_TIMEOUT_MAX_NS INT64_C(86400000000000)
#define CMD_HELP_MAINSM \
	"connection string, or @FILE that has it, instead of OMIG_MAINSM or your own mainsm"
#define CMD_OPTIONS(c)                                                                            \
	OPTION("json", 'j', NULL, "write JSON", OPT_FLAG, &(c)->json),                            \
		OPTION_RANGE("timeout", 't', "TIME", "give up after this (default 5s)", OPT_NSEC, \
			     &(c)->timeout_ns, CMD_TIMEOUT_MIN_NS, CMD_TIMEOUT_MAX_NS),           \
		OPTION("mainsm", 'm', "STRING", CMD_HELP_MAINSM, OPT_STR, &(c)->mainsm),          \
		OPTION("color", 0, "auto|always|never", "colour (default auto)", OPT_WORD,        \
		       &(c)->color)

/*
 * Calls opt_parse(), and handles the hidden forms `COMMAND --omig-doc man|complete|help` that
 * generate documents. first NULL: the command has no operands. Returns -1 = continue, else the exit
 * status.
 */
int cmd_parse(const struct opt_spec *spec, int argc, char **argv, int *first);

/* Prints `omig: text` on stderr, with control characters escaped. Returns status. */
int cmd_fail(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cmd_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* As opt_usage_error(). cmd_end() repeats all of these in JSON if --json is given. */
int cmd_usage(const struct opt_spec *spec, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* As cmd_usage(), for a first operand that is none of spec->verbs. */
int cmd_usage_verb(const struct opt_spec *spec, const char *given);

/* Stores words, which the command has already printed on stderr, for cmd_end(). Returns status. */
int cmd_note(int status, const char *words);

/* Notes that a JSON document is on stdout, or will be: nothing may follow it. */
void cmd_document(void);

/*
 * Prints the document j, whose text is b, as one line of stdout, and frees b. Returns an exit
 * status.
 */
int cmd_json_line(struct json *j, struct buf *b);

/*
 * Called at the end of main(). After a failure with --json, prints the first message as an object
 * on stdout, {"error":{"status":N,"text":"..."}}. Prints nothing after a document.
 */
void cmd_end(int status);

/*
 * Writes the latest message as "error":{"status":N,"text":"..."} to an open object. A document
 * about several inputs uses it for an input with no answer, or a partial one.
 */
void cmd_put_error(struct json *j, int status);

/*
 * For an action that is retried before it counts as failed. cmd_fail() then writes to words,
 * initially "", in place of stderr. The first message stays, because it is the cause of the others.
 * NULL: to stderr again.
 */
void cmd_hush(char *words, size_t size);

#endif
