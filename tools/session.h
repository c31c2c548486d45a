/* SPDX-License-Identifier: Apache-2.0 */
/* A command's conversation with mainsm, by libomis. Failures are told on stderr here. */
#ifndef TOOLS_SESSION_H
#define TOOLS_SESSION_H

#include "tools/cmd.h"
#include "tools/libomis/omis.h"

/* 0, or the exit status: CMD_UNREACHABLE, CMD_DENIED, CMD_USAGE (bad --mainsm). */
int session_open(const struct cmd_common *c);
void session_close(void);

/* The same, with omis_init()'s handler of what belongs to no request. */
int session_open_told(const struct cmd_common *c, void (*on_word)(Omis_reply r));

/* Attaches all that is known. 0 or an exit status. */
int session_attach_all(void);

/* It can stand between quotes in a request as it is: names, serials, numbers can. */
bool session_is_plain(const char *s);

/* The processes of that job with their nodes and sites; NULL: all. CMD_NOTFOUND when there is none. */
int session_attach(const char *job);

/* A blocking request. *out is the reply, for omis_reply_free(); on failure NULL, told, and an exit status is returned. */
int session_ask(Omis_reply *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As above when the values of action 1, of all entries in one list, are all that matters; for omis_value_free(). */
int session_ask_value(Omis_value **out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The exit status that stands for it: enum cmd_status. */
int session_status_of(Omis_status s);

/* What a whole reply means: its first error, else CMD_PARTIAL when objects are missing. */
int session_exit_status(Omis_reply r);

/* Value i of a list, by kind; 0, NaN, "" when there is none or it is of another kind. */
int64_t value_int(const Omis_value *list, size_t i);
double value_float(const Omis_value *list, size_t i);
const char *value_text(const Omis_value *list, size_t i);
const Omis_value *value_at(const Omis_value *list, size_t i); /* NULL beyond the end */

#endif
