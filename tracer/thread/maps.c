/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/thread/maps.h"

#include "common/base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RIGHTS_CHARS 4

int maps_read(int32_t pid, struct buf *b, struct err *e)
{
	char path[40];

	buf_clear(b);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	return file_read_at(AT_FDCWD, path, MAPS_MAX_BYTES, b, e);
}

/* Returns the place behind the next blank before end; NULL: there is none. */
static const char *skip_field(const char *at, const char *end)
{
	const char *blank = at && at < end ? memchr(at, ' ', (size_t)(end - at)) : NULL;

	return blank ? blank + 1 : NULL;
}

/* FROM-TO RIGHTS OFFSET DEVICE INODE PATH. Threads are stopped meanwhile: sscanf() is slower. */
static bool read_line(const char *line, const char *end, struct maps_region *r)
{
	const char *rights;
	char *at;

	r->from = strtoull(line, &at, 16);
	if (at == line || at >= end || *at != '-')
		return false;
	r->to = strtoull(at + 1, &at, 16);
	rights = skip_field(at, end);
	if (!rights || end - rights <= RIGHTS_CHARS || rights[RIGHTS_CHARS] != ' ')
		return false;
	memcpy(r->rights, rights, RIGHTS_CHARS);
	r->rights[RIGHTS_CHARS] = 0;
	line = skip_field(skip_field(rights + RIGHTS_CHARS + 1, end), end);
	if (!line || line == end)
		return false;
	r->is_file = strtoull(line, &at, 10) != 0;
	r->path = at < end ? at + strspn(at, " ") : end;
	r->path_n = (size_t)(end - r->path);
	return at > line && at <= end;
}

bool maps_next(const char **at, struct maps_region *out)
{
	while (**at) {
		const char *line = *at, *end = line + strcspn(line, "\n");

		*at = *end ? end + 1 : end;
		if (read_line(line, end, out))
			return true;
	}
	return false;
}

bool maps_find(const struct buf *maps, uint64_t address, struct maps_region *out)
{
	for (const char *at = buf_str(maps); maps_next(&at, out);)
		if (address >= out->from && address < out->to)
			return true;
	return false;
}
