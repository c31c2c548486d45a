/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tool's end of the connection to a mainsm: finds the mainsm, enrols, reconnects, sends
 * requests. One thread; callbacks run in client_wait(), client_turn() and client_open() only.
 */
#ifndef TOOLS_LIBOMIS_CLIENT_H
#define TOOLS_LIBOMIS_CLIENT_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/omis/reply/reply.h"
#include "proto/msg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client;
struct connstr;

struct client_conf {
	const char *mainsm; /* connection string; NULL = OMIG_MAINSM, else the state directory */
	nsec_t timeout; /* for connecting */
	/*
	 * The connection was lost (why) or restored (NULL). Called after the other callbacks. May
	 * be NULL.
	 */
	void (*on_link)(void *arg, const struct err *why);
	/* Blocks of a subscription. May be NULL. */
	void (*on_events)(void *arg, const struct msg_events *ev);
	void *arg;
};

/*
 * Blocks until connected. ERR_NOTFOUND, ERR_PARSE (connection string), ERR_DENIED (refused),
 * ERR_TIMEOUT, ERR_CLOSED, ERR_SYS (not reachable), ERR_NOMEM; texts contain the remedy.
 */
int client_open(const struct client_conf *conf, struct client **out, struct err *e);

/*
 * Gets a certificate of the monitor that conf names, for that role: "tool", "factory" or
 * "receiver". A stored valid one is used without a request; else it enrols. dir (FILE_PATH_BYTES)
 * gets its folder, *mainsm its monitor, without a secret. Blocks, and fails as client_open().
 */
int client_identity(const struct client_conf *conf, const char *role, char *dir,
		    struct connstr *mainsm, struct err *e);

/* Sends BYE; no callback follows. NULL is fine. */
void client_close(struct client *c);

uint32_t client_tool(const struct client *c);
bool client_is_up(const struct client *c);
int client_fd(struct client *c, struct err *e);

struct client_request {
	const void *text;
	size_t n;
	unsigned policy; /* enum msg_policy */
	unsigned quorum;
	nsec_t deadline;
	void (*on_reply)(void *arg, struct reply **r, bool is_last); /* as in struct ask */
	void *arg;
};

/*
 * Sends a request. ERR_CLOSED: not connected; ERR_LIMIT: too large or too many; ERR_AGAIN: mainsm
 * does not read; ERR_NOMEM.
 */
int client_ask(struct client *c, const struct client_request *rq, uint64_t *id, struct err *e);

/* Drops the request, also in mainsm. */
void client_cancel(struct client *c, uint64_t id);

/*
 * Acknowledges blocks up to that place. ERR_CLOSED, ERR_INVALID (invalid name), ERR_AGAIN,
 * ERR_NOMEM.
 */
int client_ack_events(struct client *c, const struct msg_events_ack *ack, struct err *e);

/* Runs one turn: waits until an event, at most `max`. */
void client_wait(struct client *c, nsec_t max);
void client_turn(struct client *c);

/* Returns the time of client_wait()'s clock. */
nsec_t client_now(const struct client *c);

#endif
