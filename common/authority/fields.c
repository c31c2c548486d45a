/* SPDX-License-Identifier: Apache-2.0 */
#include "common/authority/fields.h"

#include "common/base/buf.h"
#include "common/base/file.h"

#include <string.h>

size_t fields_split(char *line, char **field, size_t max)
{
	size_t n = 0;

	for (char *at = line; at;) {
		char *tab = strchr(at, '\t');

		if (n < max)
			field[n] = at;
		n++;
		if (tab)
			*tab++ = 0;
		at = tab;
	}
	return n;
}

int fields_read(const char *path, size_t max_bytes, int (*fn)(void *arg, char *line, struct err *e), void *arg,
		struct err *e)
{
	struct buf b = BUF_INIT(max_bytes + 1);
	unsigned number = 0;
	int rc = file_read(path, max_bytes, FILE_SECRET, &b, e);

	if (rc == -ERR_NOTFOUND)
		rc = 0;
	for (char *at = (char *)b.p; !rc && at && *at;) {
		char *end = strchr(at, '\n');

		number++;
		if (end)
			*end = 0;
		rc = fn(arg, at, e);
		if (rc)
			err_add(e, "%s:%u", path, number);
		at = end ? end + 1 : NULL;
	}
	buf_done(&b);
	return rc;
}
