/* SPDX-License-Identifier: Apache-2.0 */
/* The board that the environment names. */
#include "libio/io.h"

#include "common/ring/chosen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define VARIABLE "OMIG_IO" /* [files,]interactions=PATH */
#define BOARD_WORD "interactions="
#define FILES_WORD "files,"

static struct board *map(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
	off_t bytes = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	void *p = MAP_FAILED;

	if (bytes == (off_t)sizeof(struct board))
		p = mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (p == MAP_FAILED)
		return NULL;
	if (board_is_valid(p, (uint64_t)bytes) && ((struct board *)p)->filters == board_filters())
		return p;
	munmap(p, sizeof(struct board));
	return NULL;
}

/*
 * Without the variable files are counted. Launchers of MPI programs, and all that they start, are
 * not recorded: ranks record their messages.
 */
bool io_board_open(void)
{
	const char *want = secure_getenv(VARIABLE), *path = want ? strstr(want, BOARD_WORD) : NULL;
	struct board_record r = { .kind = BOARD_EXEC };
	bool has_files = !path || !strncmp(want, FILES_WORD, sizeof(FILES_WORD) - 1);
	int saved = errno;
	struct board *b = NULL;

	if (path && chosen_is_launcher(program_invocation_name))
		unsetenv(VARIABLE);
	else if (path)
		b = map(path + sizeof(BOARD_WORD) - 1);
	if (!has_files && b)
		io_count_nothing();
	if (b) {
		io_note_label();
		io_note(b, &r);
		__atomic_store_n(&io_board, b, __ATOMIC_RELEASE);
		io_processes_begin();
		io_stdio_begin();
	}
	errno = saved;
	return has_files;
}
