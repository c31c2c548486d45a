/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/netuse.h"

#include "common/base/array.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/container/map.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_SLOTS 4096 /* changes that were made already; a power of two */

struct object {
	char *name;
	enum netuse_class class;
	bool is_declared;
};

struct count {
	uint32_t object, n;
};

/* Objects of a declared state or of an alternative. */
struct terms {
	char *name;
	uint32_t *object;
	size_t n;
};

struct use {
	size_t first; /* of its counts, which are by object */
	uint32_t n;
	uint32_t shape;
	uint64_t holds;
	bool is_member;
};

struct change {
	uint32_t from, what;
	uint32_t kind; /* enum kind; 0: empty */
	uint32_t to;
};

enum kind { NO_CHANGE, BEGIN, END, FORK, JOIN };

struct netuse {
	struct object *object;
	size_t nobject, object_cap;
	struct smap names; /* -> index + 1 */
	bool is_closed; /* no more objects are added */
	struct terms state[NETUSE_STATES_MAX];
	unsigned nstate;
	struct terms *member;
	size_t nmember, member_cap;
	struct use *use;
	size_t nuse, use_cap;
	struct count *count;
	size_t ncount, count_cap;
	uint32_t *slot; /* open addressing: index of a use + 1 */
	size_t slots;
	struct hash_key key;
	struct change *cache;
	struct count *made; /* the use under construction */
	size_t made_cap;
};

static int intern(struct netuse *u, size_t n, uint32_t *out);

struct netuse *netuse_new(void)
{
	struct netuse *u = calloc(1, sizeof(*u));
	uint32_t none;

	if (!u)
		return NULL;
	smap_init(&u->names);
	rng_draw_key(&u->key);
	u->cache = calloc(CACHE_SLOTS, sizeof(*u->cache));
	if (u->cache && !intern(u, 0, &none))
		return u;
	netuse_free(u);
	return NULL;
}

static void terms_done(struct terms *t)
{
	free(t->name);
	free(t->object);
}

void netuse_free(struct netuse *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->nobject; i++)
		free(u->object[i].name);
	for (unsigned i = 0; i < u->nstate; i++)
		terms_done(&u->state[i]);
	for (size_t i = 0; i < u->nmember; i++)
		terms_done(&u->member[i]);
	smap_done(&u->names);
	free(u->object);
	free(u->member);
	free(u->use);
	free(u->count);
	free(u->slot);
	free(u->cache);
	free(u->made);
	free(u);
}

/* --- declarations */

int netuse_object(struct netuse *u, const char *name, size_t n, uint32_t *out, struct err *e)
{
	void *known = smap_find_n(&u->names, name, n);
	char *copy;
	int rc;

	if (known) {
		*out = (uint32_t)((uintptr_t)known - 1);
		return 0;
	}
	if (u->is_closed)
		return err_set(e, ERR_NOTFOUND, "an object that is not declared");
	if (!str_is_name(name, n))
		return err_set(e, ERR_INVALID,
			       "an object's name is printable text of 1..255 bytes");
	rc = array_grow(&u->object, &u->object_cap, u->nobject + 1, sizeof(*u->object),
			NETUSE_OBJECTS_MAX);
	if (rc == -ERR_LIMIT)
		return err_set(e, ERR_LIMIT, "more than %d objects", NETUSE_OBJECTS_MAX);
	copy = rc ? NULL : str_ndup(name, n);
	if (!copy || smap_put(&u->names, copy, (void *)(uintptr_t)(u->nobject + 1), NULL)) {
		free(copy);
		return err_nomem(e);
	}
	u->object[u->nobject].name = copy;
	*out = (uint32_t)u->nobject++;
	return 0;
}

static int check_early(const struct netuse *u, struct err *e)
{
	return u->nuse > 1 ? err_set(e, ERR_INVALID,
				     "it is declared after the end of the first interaction")
			   : 0;
}

int netuse_declare(struct netuse *u, uint32_t object, enum netuse_class class, struct err *e)
{
	int rc = check_early(u, e);

	if (rc)
		return rc;
	u->object[object].class = class;
	u->object[object].is_declared = true;
	return 0;
}

