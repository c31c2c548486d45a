/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/hosts/quota.h"

#include "common/base/str.h"

#include <inttypes.h>

static const char *const names[QUOTA_COUNT] = { "hosts", "objects", "csrs", "messages", "bytes" };

/* Names of the quantities in messages. */
static const char *const words[QUOTA_COUNT] = { "hosts", "processes and threads",
						"conditional requests", "messages a second",
						"bytes" };

const char *quota_name(enum quota_what what)
{
	return what < QUOTA_COUNT ? names[what] : "?";
}

enum quota_what quota_from_name(const char *name)
{
	for (int i = 0; i < QUOTA_COUNT; i++)
		if (str_eq(name, names[i]))
			return (enum quota_what)i;
	return QUOTA_COUNT;
}

int quota_check(const struct quota *q, enum quota_what what, int64_t has, struct quota_use *use,
		struct err *e)
{
	if (q->max[what] <= 0 || has <= q->max[what])
		return 0;
	err_set(e, ERR_LIMIT, "quota %s: the site allows this user %" PRId64 " %s", names[what],
		q->max[what], words[what]);
	if (!use)
		return -ERR_LIMIT;
	use->over[what]++;
	if (e)
		str_copy(use->last, sizeof(use->last), e->text);
	return -ERR_LIMIT;
}
