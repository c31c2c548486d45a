/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of conf share. */
#ifndef COMMON_CONF_CONF_INTERNAL_H
#define COMMON_CONF_CONF_INTERNAL_H

#include "common/conf/conf.h"

#define CONF_ORIGIN_BYTES 320

/* One key of one place: the text that it was set from. */
struct conf_slot {
	char *text; /* owned; a CONF_STRING in the program's struct points here */
	char *origin; /* owned */
	unsigned
		/* number of the file that set it last; the same key twice in one is an error */
		source;
};

/* Slots stand in the order of schema->key; those of other sections stay empty. */
struct conf_item {
	char *name; /* owned */
	const struct conf_group *group;
	struct conf_slot *slot;
};

struct conf {
	const struct conf_schema *schema;
	size_t nkey;
	uint8_t *values; /* the program's struct */
	struct conf_slot *slot;
	struct conf_item *item; /* of all groups, in order of appearance */
	size_t nitem, item_cap;
	unsigned source;
};

/* Where a key's value goes: the top, or an item of a group. */
struct conf_target {
	struct conf_slot *slot;
	uint8_t *base;
};

/* What is read, for texts: a file with a line, or another source with line 0. */
struct conf_at {
	const char *path;
	unsigned line;
};

/* What a key is set from, and where that stands. */
struct conf_text {
	const char *text;
	const struct conf_at *at;
};

/* "path:line: words"; the path is cut in front when it is long. Returns -code. */
int conf_error(struct err *e, const struct conf_at *at, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Checks text and stores it with its origin. The text is copied. */
int conf_put(struct conf *c, const struct conf_target *t, const struct conf_key *k,
	     const struct conf_text *text, struct err *e);

/* As conf_put(), for a key that is in no group. */
int conf_put_top(struct conf *c, const struct conf_key *k, const char *text,
		 const struct conf_at *at, struct err *e);

/* What the keys of a group, or those of the top for NULL, have when no source sets them. */
int conf_put_defaults(struct conf *c, const struct conf_group *g, const struct conf_target *t,
		      struct err *e);

/* Without values; for conf_free(). NULL: no memory. */
struct conf *conf_new(const struct conf_schema *s);

bool conf_is_group_key(const struct conf *c, const struct conf_key *k);

/* The item of that name, made if there is none; its target is valid until the next call. */
int conf_group_item(struct conf *c, const struct conf_group *g, const char *name,
		    struct conf_target *out, struct err *e);

/* "section.name" or "name" into out. Returns out. */
char *conf_key_name(char *out, size_t size, const struct conf_key *k);

/* OMIG_KEY or OMIG_SECTION_KEY: where the environment has it, unless it is CONF_NOENV. */
const char *conf_env_name(char *out, size_t size, const struct conf_key *k);

/*
 * Checks and stores a value; with_text is what a CONF_STRING will point to. Text of an error: what
 * is wanted.
 */
int conf_value_parse(const struct conf_key *k, const char *text, void *base, struct err *e);

/* Appends the value as a file would have it. */
void conf_value_print(const struct conf_key *k, const void *base, struct buf *out);

/* Appends what the value may be: "number 1..65535". */
void conf_value_describe(const struct conf_key *k, struct buf *out);

/* conf_file.c: reads one file. ERR_NOTFOUND when it is not there. */
int conf_read_file(struct conf *c, const char *path, struct err *e);

/* conf_file.c: the same with a text that was read before; path is for its errors. */
int conf_read_text(struct conf *c, const char *path, const struct buf *text, struct err *e);

/* Defaults and one text, without other sources: for tests. */
int conf_load_text(const struct conf_schema *s, const char *path, struct bytes content,
		   struct conf **out, struct err *e);

/* NULL when the section is no group's. */
const struct conf_group *conf_group_find(const struct conf_schema *s, const char *section,
					 size_t n);

#endif
