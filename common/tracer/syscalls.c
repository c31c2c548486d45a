/* SPDX-License-Identifier: Apache-2.0 */
#include "common/tracer/syscalls.h"

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/tracer/tracer_msg.h"

int syscall_read(const char *name, int64_t *number)
{
	*number = SYSCALL_ALL;
	if (!*name || !str_to_i64(name, 0, TRACER_SYSCALLS_MAX - 1, number))
		return 0;
	for (const struct syscall_name *s = syscall_names; s->name; s++)
		if (str_eq(s->name, name) && s->number < TRACER_SYSCALLS_MAX) {
			*number = s->number;
			return 0;
		}
	return -ERR_NOTFOUND;
}
