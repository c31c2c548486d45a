/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/host/host_linux.h"

#include "lm/host/host_linux_internal.h"
#include "lm/host/proctext.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void linux_free(struct host *host)
{
	struct host_linux *h = (struct host_linux *)host;

	buf_done(&h->text);
	mount_table_done(&h->mounts);
	if (h->root >= 0)
		close(h->root);
	free(h);
}

static int linux_boot_id(struct host *host, char out[HOST_BOOT_ID_BYTES], struct err *e)
{
	const char *text = linux_text((struct host_linux *)host, "proc/sys/kernel/random/boot_id");

	if (!*text)
		return err_set(e, ERR_SYS, "/proc has no boot id");
	text_line(out, HOST_BOOT_ID_BYTES, text);
	return 0;
}

static const struct host_ops linux_ops = {
	.free = linux_free,
	.facts = linux_facts,
	.now = linux_now,
	.counts = linux_counts,
	.tcp = linux_tcp,
	.boot_id = linux_boot_id,
	.figures = linux_figures,
	.thread_figures = linux_thread_figures,
	.threads = linux_threads,
	.strings = linux_strings,
	.file = linux_file,
	.each_mount = linux_each_mount,
	.each_memfd = linux_each_memfd,
	.each_chosen = linux_each_chosen,
	.each_rank = linux_each_rank,
	.each_launcher = linux_each_launcher,
	.open = linux_proc_open,
	.open_ended = linux_proc_open_ended,
	.watch = linux_proc_watch,
	.send_signal = linux_proc_signal,
	.thread_signal = linux_thread_signal,
	.thread_priority = linux_thread_priority,
	.memory = linux_memory,
	.modules = linux_modules,
	.proc_each_mount = linux_proc_each_mount,
	.close = linux_proc_close,
};

int host_linux_open(const char *root, struct loop *loop, struct host **out, struct err *e)
{
	struct host_linux *h = calloc(1, sizeof(*h));

	if (!h)
		return err_nomem(e);
	h->host.ops = &linux_ops;
	h->loop = loop;
	h->is_live = !strcmp(root, "/");
	h->page_size = sysconf(_SC_PAGESIZE);
	h->ticks_per_s = sysconf(_SC_CLK_TCK);
	h->own_pid = getpid();
	h->uid = getuid();
	buf_init(&h->text, HOST_FILE_MAX_BYTES);
	mount_table_init(&h->mounts);
	h->root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (h->root < 0 || faccessat(h->root, "proc/stat", R_OK, 0) < 0) {
		int rc = err_sys(e, "%s/proc cannot be read: is /proc mounted?",
				 h->is_live ? "" : root);

		linux_free(&h->host);
		return rc;
	}
	*out = &h->host;
	return 0;
}

void host_linux_set_units(struct host *host, int64_t page_size, int64_t ticks_per_s)
{
	struct host_linux *h = (struct host_linux *)host;

	h->page_size = page_size;
	h->ticks_per_s = ticks_per_s;
}
