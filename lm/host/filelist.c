/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/host/filelist.h"

#include <stddef.h>
#include <string.h>

#define BLANKS " \t"

/* Finds the next word at *p. Returns its length; 0 at the end. */
static size_t next(const char **p)
{
	*p += strspn(*p, BLANKS);
	return strcspn(*p, BLANKS);
}

static bool has_way_up(const char *path, size_t n)
{
	for (size_t i = 0; i + 3 <= n; i++)
		if (!memcmp(path + i, "/..", 3) && (i + 3 == n || path[i + 3] == '/'))
			return true;
	return false;
}

int filelist_check(const char *list, const char *key, struct err *e)
{
	size_t n;

	for (const char *p = list; (n = next(&p)) > 0; p += n)
		if (*p != '/' || has_way_up(p, n))
			return err_set(e, ERR_INVALID, "%s: '%.*s' is not an absolute path", key,
				       n < 80 ? (int)n : 80, p);
	return 0;
}

bool filelist_has(const char *list, const char *path)
{
	size_t n;

	for (const char *p = list; p && (n = next(&p)) > 0; p += n)
		if (n == strlen(path) && !memcmp(p, path, n))
			return true;
	return false;
}
