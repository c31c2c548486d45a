/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refuse NAME... -- COMMAND [ARGUMENT...]
 *
 * Runs a command in a sandbox that refuses these system calls with EPERM, as
 * those of containers do: memfd_create pidfd_open mremap close_range.
 * Status 77: no such sandbox can be made here.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned number;
} calls[] = {
	{ "memfd_create", SYS_memfd_create },
	{ "pidfd_open", SYS_pidfd_open },
	{ "mremap", SYS_mremap },
	{ "close_range", SYS_close_range },
};

static int refuse(const char *name)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(name, calls[i].name)) {
			code[1].k = calls[i].number;
			return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
		}
	return -1;
}

int main(int argc, char **argv)
{
	int i;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 77;
	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (refuse(argv[i]))
			return 77;
	if (i + 1 >= argc)
		return 2;
	execvp(argv[i + 1], argv + i + 1);
	perror(argv[i + 1]);
	return 127;
}
