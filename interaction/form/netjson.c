/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/form/netjson.h"

#include "common/base/str.h"

#include <stdlib.h>
#include <string.h>

/* Keys of an object with events, or with objects that have events. */
enum key { NETWORK, NETWORKS, NODES, NODE, NAME, OBJECTS, STATES, MEMBER, EVENTS, KEYS };

static const char *const keys[KEYS] = {
	[NETWORK] = "network", [NETWORKS] = "networks", [NODES] = "nodes",
	[NODE] = "node",       [NAME] = "name",		[OBJECTS] = "objects",
	[STATES] = "states",   [MEMBER] = "member",	[EVENTS] = "events",
};

#define BIT(key) (1u << (key))

static int read_object(struct netjson *x, bool is_network, struct err *e);

/* Adds the place to an error of a declaration. */
static int placed(const struct netjson *x, int rc, struct err *e)
{
	return rc && rc != -ERR_NOMEM ? err_at(e, x->r->line, x->r->col) : rc;
}

static int copy_name(const struct netjson *x, char name[NAME_MAX_BYTES + 1], struct err *e)
{
	if (x->r->n && !str_is_name(x->r->text, x->r->n))
		return jsonread_fail(x->r, e, ERR_INVALID,
				     "a name is printable text of up to %d bytes", NAME_MAX_BYTES);
	memcpy(name, x->r->text, x->r->n);
	name[x->r->n] = '\0';
	return 0;
}

/* --- declarations */

/* {"cpu": "local", "db": "inherit"} */
static int read_objects(struct netjson *x, struct err *e)
{
	int rc = netjson_expect(x, JSONREAD_OBJECT, "\"objects\": an object", e), token = 0;

	while (!rc && (token = jsonread_next(x->r, e)) == JSONREAD_KEY) {
		enum netuse_class class;
		uint32_t object;

		rc = placed(x, netuse_object(x->use, x->r->text, x->r->n, &object, e), e);
		rc = rc ? rc : netjson_expect(x, JSONREAD_STRING, "\"local\" or \"inherit\"", e);
		if (rc)
			return rc;
		class = jsonread_is(x->r, "inherit") ? NETUSE_INHERIT : NETUSE_LOCAL;
		if (class == NETUSE_LOCAL && !jsonread_is(x->r, "local"))
			return jsonread_fail(x->r, e, ERR_INVALID,
					     "the class of an object is local or inherit");
		rc = placed(x, netuse_declare(x->use, object, class, e), e);
	}
	return rc ? rc : token < 0 ? token : 0;
}

/* ["db", "net"], behind the bracket. */
static int read_terms(struct netjson *x, uint32_t *object, size_t *n, struct err *e)
{
	int token, rc;

	*n = 0;
	while ((token = jsonread_next(x->r, e)) == JSONREAD_STRING) {
		if (*n == NETUSE_TERMS_MAX)
			return jsonread_fail(x->r, e, ERR_LIMIT, "more than %d objects",
					     NETUSE_TERMS_MAX);
		rc = placed(x, netuse_object(x->use, x->r->text, x->r->n, &object[(*n)++], e), e);
		if (rc)
			return rc;
	}
	if (token < 0 || token == JSONREAD_ARRAY_END)
		return token < 0 ? token : 0;
	return jsonread_fail(x->r, e, ERR_INVALID, "names of objects are expected, not %s",
			     jsonread_token_name(token));
}

/* {"in_db": ["db"]} */
static int read_states(struct netjson *x, struct err *e)
{
	int rc = netjson_expect(x, JSONREAD_OBJECT, "\"states\": an object", e), token = 0;

	while (!rc && (token = jsonread_next(x->r, e)) == JSONREAD_KEY) {
		uint32_t object[NETUSE_TERMS_MAX];
		char name[NAME_MAX_BYTES + 1];
		size_t n;

		rc = copy_name(x, name, e);
		rc = rc ? rc : netjson_expect(x, JSONREAD_ARRAY, "a list of objects", e);
		rc = rc ? rc : read_terms(x, object, &n, e);
		rc = rc ? rc : placed(x, netuse_add_state(x->use, name, object, n, e), e);
	}
	return rc ? rc : token < 0 ? token : 0;
}

/* [["db", "ws1"], ["db", "ws2"]] */
static int read_members(struct netjson *x, struct err *e)
{
	int rc = netjson_expect(x, JSONREAD_ARRAY, "\"member\": a list of lists", e), token = 0;

	while (!rc && (token = jsonread_next(x->r, e)) == JSONREAD_ARRAY) {
		uint32_t object[NETUSE_TERMS_MAX];
		size_t n;

		rc = read_terms(x, object, &n, e);
		rc = rc ? rc : placed(x, netuse_add_member(x->use, object, n, e), e);
	}
	if (rc || token < 0 || token == JSONREAD_ARRAY_END)
		return rc ? rc : token < 0 ? token : 0;
	return jsonread_fail(x->r, e, ERR_INVALID, "\"member\" is a list of lists of objects");
}

/* --- events, and what holds them */

static int read_events(struct netjson *x, struct err *e)
{
	int rc = netjson_expect(x, JSONREAD_ARRAY, "\"events\": a list", e), token = 0;

	while (!rc && (token = jsonread_next(x->r, e)) == JSONREAD_OBJECT)
		rc = netjson_event(x, e);
	if (rc || token < 0 || token == JSONREAD_ARRAY_END)
		return rc ? rc : token < 0 ? token : 0;
	return jsonread_fail(x->r, e, ERR_INVALID, "an event is an object, not %s",
			     jsonread_token_name(token));
}

