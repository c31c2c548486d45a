/* SPDX-License-Identifier: Apache-2.0 */
/* A command's connection to mainsm, by libomis. Reports failures on stderr. */
#ifndef TOOLS_SESSION_SESSION_H
#define TOOLS_SESSION_SESSION_H

#include "common/base/clock.h"
#include "tools/term/say.h"
#include "tools/libomis/omis.h"

/* 0, or the exit status: CMD_UNREACHABLE, CMD_DENIED, CMD_USAGE (bad --mainsm). */
int session_open(const struct cmd_common *c);
void session_close(void);

/* The connection, as omis_handler() has found it. */
enum session_link {
	SESSION_UP,
	SESSION_LOST,
	SESSION_BACK, /* and nothing of what was requested before is known there */
};
enum session_link session_link(void);

/*
 * From now on requests use the present connection: a command calls this after SESSION_BACK,
 * before it asks.
 */
void session_link_taken(void);

/* A time for which there is no mainsm, for commands that continue behind it. Zeroed but for the
 * first three. */
struct session_gap {
	int64_t limit_ns; /* this long is waited; 0: a lost connection is the end */
	/* Asks for all that there was: an exit status. CMD_USAGE and CMD_DENIED are the end, others
	 * are tried again. */
	int (*again)(void *arg);
	void *arg;
	nsec_t since, next; /* since 0: mainsm is there; next: a try */
};

#define SESSION_GAP_MAX_NS (24 * 3600 * NSEC_PER_SEC)
/* a mainsm that is started again by hand */
#define SESSION_GAP_LIMIT_NS (60 * NSEC_PER_SEC)

/*
 * In each turn of a loop, behind omis_handler(): reports a loss, and asks again. An exit status;
 * if not CMD_OK it was reported, and the command ends. While since is not 0 there are no answers:
 * requests fail silently.
 */
int session_bridge(struct session_gap *g);

/*
 * Waits for what mainsm sends, a signal or, with_keys, a key: for `left` at most, and never long.
 * Then omis_handler().
 */
void session_turn(nsec_t left, bool with_keys);

/* Attaches all that is known. 0 or an exit status. */
int session_attach_all(void);

/* True: the text may be quoted in a request as it is, such as names, serials and numbers. */
bool session_is_plain(const char *s);

/*
 * session_open(), and *job (NULL: all jobs) becomes the name of the one job that it fits: the name
 * of a program or of a batch system's job will do. It stays as it is where none fits. A job
 * that has just been started is waited for until mainsm knows a process of it. CMD_USAGE,
 * reported: several fit. On failure the session is closed.
 */
int session_open_job(const struct cmd_common *c, const char **job);

/* The processes of that job with their nodes and sites; NULL: all. CMD_NOTFOUND when there is
 * none. */
int session_attach(const char *job);

/*
 * A blocking request. *out is the reply, for omis_reply_free(). On failure *out is NULL, the
 * reason is reported, and an exit status is returned.
 */
int session_ask(Omis_reply *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As above when the values of action 1, of all entries in one list, are all that matters; for
 * omis_value_free(). */
int session_ask_value(Omis_value **out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same of a request of any length. *out is NULL where there are no values. */
int session_ask_long(Omis_value **out, const char *request, size_t n);

/* The values of action 1 of a reply, of all entries in one list: omis_value_free(). NULL: there are
 * none that make sense. */
Omis_value *session_values(Omis_reply r);

/* The exit status that stands for it: enum cmd_status. */
int session_status_of(Omis_status s);

/* What a whole reply means: its first error, else CMD_PARTIAL when objects are missing. */
int session_exit_status(Omis_reply r);

/* Members of lists of values, by kind. */
#define value_at omis_list_at
#define value_int omis_list_int
#define value_float omis_list_float
#define value_text omis_list_text

#endif
