/* SPDX-License-Identifier: Apache-2.0 */
/* What all commands of omig share: options, exit statuses and messages. */
#ifndef TOOLS_TERM_SAY_H
#define TOOLS_TERM_SAY_H

#include "common/cli/opt.h"

#include <stdbool.h>
#include <stdint.h>

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
	CMD_NOEXEC = 126, /* run, exec: the program may not be started, as shells say it */
	CMD_NOPROGRAM = 127, /* run, exec: there is no such program */
	CMD_SIGNAL = 128, /* + the signal's number */
};

/* Options that all commands that ask a mainsm have. */
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
 * opt_parse(), and the hidden forms `COMMAND --omig-doc man|complete|help` that documents are
 * made of. first NULL: the command has no operands. -1 = continue, else the exit status.
 */
int cmd_parse(const struct opt_spec *spec, int argc, char **argv, int *first);

/* `omig: text` on stderr, control characters escaped. Returns status. */
int cmd_fail(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cmd_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* As opt_usage_error(). cmd_end() repeats all of these in JSON where --json is given. */
int cmd_usage(const struct opt_spec *spec, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* As cmd_usage(), for a first operand that is none of spec->verbs. */
int cmd_usage_verb(const struct opt_spec *spec, const char *given);

/* Keeps words, which the command has already printed on stderr, for cmd_end(). Returns status. */
int cmd_note(int status, const char *words);

/* A JSON document stands on stdout, or is about to: nothing may follow it. */
void cmd_document(void);

/*
 * At the end of main(). After a failure with --json, prints the first message as an object on
 * stdout, {"error":{"status":N,"text":"..."}}. Prints nothing behind a document.
 */
void cmd_end(int status);

/*
 * The latest message as "error":{"status":N,"text":"..."} into an open object: what a document of
 * several inputs has for one of which there is no answer, or only a part.
 */
void cmd_put_error(struct json *j, int status);

/*
 * For an action that is retried before it is a failure. cmd_fail() writes into words, "" before,
 * and not on stderr. The first message stays, since it is the cause of others. NULL: on stderr
 * again.
 */
void cmd_hush(char *words, size_t size);

#endif