/* Reads a list of objects with events. */
static int read_list(struct netjson *x, bool is_network, struct err *e)
{
	int token, rc = 0;

	while (!rc && (token = jsonread_next(x->r, e)) == JSONREAD_OBJECT)
		rc = read_object(x, is_network, e);
	if (rc || token < 0 || token == JSONREAD_ARRAY_END)
		return rc ? rc : token < 0 ? token : 0;
	return jsonread_fail(x->r, e, ERR_INVALID, "a network is an object, not %s",
			     jsonread_token_name(token));
}

static int add_event(void *arg, const struct network_event *ev, struct err *e)
{
	return network_add(arg, ev, e);
}

/* Reads a network, which has separate objects. The token '{' was read. */
static int read_network(struct netjson *outer, struct err *e)
{
	struct netjson x = *outer;
	struct network w;
	char *name = calloc(1, NAME_MAX_BYTES + 1);
	int rc;

	x.use = netuse_new();
	if (!x.use || !name) {
		free(name);
		netuse_free(x.use);
		return err_nomem(e);
	}
	network_init(&w, x.use);
	x.take = add_event;
	x.take_arg = &w;
	x.node = NETWORK_NONE;
	outer->op = NULL;
	rc = read_object(&x, true, e);
	outer->op = x.op;
	outer->op_cap = x.op_cap;
	str_copy(name, NAME_MAX_BYTES + 1, x.title);
	x.report->networks++;
	rc = rc ? rc : x.to->network(x.to->arg, name, &w, e);
	network_done(&w);
	netuse_free(x.use);
	free(name);
	return rc;
}

static int read_node(struct netjson *x, struct err *e)
{
	char name[NAME_MAX_BYTES + 1];
	int rc = netjson_expect(x, JSONREAD_STRING, "the name of a node", e);

	rc = rc ? rc : copy_name(x, name, e);
	return rc ? rc : x->to->node(x->to->arg, name, &x->node, e);
}

static int read_title(struct netjson *x, struct err *e)
{
	int rc = netjson_expect(x, JSONREAD_STRING, "a name", e);

	return rc ? rc : copy_name(x, x->title, e);
}

static int read_nested(struct netjson *x, enum key key, struct err *e)
{
	int rc = netjson_expect(x, key == NETWORK ? JSONREAD_OBJECT : JSONREAD_ARRAY,
				key == NETWORK ? "a network" : "a list", e);

	if (rc)
		return rc;
	return key == NETWORK ? read_network(x, e) : read_list(x, key == NODES, e);
}

static int read_pair(struct netjson *x, enum key key, struct err *e)
{
	switch (key) {
	case NETWORK:
	case NETWORKS:
	case NODES:
		return read_nested(x, key, e);
	case NODE:
		return read_node(x, e);
	case NAME:
		return read_title(x, e);
	case OBJECTS:
		return read_objects(x, e);
	case STATES:
		return read_states(x, e);
	case MEMBER:
		return read_members(x, e);
	case EVENTS:
		x->report->lists++;
		return read_events(x, e);
	default:
		return netjson_unknown(x, e);
	}
}

/*
 * Checks the place of a key: a network contains no networks, and the name of a node precedes its
 * events.
 */
static int check_key(const struct netjson *x, enum key key, unsigned has, bool is_network,
		     struct err *e)
{
	if (key < KEYS && has & BIT(key))
		return jsonread_fail(x->r, e, ERR_INVALID, "\"%s\" is there twice", keys[key]);
	if (is_network && (key == NETWORK || key == NETWORKS))
		return jsonread_fail(x->r, e, ERR_INVALID, "a network in a network");
	if (key == NODE && has & BIT(EVENTS))
		return jsonread_fail(x->r, e, ERR_INVALID, "\"node\" follows its \"events\"");
	return 0;
}

/* The token '{' was read. */
static int read_object(struct netjson *x, bool is_network, struct err *e)
{
	uint32_t node = x->node;
	unsigned has = 0;
	int token, rc = 0;

	while (!rc && (token = jsonread_next(x->r, e)) != JSONREAD_OBJECT_END) {
		enum key key;

		if (token < 0)
			return token;
		key = (enum key)netjson_find_key(x->r, keys, KEYS);
		rc = check_key(x, key, has, is_network, e);
		has |= key < KEYS ? BIT(key) : 0;
		rc = rc ? rc : read_pair(x, key, e);
	}
	x->node = node;
	return rc;
}

int netjson_read(struct jsonread *r, struct netuse *use, const struct netjson_taker *to,
		 struct netjson_report *report, struct err *e)
{
	struct netjson x = { .r = r,
			     .use = use,
			     .to = to,
			     .report = report,
			     .node = NETWORK_NONE,
			     .take = to->event,
			     .take_arg = to->arg };
	int token, rc = 0;

	while (!rc && (token = jsonread_next(r, e)) != JSONREAD_END) {
		if (token == JSONREAD_OBJECT)
			rc = read_object(&x, false, e);
		else if (token == JSONREAD_ARRAY)
			rc = read_list(&x, false, e);
		else
			rc = token < 0 ? token
				       : jsonread_fail(r, e, ERR_INVALID,
						       "an interaction network is an object");
	}
	free(x.op);
	if (!rc && !report->networks && !report->lists)
		rc = jsonread_fail(
			r, e, ERR_INVALID,
			"no interaction network: there is no \"network\" and no \"events\"");
	return rc;
}
