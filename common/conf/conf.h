/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration from one table. The table drives parsing, defaults, the environment, options,
 * --dump-config, --print-config, the example file and the manual page.
 *
 * Files: `key = value` lines under [section] lines; # or ; begins a comment line; a value may be in
 * double quotes with \" and \\ inside. An unknown key, the same key twice in one file, a control
 * character or a line over CONF_LINE_MAX_BYTES: ERR_PARSE. A file or its directory that others may
 * write: ERR_DENIED. The text has "file:line: ...", and err.line the line.
 *
 * Precedence, lowest first: default, ETC/X.conf, ETC/X.conf.d/NAME.conf in the order of names,
 * USER/X.conf, environment, option. ETC is /etc/omig, USER is $XDG_CONFIG_HOME/omig or
 * $HOME/.config/omig, X the program.
 */
#ifndef COMMON_CONF_CONF_H
#define COMMON_CONF_CONF_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONF_LINE_MAX_BYTES 4096
#define CONF_GROUP_ITEMS_MAX 1024 /* [site ...] sections of one file set */

/* Type of the member at the key's offset. */
enum conf_kind {
	CONF_BOOL, /* bool; yes no true false on off 1 0 */
	CONF_INT, /* int64_t in [min, max] */
	CONF_NSEC, /* int64_t ns in [min, max]; 10, 1.5s, 200ms, 5m, 1h */
	CONF_BYTES, /* int64_t in [min, max]; 4096, 64k, 16M, 1G (powers of 1024) */
	CONF_STRING, /* const char *, never NULL; at most max bytes when max > 0, at least min */
	CONF_CHOICE, /* int: index into choice */
};

enum conf_flags {
	CONF_OPTION = 1, /* also --name on the command line (top-level keys only) */
	CONF_RELOAD = 2, /* a SIGHUP may change it */
	CONF_SECRET = 4, /* shown as (set) or (not set) */
	CONF_NOENV = 8, /* not taken from the environment */
};

struct conf_key {
	const char *section; /* NULL = top of the file; the name of a group for keys of its items */
	const char *name;
	enum conf_kind kind;
	size_t offset; /* place in the program's struct, or in the group's item */
	const char *def; /* as written in a file; "" for an empty string */
	int64_t min, max; /* numbers: range, 0, 0 = none */
	const char *const *choice; /* NULL-terminated */
	unsigned flags;
	const char *arg; /* name of the value in --help */
	const char *help; /* one line, lower case, no full stop */
};

/* Named sections, [site NAME], in the order of appearance. A reload may change them. */
struct conf_group {
	const char *section; /* "site" */
	size_t item_bytes; /* size of an item; its first member is `const char *name` */
	size_t offset_items; /* of a `T *` in the program's struct: owned by the configuration */
	size_t offset_nitems; /* of a size_t */
};

/* Tables end with {0}. Names are lower case, digits and '-'. */
struct conf_schema {
	const char *program;
	size_t bytes; /* sizeof the program's struct */
	const struct conf_key *key;
	const struct conf_group *group; /* NULL = none */
};

struct conf;

struct conf_set {
	const char *name, *value;
};

struct conf_input {
	const char *file; /* --config: read this file in place of the others; it must exist */
	const char *etc_dir; /* NULL = /etc/omig */
	const char *user_dir; /* NULL = from XDG_CONFIG_HOME, HOME */
	const char *const *
		/*
		 * NAME=value...; NULL = none. OMIG_<SECTION>_<KEY>, OMIG_<KEY> for keys without a
		 * section
		 */
		environ_;
	const struct conf_set *set; /* options, top-level keys */
	size_t nset;
};

/* Does file I/O. Lists the errors of a file as described above. */
int conf_load(const struct conf_schema *s, const struct conf_input *in, struct conf **out,
	      struct err *e);
void conf_free(struct conf *c);

/* The program's struct; lives as long as c. */
const void *conf_values(const struct conf *c);

/*
 * For a reload: keys without CONF_RELOAD get the value of `now` in `next`, and kept(arg,
 * "section.name") is called for each that differed.
 */
int conf_keep_fixed(const struct conf *now, struct conf *next,
		    void (*kept)(void *arg, const char *name), void *arg, struct err *e);

/* True if a key ("section.name", or "name" at the top) or any item of a group ("site") differs. */
bool conf_differs(const struct conf *a, const struct conf *b, const char *name);

/*
 * "default", "environment OMIG_PORT", "option --port", "/etc/omig/mainsm.conf:12". NULL: no such
 * key.
 */
const char *conf_origin(const struct conf *c, const char *name);

/* Writes a commented file with the current values; conf_load() reads it back to the same values. */
int conf_dump(const struct conf *c, struct buf *out);

/* Writes a line `name = value<TAB>origin` for each key; a secret is shown as (set) or (not set). */
int conf_show(const struct conf *c, struct buf *out);

/*
 * Writes a template: comments with every key, its values, its default and its meaning. Without the
 * # before a key or a section it has the defaults.
 */
int conf_example(const struct conf_schema *s, struct buf *out);

#endif
