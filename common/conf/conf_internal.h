/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of conf. */
#ifndef COMMON_CONF_CONF_INTERNAL_H
#define COMMON_CONF_CONF_INTERNAL_H

#include "common/conf/conf.h"

#define CONF_ORIGIN_BYTES 320

/* One key in one place: the text that set it. */
struct conf_slot {
	char *text; /* owned; a CONF_STRING in the program's struct points here */
	char *origin; /* owned */
	unsigned
		/* number of the file that set it last; a repeated key in one file is an error */
		source;
};

/* Slots are in the order of schema->key; those of other sections stay empty. */
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
	struct conf_item *item; /* items of all groups, in order of appearance */
	size_t nitem, item_cap;
	unsigned source;
};

/* Destination of a key's value: the top, or an item of a group. */
struct conf_target {
	struct conf_slot *slot;
	uint8_t *base;
};

/* Position for error texts: a file with a line, or another source with line 0. */
struct conf_at {
	const char *path;
	unsigned line;
};

/* A value's text and its position. */
struct conf_text {
	const char *text;
	const struct conf_at *at;
};

/* Writes "path:line: text"; the front of a long path is cut. Returns -code. */
int conf_error(struct err *e, const struct conf_at *at, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Checks text and stores it with its origin. The text is copied. */
int conf_put(struct conf *c, const struct conf_target *t, const struct conf_key *k,
	     const struct conf_text *text, struct err *e);

/* As conf_put(), for a key that is in no group. */
int conf_put_top(struct conf *c, const struct conf_key *k, const char *text,
		 const struct conf_at *at, struct err *e);

/* Sets the defaults of the keys of a group, or for NULL of the top. */
int conf_put_defaults(struct conf *c, const struct conf_group *g, const struct conf_target *t,
		      struct err *e);

/* Makes an empty configuration; for conf_free(). NULL: no memory. */
struct conf *conf_new(const struct conf_schema *s);

bool conf_is_group_key(const struct conf *c, const struct conf_key *k);

/* Finds or makes the item of that name; its target is valid until the next call. */
int conf_group_item(struct conf *c, const struct conf_group *g, const char *name,
		    struct conf_target *out, struct err *e);

/* "section.name" or "name" into out. Returns out. */
char *conf_key_name(char *out, size_t size, const struct conf_key *k);

/* Writes OMIG_KEY or OMIG_SECTION_KEY: the variable's name, unless the key is CONF_NOENV. */
const char *conf_env_name(char *out, size_t size, const struct conf_key *k);

/*
 * Checks and stores a value; a CONF_STRING will point to with_text. The text of an error has the
 * expected form.
 */
int conf_value_parse(const struct conf_key *k, const char *text, void *base, struct err *e);

/* Appends the value in the form of a file. */
void conf_value_print(const struct conf_key *k, const void *base, struct buf *out);

/* Appends the permitted values: "number 1..65535". */
void conf_value_describe(const struct conf_key *k, struct buf *out);

/* conf_file.c: reads one file. ERR_NOTFOUND if it does not exist. */
int conf_read_file(struct conf *c, const char *path, struct err *e);

/* conf_file.c: the same with a text that was read before; path is for its errors. */
int conf_read_text(struct conf *c, const char *path, const struct buf *text, struct err *e);

/* Defaults and one text, without other sources: for tests. */
int conf_load_text(const struct conf_schema *s, const char *path, struct bytes content,
		   struct conf **out, struct err *e);

/* Returns NULL if no group has the section. */
const struct conf_group *conf_group_find(const struct conf_schema *s, const char *section,
					 size_t n);

#endif
