/* SPDX-License-Identifier: Apache-2.0 */
/* The services of the plug-ins of several hosts. */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/services/added.h"

#include <stdlib.h>
#include <string.h>

struct added_services {
	struct added_service **v; /* owned */
	size_t n, cap;
};

struct added_services *added_services_new(void)
{
	return calloc(1, sizeof(struct added_services));
}

void added_services_free(struct added_services *all)
{
	if (!all)
		return;
	for (size_t i = 0; i < all->n; i++)
		added_service_free(all->v[i]);
	free(all->v);
	free(all);
}

static int add(struct added_services *all, struct added_service *a)
{
	int rc;

	if (added_services_find(all, a->s.name)) {
		added_service_free(a);
		return 0;
	}
	rc = array_grow(&all->v, &all->cap, all->n + 1, sizeof(*all->v), ADDED_SERVICES_MAX);
	if (rc)
		added_service_free(a);
	else
		all->v[all->n++] = a;
	return rc;
}

int added_services_add(struct added_services *all, const char *text, size_t n, size_t *bad)
{
	const char *end = text + (n < PLUGIN_TEXT_MAX_BYTES ? n : PLUGIN_TEXT_MAX_BYTES);
	int rc = 0;

	for (const char *at = text, *stop; !rc && at < end; at = stop + 1) {
		struct added_service *a = NULL;

		stop = memchr(at, '\n', (size_t)(end - at));
		if (!stop)
			stop = end;
		rc = added_service_read(at, (size_t)(stop - at), &a, NULL);
		if (!rc) {
			rc = add(all, a);
		} else if (rc != -ERR_NOMEM) {
			if (bad)
				++*bad;
			rc = 0;
		}
	}
	return rc;
}

/* True if the line begins like one of added_service_write() with this name. */
static bool begins_with(const char *line, size_t n, const char *name)
{
	size_t length = strlen(name);

	return n > length + 1 && line[0] == '"' && line[length + 1] == '"' &&
	       !memcmp(line + 1, name, length);
}

bool added_services_name(const char *text, size_t n, const char *name)
{
	const char *end = text + n;

	for (const char *at = text, *stop; at < end; at = stop + 1) {
		if (begins_with(at, (size_t)(end - at), name))
			return true;
		stop = memchr(at, '\n', (size_t)(end - at));
		if (!stop)
			break;
	}
	return false;
}

const struct added_service *added_services_find(const struct added_services *all, const char *name)
{
	for (size_t i = 0; all && i < all->n; i++)
		if (str_eq(all->v[i]->s.name, name))
			return all->v[i];
	return NULL;
}

const struct added_service *added_services_at(const struct added_services *all, size_t i)
{
	return all && i < all->n ? all->v[i] : NULL;
}

void added_services_write(const struct added_services *all, struct omis_writer *w)
{
	size_t n = all ? all->n : 0;

	omis_write_int(w, (int64_t)n);
	for (size_t i = 0; i < n; i++)
		omis_write_string(w, all->v[i]->s.name);
	omis_write_int(w, 0); /* number of optional services that are implemented in part */
}
