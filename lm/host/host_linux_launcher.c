/* SPDX-License-Identifier: Apache-2.0 */
/* Where launchers of MPI programs listen for their daemons on other hosts. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/ring/chosen.h"
#include "lm/host/host_linux_internal.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROCESSES_MAX 65536 /* examined */
#define FILES_MAX 1024 /* open files of a launcher; it has one for each daemon */
#define STATE_LISTEN 10 /* of the kernel's TCP */

struct visit {
	struct host_linux *h;
	host_on_launcher_fn fn;
	void *arg;
	struct host_launcher out;
	uint64_t inode[FILES_MAX]; /* of its sockets */
	size_t n;
};

/* A line of /proc/PID/net/tcp or tcp6. */
struct listener {
	char address[INET6_ADDRSTRLEN]; /* "": any of the host's */
	unsigned port;
	unsigned long long inode;
};

static void find_sockets(struct visit *v)
{
	int32_t fd[FILES_MAX];
	char path[64], link[64];
	size_t n;

	snprintf(path, sizeof(path), "proc/%d/fd", (int)v->out.pid);
	n = linux_numbered(v->h, path, fd, FILES_MAX);
	v->n = 0;
	for (size_t i = 0; i < n; i++) {
		ssize_t got;

		snprintf(path, sizeof(path), "proc/%d/fd/%d", (int)v->out.pid, (int)fd[i]);
		got = readlinkat(v->h->root, path, link, sizeof(link) - 1);
		link[got > 0 ? got : 0] = 0;
		if (str_has_prefix(link, "socket:["))
			v->inode[v->n++] = strtoull(link + strlen("socket:["), NULL, 10);
	}
}

/* The kernel writes words of an address as numbers of its own byte order. */
static bool put_address(struct listener *l, const char *hex)
{
	uint32_t word[4] = { 0 }, any = 0;
	size_t n = strlen(hex) / 8;

	if (strlen(hex) % 8 || (n != 1 && n != 4))
		return false;
	for (size_t i = 0; i < n; i++) {
		char digits[9] = "";

		memcpy(digits, hex + 8 * i, 8);
		word[i] = (uint32_t)strtoul(digits, NULL, 16);
		any |= word[i];
	}
	l->address[0] = 0;
	return !any || inet_ntop(n == 1 ? AF_INET : AF_INET6, word, l->address, sizeof(l->address));
}

static bool read_listener(const char *line, struct listener *l)
{
	char hex[33];
	unsigned state = 0;

	return sscanf(line, " %*u: %32[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*s %*s %llu",
		      hex, &l->port, &state, &l->inode) == 4 &&
	       state == STATE_LISTEN && l->port <= UINT16_MAX && put_address(l, hex);
}

static void report(struct visit *v, const char *host, unsigned port)
{
	snprintf(v->out.at, sizeof(v->out.at), "%s:%u", host, port);
	v->fn(v->arg, &v->out);
}

static void report_name(struct visit *v, unsigned port)
{
	char name[256] = "";

	if (gethostname(name, sizeof(name) - 1) < 0 || !name[0])
		return;
	report(v, name, port);
	if (strchr(name, '.')) {
		*strchr(name, '.') = 0;
		report(v, name, port);
	}
}

/* Each name and address of this host. */
static void report_all(struct visit *v, unsigned port)
{
	struct ifaddrs *all = NULL;
	char text[INET6_ADDRSTRLEN];

	report_name(v, port);
	if (v->h->is_live && getifaddrs(&all) < 0)
		return;
	for (struct ifaddrs *a = all; a; a = a->ifa_next) {
		const void *from =
			!a->ifa_addr ? NULL
			: a->ifa_addr->sa_family == AF_INET
				? (void *)&((struct sockaddr_in *)a->ifa_addr)->sin_addr
			: a->ifa_addr->sa_family == AF_INET6
				? (void *)&((struct sockaddr_in6 *)a->ifa_addr)->sin6_addr
				: NULL;

		if (from && inet_ntop(a->ifa_addr->sa_family, from, text, sizeof(text)))
			report(v, text, port);
	}
	freeifaddrs(all);
}

static bool has_socket(const struct visit *v, uint64_t inode)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->inode[i] == inode)
			return true;
	return false;
}

static void read_table(struct visit *v, const char *table)
{
	char *text = str_dup(linux_text(v->h, "proc/%d/net/%s", (int)v->out.pid, table));
	struct listener l;

	for (char *line = text, *end; line && *line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (end)
			*end = 0;
		if (!read_listener(line, &l) || !has_socket(v, l.inode))
			continue;
		if (l.address[0])
			report(v, l.address, l.port);
		else
			report_all(v, l.port);
	}
	free(text);
}

static bool is_launcher(struct visit *v, int32_t pid)
{
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "proc/%d", (int)pid);
	if (fstatat(v->h->root, path, &st, 0) || st.st_uid != v->h->uid)
		return false;
	v->out = (struct host_launcher){ .pid = pid };
	str_copy(v->out.name, sizeof(v->out.name), linux_text(v->h, "proc/%d/comm", (int)pid));
	v->out.name[strcspn(v->out.name, "\n")] = 0;
	return chosen_is_launcher(v->out.name);
}

int linux_each_launcher(struct host *host, host_on_launcher_fn fn, void *arg)
{
	struct visit *v = calloc(1, sizeof(*v));
	int32_t *pid = malloc(PROCESSES_MAX * sizeof(*pid));
	bool has_room = v && pid;
	size_t n = 0;

	if (has_room) {
		*v = (struct visit){ .h = (struct host_linux *)host, .fn = fn, .arg = arg };
		n = linux_numbered(v->h, "proc", pid, PROCESSES_MAX);
	}
	for (size_t i = 0; i < n; i++) {
		if (!is_launcher(v, pid[i]))
			continue;
		fn(arg, &v->out);
		find_sockets(v);
		read_table(v, "tcp");
		read_table(v, "tcp6");
	}
	free(pid);
	free(v);
	return has_room ? 0 : -ERR_NOMEM;
}
