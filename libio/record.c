/* SPDX-License-Identifier: Apache-2.0 */
/* Records of this thread. */
#include "libio/io.h"

#include "common/base/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct board *io_board;
__thread uint64_t io_polled __attribute__((tls_model("initial-exec")));
static char label[BOARD_LABEL_BYTES];

/* As an object of a network: without separators. */
void io_note_label(void)
{
	size_t n = strnlen(program_invocation_short_name, sizeof(label) - 1);

	memcpy(label, program_invocation_short_name, n);
	for (size_t i = 0; i < n; i++)
		if (label[i] <= ' ' || label[i] == ',' || label[i] == '+' || label[i] == 0x7f)
			label[i] = '_';
}

void io_note(struct board *b, struct board_record *r)
{
	int saved = errno;

	if (!r->ns)
		r->ns = (uint64_t)clock_mono();
	if (!r->pid) {
		r->pid = (int32_t)syscall(SYS_getpid);
		r->tid = (int32_t)syscall(SYS_gettid);
	}
	memcpy(r->label, label, sizeof(label));
	io_polled = 0;
	board_put(b, r);
	errno = saved;
}
