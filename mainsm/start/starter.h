/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the launchers of sms. The connection string holds the one-time token. It goes by the
 * environment (OMIG_MAINSM) and by standard input, never by the command line. The launcher's
 * output goes to a file.

 */
#ifndef MAINSM_START_STARTER_H
#define MAINSM_START_STARTER_H

#include "common/base/err.h"
#include "mainsm/directory/sites.h"

struct loop;
struct starter;

struct starter_conf {
	struct loop *loop; /* borrowed */
	const char *sm; /* path of the sm program; copied, as all strings here */
	/* where sms listen that are processes of this host, unless the site says otherwise */
	const char *listen;
	/* and those that another launcher starts: this host's name is not theirs */
	const char *listen_elsewhere;
	const char *state_dir; /* for sms on this host, and for the files of what launchers say */
	/* A launcher has ended; the text says how. */
	void (*on_exit)(void *arg, const char *site, const char *how);
	void *arg;
};

/* NULL without memory. */
struct starter *starter_new(const struct starter_conf *conf);

/* Running launchers continue: their sms do not depend on this start of mainsm. */
void starter_free(struct starter *s);

/* connection: whole connection string. ERR_PARSE, ERR_INVALID (template), ERR_SYS, ERR_NOMEM. */
int starter_start(struct starter *s, const struct site *site, const char *launcher,
		  const char *connection, struct err *e);

#endif
