/* SPDX-License-Identifier: Apache-2.0 */
#include "common/board/board.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_BYTES 16384 /* a line of it lists the groups: some thousand of them */

uint32_t board_filters(void)
{
	static const char *const names[] = { "\nSeccomp_filters:", "\nSeccomp:" };
	char text[STATUS_BYTES];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got = 0;

	if (fd < 0)
		return UINT32_MAX;
	while (n < sizeof(text) - 1 && (got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	close(fd);
	text[n] = '\0';
	for (unsigned i = 0; i < 2; i++) {
		const char *line = strstr(text, names[i]);

		if (line)
			return (uint32_t)strtoul(line + strlen(names[i]), NULL, 10);
	}
	return UINT32_MAX;
}