static int copy_terms(struct terms *t, const uint32_t *object, size_t n, struct err *e)
{
	if (!n || n > NETUSE_TERMS_MAX)
		return err_set(e, n ? ERR_LIMIT : ERR_INVALID, "1 to %d objects are needed",
			       NETUSE_TERMS_MAX);
	t->object = calloc(n, sizeof(*object));
	if (!t->object)
		return err_nomem(e);
	memcpy(t->object, object, n * sizeof(*object));
	t->n = n;
	return 0;
}

/* True for an equal declaration: each log of a run may repeat it. */
static bool is_same(const struct terms *t, const uint32_t *object, size_t n)
{
	return t->n == n && !memcmp(t->object, object, n * sizeof(*object));
}

int netuse_add_state(struct netuse *u, const char *name, const uint32_t *object, size_t n,
		     struct err *e)
{
	struct terms *t = &u->state[u->nstate];
	int rc = check_early(u, e);

	if (rc)
		return rc;
	for (unsigned i = 0; i < u->nstate; i++)
		if (str_eq(u->state[i].name, name))
			return is_same(&u->state[i], object, n)
				       ? 0
				       : err_set(e, ERR_EXISTS, "state '%s' is declared twice",
						 name);
	if (!str_is_name(name, strlen(name)))
		return err_set(e, ERR_INVALID, "a state's name is printable text of 1..255 bytes");
	if (u->nstate == NETUSE_STATES_MAX)
		return err_set(e, ERR_LIMIT, "more than %d states", NETUSE_STATES_MAX);
	rc = copy_terms(t, object, n, e);
	if (rc)
		return rc;
	t->name = str_dup(name);
	if (!t->name) {
		free(t->object);
		return err_nomem(e);
	}
	u->nstate++;
	return 0;
}

int netuse_add_member(struct netuse *u, const uint32_t *object, size_t n, struct err *e)
{
	int rc = check_early(u, e);

	if (rc)
		return rc;
	for (size_t i = 0; i < u->nmember; i++)
		if (is_same(&u->member[i], object, n))
			return 0;
	rc = array_grow(&u->member, &u->member_cap, u->nmember + 1, sizeof(*u->member),
			NETUSE_MEMBERS_MAX);
	if (rc)
		return err_set(e, (enum err_code) - rc, "no room for an alternative");
	rc = copy_terms(&u->member[u->nmember], object, n, e);
	u->nmember += !rc;
	return rc;
}

void netuse_close(struct netuse *u)
{
	u->is_closed = true;
}

unsigned netuse_objects(const struct netuse *u)
{
	return (unsigned)u->nobject;
}

const char *netuse_object_name(const struct netuse *u, uint32_t object)
{
	return u->object[object].name;
}

enum netuse_class netuse_object_class(const struct netuse *u, uint32_t object)
{
	return u->object[object].class;
}

bool netuse_is_declared(const struct netuse *u, uint32_t object)
{
	return u->object[object].is_declared;
}

unsigned netuse_states(const struct netuse *u)
{
	return u->nstate;
}

const char *netuse_state_name(const struct netuse *u, unsigned state)
{
	return u->state[state].name;
}

const uint32_t *netuse_state_objects(const struct netuse *u, unsigned state, size_t *n)
{
	*n = u->state[state].n;
	return u->state[state].object;
}

unsigned netuse_members(const struct netuse *u)
{
	return (unsigned)u->nmember;
}

const uint32_t *netuse_member_objects(const struct netuse *u, unsigned member, size_t *n)
{
	*n = u->member[member].n;
	return u->member[member].object;
}

/* --- uses */

