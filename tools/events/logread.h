/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event logs of every form that omig log reads, archives too, as one sequence of events. Reports
 * unreadable input on stderr.
 */
#ifndef TOOLS_EVENTS_LOGREAD_H
#define TOOLS_EVENTS_LOGREAD_H

#include "eventlog/archive/arevents.h"
#include "eventlog/evfile.h"
#include "eventlog/text/evline.h"

struct logread_options {
	bool is_text, is_guessed; /* is_text: form is valid; is_guessed: by the first bytes */
	enum evline_form form;
	enum evwords_fraction fraction;
	bool is_quiet; /* no progress */
	bool is_silent; /* unreadable input is not reported */
	/* for archives; NULL: all. Other logs are passed on whole */
	const struct arevents_options *part;
	/* reads guessed files of JSON, and returns an exit status; NULL: they are damaged logs */
	int (*json)(void *arg, const char *path, struct evfile *f);
	void *json_arg;
	void (*on_file)(void *arg); /* logread_files() calls it before each file; NULL: not */
};

/* "olog", "auto", or a form of evline.h. */
int logread_form(struct logread_options *w, const char *name);

/* Any value but 0 ends the reading and is returned. */
typedef int (*logread_fn)(void *arg, const struct event *ev);

/*
 * Passes on all events of a file ("-" is the standard input), or of an archive: an archive file, if
 * the form is guessed, or postgresql://... Returns an exit status: CMD_DAMAGED if a part could not
 * be read.
 */
int logread_file(const struct logread_options *w, const char *path, logread_fn fn, void *arg);

/*
 * As logread_file() for each of these files, or for the standard input if there is none. A damaged
 * file does not end the reading.
 */
int logread_files(const struct logread_options *w, char **files, logread_fn fn, void *arg);

/*
 * As logread_file() for a file that grows. CMD_USAGE for an archive, which does not grow. `path`
 * and `w` are borrowed; fn is called in logread_more() only.
 */
struct logread;
int logread_follow(const struct logread_options *w, const char *path, logread_fn fn, void *arg,
		   struct logread **out);

/* Passes on what was appended since the last call. Returns an exit status. */
int logread_more(struct logread *r);

/* Returns true if nothing more can be appended: a pipe has ended. */
bool logread_has_ended(const struct logread *r);

/*
 * Returns false if the name refers to another file now, or if the file is shorter than what was
 * read.
 */
bool logread_is_current(const struct logread *r);

/* Reports unreadable parts: CMD_DAMAGED, else CMD_OK. Frees r. */
int logread_close(struct logread *r);

/* True for a regular file, which can be read twice: no pipe, no standard input. */
bool logread_can_be_read_again(const char *path);

/* Status of omig log: D as in damaged. Usage errors have the same number. */
#define CMD_DAMAGED 2

#endif
