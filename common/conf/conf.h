/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration from one table. The table drives parsing, defaults, the environment, options,
 * --dump-config, --print-config, the example file and the manual page.
 *
 * Files: `key = value` lines under [section] lines; # or ; begins a comment line; a value may be in
 * double quotes with \" and \\ inside. ERR_PARSE: an unknown key, a key twice in one file, a
 * control character, or a line over CONF_LINE_MAX_BYTES. ERR_DENIED: others may write the file or
 * directory. The text has "file:line: ...", and err.line the line.
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
#define CONF_GROUP_ITEMS_MAX 1024 /* named sections of all files together */

/* Type of the struct's member at the offset of the key. */
enum conf_kind {
	CONF_BOOL, /* bool; yes no true false on off 1 0 */
	CONF_INT, /* int64_t in [min, max] */
	CONF_NSEC, /* int64_t ns in [min, max]; 10, 1.5s, 200ms, 5m, 1h */
	CONF_BYTES, /* int64_t in [min, max]; 4096, 64k, 16M, 1G (powers of 1024) */
	CONF_STRING, /* const char *, never NULL; at most max bytes when max > 0, at least min */
	CONF_CHOICE, /* int: index into choice */
};

enum conf_flags {
	CONF_OPTION = 1, /* an option --name of the command line, too (top-level keys only) */
	CONF_RELOAD = 2, /* a SIGHUP may change the value */
	CONF_SECRET = 4, /* shown as (set) or (not set) */
	CONF_NOENV = 8, /* the environment cannot set it */
};

struct conf_key {
	/* NULL = top of the file; for keys of a group's items the name of the group */
	const char *section;
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

/* Named sections, [site NAME], in the order of their appearance. A reload may change them. */
struct conf_group {
	const char *section; /* such as "site" */
	size_t item_bytes; /* size of an item; its first member is `const char *name` */
	/* offset of a `T *` in the program's struct: the configuration owns the items */
	size_t offset_items;
	size_t offset_nitems; /* offset of a size_t with their number */
};

/* Tables end with {0}. Names consist of lower-case letters, digits and '-'. */
struct conf_schema {
	const char *program;
	size_t bytes; /* size of the program's struct */
	const struct conf_key *key;
	const struct conf_group *group; /* NULL = no groups */
};

struct conf;

struct conf_set {
	const char *name, *value;
};

struct conf_input {
	const char *file; /* --config: the only file to read; it must exist */
	const char *etc_dir; /* NULL = /etc/omig */
	const char *user_dir; /* NULL = from XDG_CONFIG_HOME or HOME */
	const char *const *
		/*
		 * NAME=value...; NULL = none. Names: OMIG_<SECTION>_<KEY>, or OMIG_<KEY> for keys
		 * without a section
		 */
		environ_;
	const struct conf_set *set; /* values of options, for top-level keys */
	size_t nset;
};

/* Loads a configuration. Does file I/O. Fails for errors of a file as described above. */
int conf_load(const struct conf_schema *s, const struct conf_input *in, struct conf **out,
	      struct err *e);
void conf_free(struct conf *c);

/* Returns the program's struct, which lives as long as c. */
const void *conf_values(const struct conf *c);

/*
 * For a reload: gives keys without CONF_RELOAD the value of `now` in `next`. Calls kept(arg,
 * "section.name") for each that differed.
 */
int conf_keep_fixed(const struct conf *now, struct conf *next,
		    void (*kept)(void *arg, const char *name), void *arg, struct err *e);

/* True if a key ("section.name", or "name" at the top) or any item of a group ("site") differs. */
bool conf_differs(const struct conf *a, const struct conf *b, const char *name);

/*
 * Returns "default", "environment OMIG_PORT", "option --port", or "/etc/omig/mainsm.conf:12".
 * Returns NULL if there is no such key.
 */
const char *conf_origin(const struct conf *c, const char *name);

/* Writes a commented file with the current values; conf_load() reads it back to the same values. */
int conf_dump(const struct conf *c, struct buf *out);

/* Writes a line `name = value<TAB>origin` for each key; a secret is shown as (set) or (not set). */
int conf_show(const struct conf *c, struct buf *out);

/*
 * Writes a template: comments with each key, its permitted values, default and meaning. Lines
 * without their # set the defaults.
 */
int conf_example(const struct conf_schema *s, struct buf *out);

#endif
