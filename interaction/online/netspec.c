/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/online/netspec.h"

#include "common/base/limits.h"
#include "interaction/online/netcontract.h"

#include <string.h>

/* Reads OBJECT+OBJECT. */
static int read_objects(struct netuse *u, const char *text, uint32_t *object, size_t *out,
			struct err *e)
{
	int rc = 0;

	*out = 0;
	while (!rc) {
		size_t n = strcspn(text, "+");

		if (*out == NETUSE_TERMS_MAX)
			return err_set(e, ERR_LIMIT, "more than %d objects", NETUSE_TERMS_MAX);
		rc = netuse_object(u, text, n, &object[(*out)++], e);
		if (!text[n])
			break;
		text += n + 1;
	}
	return rc;
}

static int declare_inherit(struct netuse *u, const char *text, struct err *e)
{
	uint32_t object;
	int rc = netuse_object(u, text, strlen(text), &object, e);

	return rc ? rc : netuse_declare(u, object, NETUSE_INHERIT, e);
}

static int declare_state(struct netuse *u, const char *text, struct err *e)
{
	uint32_t object[NETUSE_TERMS_MAX];
	char name[NAME_MAX_BYTES + 1];
	size_t k = strcspn(text, "="), n;
	int rc;

	if (!text[k] || !k || k > NAME_MAX_BYTES)
		return err_set(e, ERR_INVALID, "a state is NAME=OBJECT+OBJECT");
	memcpy(name, text, k);
	name[k] = '\0';
	rc = read_objects(u, text + k + 1, object, &n, e);
	return rc ? rc : netuse_add_state(u, name, object, n, e);
}

static int declare_member(struct netuse *u, const char *text, struct err *e)
{
	uint32_t object[NETUSE_TERMS_MAX];
	size_t n;
	int rc = read_objects(u, text, object, &n, e);

	return rc ? rc : netuse_add_member(u, object, n, e);
}

static int declare_list(struct netuse *u, const struct netspec_list *l,
			int (*declare)(struct netuse *, const char *, struct err *), struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < l->n && !rc; i++) {
		rc = declare(u, l->text[i], e);
		if (rc)
			err_add(e, "%s", l->text[i]);
	}
	return rc;
}

int netspec_declare(const struct netspec *s, struct netuse **out, struct err *e)
{
	struct netuse *u = netuse_new();
	int rc = u ? declare_list(u, &s->inherit, declare_inherit, e) : err_nomem(e);

	rc = rc ? rc : declare_list(u, &s->states, declare_state, e);
	rc = rc ? rc : declare_list(u, &s->members, declare_member, e);
	if (!rc && netuse_objects(u) > NETCONTRACT_OBJECTS_MAX)
		rc = err_set(e, ERR_LIMIT, "more than %d objects", NETCONTRACT_OBJECTS_MAX);
	if (rc) {
		netuse_free(u);
		return rc;
	}
	netuse_close(u);
	*out = u;
	return 0;
}
