/* SPDX-License-Identifier: Apache-2.0 */
/* A command's connection to mainsm, by libomis. Reports failures on stderr. */
#ifndef TOOLS_SESSION_SESSION_H
#define TOOLS_SESSION_SESSION_H

#include "common/base/clock.h"
#include "tools/term/say.h"
#include "tools/libomis/omis.h"

/* Returns 0, or the exit status: CMD_UNREACHABLE, CMD_DENIED, CMD_USAGE (bad --mainsm). */
int session_open(const struct cmd_common *c);
void session_close(void);

/* State of the connection, as noticed by omis_handler(). */
enum session_link {
	SESSION_UP,
	SESSION_LOST,
	SESSION_BACK, /* connected again; the new mainsm does not know earlier requests */
};
enum session_link session_link(void);

/*
 * Requests use the new connection from now on: a command calls this after SESSION_BACK, before it
 * asks.
 */
void session_link_taken(void);

/* A time without mainsm, for commands that continue afterwards. Zeroed except the first three. */
struct session_gap {
	int64_t limit_ns; /* time to wait; 0: a lost connection is the end */
	/*
	 * Repeats all requests; returns an exit status. CMD_USAGE and CMD_DENIED end the command,
	 * others are retried.
	 */
	int (*again)(void *arg);
	void *arg;
	nsec_t since, next; /* since 0: mainsm is connected; next: time of the next try */
};

#define SESSION_GAP_MAX_NS (24 * 3600 * NSEC_PER_SEC)
/* time to restart mainsm by hand */
#define SESSION_GAP_LIMIT_NS (60 * NSEC_PER_SEC)

/*
 * Called in each turn of a loop, after omis_handler(): reports a loss, and asks again. Returns an
 * exit status; if not CMD_OK it was reported, and the command ends. While `since` is not 0 there
 * is not a mainsm: requests fail without a message.
 */
int session_bridge(struct session_gap *g);

/*
 * Waits for messages of mainsm, a signal or, with_keys, a key: at most for `left`, and never long.
 * Then calls omis_handler().
 */
void session_turn(nsec_t left, bool with_keys);

/* Attaches all known objects. Returns 0 or an exit status. */
int session_attach_all(void);

/* True if the text may be quoted in a request unchanged, such as names, serials and numbers. */
bool session_is_plain(const char *s);

/*
 * Calls session_open(), and sets *job (NULL: all jobs) to the name of the one matching job. The
 * name of a program or of a batch system's job also matches. Without a match *job is unchanged.
 * Waits for a job that has just been started until mainsm knows a process of it. CMD_USAGE,
 * reported: several match. On failure the session is closed.
 */
int session_open_job(const struct cmd_common *c, const char **job);

/*
 * Attaches the processes of that job with their nodes and sites; NULL: all. CMD_NOTFOUND if there
 * is none.
 */
int session_attach(const char *job);

/*
 * Sends a blocking request. *out is the reply, for omis_reply_free(). On failure *out is NULL, the
 * reason is reported, and an exit status is returned.
 */
int session_ask(Omis_reply *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * As session_ask(), with only the values of action 1, of all entries in one list; for
 * omis_value_free().
 */
int session_ask_value(Omis_value **out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As session_ask_value(), for a request of any length. *out is NULL if there are no values. */
int session_ask_long(Omis_value **out, const char *request, size_t n);

/*
 * The values of action 1 of a reply, of all entries in one list: For omis_value_free(). NULL:
 * there are no valid ones.
 */
Omis_value *session_values(Omis_reply r);

/* Converts a status to an exit status: enum cmd_status. */
int session_status_of(Omis_status s);

/*
 * Returns the exit status of a whole reply: its first error, else CMD_PARTIAL if objects are
 * missing.
 */
int session_exit_status(Omis_reply r);

/* Members of lists of values, by kind. */
#define value_at omis_list_at
#define value_int omis_list_int
#define value_float omis_list_float
#define value_text omis_list_text

#endif
