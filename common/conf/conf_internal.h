/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of conf. */
#ifndef COMMON_CONF_CONF_INTERNAL_H
#define COMMON_CONF_CONF_INTERNAL_H

#include "common/conf/conf.h"

#define CONF_ORIGIN_BYTES 320

/* The text that has set one key of the top, or of one item. */
struct conf_slot {
	char *text; /* owned; the value of a CONF_STRING points here */
	char *origin; /* owned */
	unsigned
		/* number of the file that has set it last, to detect a repeated key in one file */
		source;
};

/* An item of a group. Slots are in the order of schema->key; those of other sections stay empty. */
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

/* Where to store the value of a key: at the top, or in an item of a group. */
struct conf_target {
	struct conf_slot *slot;
	uint8_t *base;
};

/* Position for error texts: a file and a line, or another source with line 0. */
struct conf_at {
	const char *path;
	unsigned line;
};

/* The text of a value, and its position. */
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

/* Like conf_put(), for a key that is in no group. */
int conf_put_top(struct conf *c, const struct conf_key *k, const char *text,
		 const struct conf_at *at, struct err *e);

/* Sets the defaults of the keys of a group; NULL: of the top. */
int conf_put_defaults(struct conf *c, const struct conf_group *g, const struct conf_target *t,
		      struct err *e);

/* Makes an empty configuration, to be freed by conf_free(). Returns NULL without memory. */
struct conf *conf_new(const struct conf_schema *s);

bool conf_is_group_key(const struct conf *c, const struct conf_key *k);

/* Finds or makes the item of that name. Its target is valid until the next call. */
int conf_group_item(struct conf *c, const struct conf_group *g, const char *name,
		    struct conf_target *out, struct err *e);

/* Writes "section.name" or "name". Returns out. */
char *conf_key_name(char *out, size_t size, const struct conf_key *k);

/*
 * Writes the name of the variable, OMIG_KEY or OMIG_SECTION_KEY. Returns NULL if the key is
 * CONF_NOENV.
 */
const char *conf_env_name(char *out, size_t size, const struct conf_key *k);

/*
 * Checks and stores a value; a CONF_STRING then points to `text`. The text of an error has the
 * permitted values.
 */
int conf_value_parse(const struct conf_key *k, const char *text, void *base, struct err *e);

/* Appends the value in the form of a configuration file. */
void conf_value_print(const struct conf_key *k, const void *base, struct buf *out);

/* Appends the permitted values, such as "number 1..65535". */
void conf_value_describe(const struct conf_key *k, struct buf *out);

/* conf_file.c: reads one file. Fails with ERR_NOTFOUND if it does not exist. */
int conf_read_file(struct conf *c, const char *path, struct err *e);

/* conf_file.c: reads a text that was read from a file before; path is for error texts. */
int conf_read_text(struct conf *c, const char *path, const struct buf *text, struct err *e);

/* For tests: loads the defaults and one text, without other sources. */
int conf_load_text(const struct conf_schema *s, const char *path, struct bytes content,
		   struct conf **out, struct err *e);

/* Returns NULL if no group has the section. */
const struct conf_group *conf_group_find(const struct conf_schema *s, const char *section,
					 size_t n);

#endif