static bool has(const struct count *c, size_t n, uint32_t object)
{
	size_t low = 0, all = n;

	while (n) {
		size_t half = n / 2;

		if (c[low + half].object < object) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low < all && c[low].object == object;
}

static bool has_all(const struct count *c, size_t n, const struct terms *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (!has(c, n, t->object[i]))
			return false;
	return true;
}

static void judge(const struct netuse *u, struct use *use)
{
	const struct count *c = u->count + use->first;

	for (unsigned i = 0; i < u->nstate; i++)
		use->holds |= (uint64_t)has_all(c, use->n, &u->state[i]) << i;
	for (size_t i = 0; i < u->nmember && !use->is_member; i++)
		use->is_member = has_all(c, use->n, &u->member[i]);
}

static uint64_t hash_of(const struct netuse *u, const struct count *c, size_t n)
{
	return hash_sip13(&u->key, n ? (const void *)c : "", n * sizeof(*c));
}

static uint32_t *find_slot(const struct netuse *u, const struct count *c, size_t n)
{
	size_t at = hash_of(u, c, n) & (u->slots - 1);

	for (;; at = (at + 1) & (u->slots - 1)) {
		const struct use *known = u->slot[at] ? &u->use[u->slot[at] - 1] : NULL;

		if (!known ||
		    (known->n == n && (!n || !memcmp(u->count + known->first, c, n * sizeof(*c)))))
			return &u->slot[at];
	}
}

static int grow_slots(struct netuse *u)
{
	size_t slots = u->slots ? u->slots * 2 : 64;
	uint32_t *was = u->slot;

	u->slot = calloc(slots, sizeof(*u->slot));
	if (!u->slot) {
		u->slot = was;
		return -ERR_NOMEM;
	}
	u->slots = slots;
	for (uint32_t i = 0; i < u->nuse; i++)
		*find_slot(u, u->count + u->use[i].first, u->use[i].n) = i + 1;
	free(was);
	return 0;
}

static int reserve(struct netuse *u, size_t n)
{
	size_t most = NETUSE_MAX_BYTES / sizeof(*u->count);
	int rc = array_grow(&u->count, &u->count_cap, u->ncount + n + 1, sizeof(*u->count), most);

	rc = rc ? rc
		: array_grow(&u->use, &u->use_cap, u->nuse + 1, sizeof(*u->use),
			     NETUSE_MAX_BYTES / sizeof(*u->use));
	return rc || (u->nuse + 1) * 2 <= u->slots ? rc : grow_slots(u);
}

/* Adds the use in u->made, whose counts are all 1 when it is a shape. */
static int add(struct netuse *u, size_t n, bool is_shape, uint32_t shape, uint32_t *out)
{
	int rc = reserve(u, n);
	struct use *use;

	if (rc)
		return rc;
	use = &u->use[u->nuse];
	*use = (struct use){ .first = u->ncount, .n = (uint32_t)n };
	use->shape = is_shape ? (uint32_t)u->nuse : shape;
	if (n)
		memcpy(u->count + u->ncount, u->made, n * sizeof(*u->made));
	judge(u, use);
	*find_slot(u, u->made, n) = (uint32_t)u->nuse + 1;
	u->ncount += n;
	*out = (uint32_t)u->nuse++;
	return 0;
}

/* Finds or adds the use whose n counts are in u->made, in which its shape comes first. */
static int intern(struct netuse *u, size_t n, uint32_t *out)
{
	uint32_t found = u->slots ? *find_slot(u, u->made, n) : 0, shape;
	struct count *nested;
	bool is_shape = true;
	int rc;

	if (found) {
		*out = found - 1;
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		is_shape &= u->made[i].n == 1;
	if (is_shape)
		return add(u, n, true, 0, out);
	nested = malloc(n * sizeof(*nested));
	if (!nested)
		return -ERR_NOMEM;
	memcpy(nested, u->made, n * sizeof(*nested));
	for (size_t i = 0; i < n; i++)
		u->made[i].n = 1;
	rc = intern(u, n, &shape);
	memcpy(u->made, nested, n * sizeof(*nested));
	free(nested);
	return rc ? rc : add(u, n, false, shape, out);
}

static int make_room(struct netuse *u, size_t n)
{
	return array_grow(&u->made, &u->made_cap, n + 1, sizeof(*u->made), 2 * NETUSE_OBJECTS_MAX);
}

/* Copies a use to u->made with one more, or one fewer, begin of an object. */
static int change_count(struct netuse *u, const struct use *use, uint32_t object, bool is_end,
			size_t *n)
{
	const struct count *c = u->count + use->first;
	size_t i = 0, to = 0;

	for (; i < use->n && c[i].object < object; i++)
		u->made[to++] = c[i];
	if (i < use->n && c[i].object == object) {
		if (!is_end && c[i].n == UINT32_MAX)
			return -ERR_LIMIT;
		u->made[to] = c[i++];
		u->made[to].n += is_end ? UINT32_MAX : 1;
		to += u->made[to].n != 0;
	} else if (is_end) {
		return -ERR_NOTFOUND;
	} else {
		u->made[to++] = (struct count){ object, 1 };
	}
	for (; i < use->n; i++)
		u->made[to++] = c[i];
	*n = to;
	return 0;
}

static size_t keep_inherited(struct netuse *u, const struct use *use)
{
	const struct count *c = u->count + use->first;
	size_t to = 0;

	for (size_t i = 0; i < use->n; i++)
		if (u->object[c[i].object].class == NETUSE_INHERIT)
			u->made[to++] = c[i];
	return to;
}

/* Writes all objects of a and the inherited ones of b, each with the larger count. */
static size_t merge(struct netuse *u, const struct use *a, const struct use *b)
{
	const struct count *x = u->count + a->first, *y = u->count + b->first;
	const struct count *x_end = x + a->n, *y_end = y + b->n;
	size_t to = 0;

	while (x < x_end || y < y_end) {
		if (y == y_end || (x < x_end && x->object < y->object)) {
			u->made[to++] = *x++;
		} else if (x == x_end || y->object < x->object) {
			if (u->object[y->object].class == NETUSE_INHERIT)
				u->made[to++] = *y;
			y++;
		} else {
			u->made[to] = *x++;
			if (u->object[y->object].class == NETUSE_INHERIT && y->n > u->made[to].n)
				u->made[to].n = y->n;
			to++;
			y++;
		}
	}
	return to;
}

static int make(struct netuse *u, const struct change *c, size_t *n)
{
	const struct use *from = &u->use[c->from];

	switch ((enum kind)c->kind) {
	case BEGIN:
	case END:
		return change_count(u, from, c->what, c->kind == END, n);
	case FORK:
		*n = keep_inherited(u, from);
		return 0;
	default:
		*n = merge(u, from, &u->use[c->what]);
		return 0;
	}
}

static int change(struct netuse *u, uint32_t *use, enum kind kind, uint32_t what)
{
	uint64_t mixed = hash_mix64((uint64_t)*use << 32 ^ (uint64_t)kind << 28 ^ what);
	struct change *c = &u->cache[mixed & (CACHE_SLOTS - 1)];
	struct change want = { .from = *use, .what = what, .kind = kind };
	size_t n = 0, most = u->use[*use].n + (kind == JOIN ? u->use[what].n : 1);
	int rc;

	if (c->kind == (uint32_t)kind && c->from == *use && c->what == what) {
		*use = c->to;
		return 0;
	}
	rc = make_room(u, most);
	rc = rc ? rc : make(u, &want, &n);
	rc = rc ? rc : intern(u, n, &want.to);
	if (rc)
		return rc;
	*c = want;
	*use = want.to;
	return 0;
}

int netuse_begin(struct netuse *u, uint32_t *use, uint32_t object)
{
	return change(u, use, BEGIN, object);
}

int netuse_end(struct netuse *u, uint32_t *use, uint32_t object)
{
	return change(u, use, END, object);
}

int netuse_fork(struct netuse *u, uint32_t *use)
{
	return *use ? change(u, use, FORK, 0) : 0;
}

int netuse_join(struct netuse *u, uint32_t *use, uint32_t ending)
{
	return ending ? change(u, use, JOIN, ending) : 0;
}

int netuse_forget(struct netuse *u)
{
	uint32_t none;

	u->nuse = u->ncount = 0;
	memset(u->slot, 0, u->slots * sizeof(*u->slot));
	memset(u->cache, 0, CACHE_SLOTS * sizeof(*u->cache));
	return intern(u, 0, &none);
}

uint32_t netuse_shape(const struct netuse *u, uint32_t use)
{
	return u->use[use].shape;
}

uint32_t netuse_count(const struct netuse *u)
{
	return (uint32_t)u->nuse;
}

uint64_t netuse_holds(const struct netuse *u, uint32_t use)
{
	return u->use[use].holds;
}

bool netuse_is_member(const struct netuse *u, uint32_t use)
{
	return !u->nmember || u->use[use].is_member;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void netuse_put(const struct netuse *u, uint32_t use, struct buf *out)
{
	const struct use *x = &u->use[use];
	const char **name = calloc(x->n + 1, sizeof(*name));

	if (!name) {
		out->failed = true;
		return;
	}
	for (uint32_t i = 0; i < x->n; i++)
		name[i] = u->object[u->count[x->first + i].object].name;
	qsort(name, x->n, sizeof(*name), by_text);
	for (uint32_t i = 0; i < x->n; i++)
		buf_printf(out, "%s%s", i ? "+" : "", name[i]);
	free(name);
}
