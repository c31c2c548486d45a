/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the JSON form of interaction networks (docs/interactions.md). Input is hostile: each error
 * has its line and column. Memory is bounded by one network.
 */
#ifndef INTERACTION_FORM_NETJSON_H
#define INTERACTION_FORM_NETJSON_H

#include "common/base/limits.h"
#include "common/json/jsonread.h"
#include "interaction/network.h"

#define NETJSON_USES_MAX 1024 /* changes of use at one event */

/* Receives each network that is read. Any value but 0 ends the reading and is returned. */
struct netjson_taker {
	/* A network, not built yet; valid during the call. name: "" if it has none. */
	int (*network)(void *arg, const char *name, struct network *w, struct err *e);
	/* An event of a node's list; its objects are of netjson_options.use. */
	int (*event)(void *arg, const struct network_event *ev, struct err *e);
	/* Returns the number of a node in *out. */
	int (*node)(void *arg, const char *name, uint32_t *out, struct err *e);
	/* Returns a corrected time of that node. NULL: times are not corrected. */
	int64_t (*time)(void *arg, uint32_t node, int64_t t);
	void *arg;
};

struct netjson_report {
	uint64_t networks, lists, events;
	uint64_t unknown_keys; /* ignored */
	char unknown_key[64]; /* the first */
	unsigned unknown_line;
};

/*
 * Reads all values of the input: {"network": {...}}, {"node": ..., "events": [...]}, and arrays of
 * them. use: objects of lists by node, borrowed. ERR_PARSE, ERR_INVALID, ERR_EXISTS, ERR_LIMIT with
 * a place; ERR_NOMEM.
 */
int netjson_read(struct jsonread *r, struct netuse *use, const struct netjson_taker *to,
		 struct netjson_report *report, struct err *e);

/* --- between the files of this reader */

struct netjson {
	struct jsonread *r;
	struct netuse *use; /* objects of this network, or of the lists */
	const struct netjson_taker *to;
	struct netjson_report *report;
	uint32_t node; /* of this list */
	char name[NAME_MAX_BYTES + 1]; /* of this event */
	char title[NAME_MAX_BYTES + 1]; /* of this network */
	struct network_use *op;
	size_t nop, op_cap;
	int (*take)(void *arg, const struct network_event *ev, struct err *e);
	void *take_arg;
};

/* The token '{' of an event was read. */
int netjson_event(struct netjson *x, struct err *e);

/* Reads the next token, which must be of this kind. */
int netjson_expect(struct netjson *x, enum jsonread_token token, const char *what, struct err *e);

/* Index of the key that was read among the n keys; n: another one. */
unsigned netjson_find_key(const struct jsonread *r, const char *const *key, unsigned n);

/* Notes an unknown key, and skips its value. */
int netjson_unknown(struct netjson *x, struct err *e);

#endif
