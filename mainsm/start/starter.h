/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the launchers of sms. The connection string contains the one-time token. It is passed in the
 * environment (OMIG_MAINSM) and on standard input, never on the command line. The launcher's output
 * is written to a file.
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
	/* listening address of sms on this host, unless the site has one */
	const char *listen;
	/* Address to listen at for sms of other launchers, which are not on this host. */
	const char *listen_elsewhere;
	const char *state_dir; /* for sms on this host, and for the output of launchers */
	/* A launcher has ended; the text has its status. */
	void (*on_exit)(void *arg, const char *site, const char *how);
	void *arg;
};

/* Returns NULL without memory. */
struct starter *starter_new(const struct starter_conf *conf);

/* Running launchers continue: their sms do not depend on this start of mainsm. */
void starter_free(struct starter *s);

/*
 * connection: the whole connection string. ERR_PARSE, ERR_INVALID (template), ERR_SYS, ERR_NOMEM.
 */
int starter_start(struct starter *s, const struct site *site, const char *launcher,
		  const char *connection, struct err *e);

#endif
