/* SPDX-License-Identifier: Apache-2.0 */
/* Disks, network links, users and the control group. */
#include "lm/host/host_linux_internal.h"
#include "lm/host/proctext.h"

#include "common/base/file.h"
#include "common/base/str.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utmp.h>

#define USERS_MAX_BYTES (1024 * 1024) /* 2,700 logins */
#define ACTIVE_MAX_S 300 /* a user that has typed within this time is active */
#define GROUP_DEPTH_MAX 32

static DIR *open_folder(struct host_linux *h, const char *path)
{
	int fd = openat(h->root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

bool linux_is_disk(struct host_linux *h, const char *name)
{
	char path[128];
	int n;

	if (strchr(name, '/') || !strncmp(name, "sr", 2) || !strncmp(name, "fd", 2))
		return false; /* the medium was removed */
	n = snprintf(path, sizeof(path), "sys/block/%s/device", name);
	return n > 0 && (size_t)n < sizeof(path) && faccessat(h->root, path, F_OK, 0) == 0;
}

void linux_disks(struct host_linux *h, int64_t *number, int64_t *kib)
{
	DIR *dir = open_folder(h, "sys/block");
	struct dirent *d;
	char path[300];

	*number = *kib = dir ? 0 : -1;
	while (dir && (d = readdir(dir))) {
		if (d->d_name[0] == '.' || !linux_is_disk(h, d->d_name))
			continue;
		snprintf(path, sizeof(path), "sys/block/%s/size", d->d_name);
		++*number;
		*kib += linux_number(h, 0, path) / 2; /* sectors of 512 bytes */
	}
	if (dir)
		closedir(dir);
}

int64_t linux_link_speed(struct host_linux *h, const char *name)
{
	int64_t mbit;

	if (!text_number(linux_text(h, "sys/class/net/%s/speed", name), &mbit) || mbit <= 0)
		return -1;
	return mbit * 125;
}

static void link_type(struct host_linux *h, const char *name, char out[16])
{
	int64_t type = -1;

	text_number(linux_text(h, "sys/class/net/%s/type", name), &type);
	switch (type) {
	case ARPHRD_ETHER:
		str_copy(out, 16, "ethernet");
		break;
	case ARPHRD_LOOPBACK:
		str_copy(out, 16, "loopback");
		break;
	case ARPHRD_INFINIBAND:
		str_copy(out, 16, "infiniband");
		break;
	case ARPHRD_PPP:
		str_copy(out, 16, "ppp");
		break;
	case ARPHRD_NONE:
	case ARPHRD_TUNNEL:
	case ARPHRD_TUNNEL6:
		str_copy(out, 16, "tunnel");
		break;
	default:
		snprintf(out, 16, "type %d", (int)type);
	}
}

/* A recorded tree has no addresses: they are not in any file. IPv4 is preferred. */
static void link_address(const struct ifaddrs *all, const char *name, char out[46])
{
	for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
		if (!a->ifa_addr || strcmp(a->ifa_name, name))
			continue;
		if (a->ifa_addr->sa_family == AF_INET) {
			inet_ntop(AF_INET, &((struct sockaddr_in *)(void *)a->ifa_addr)->sin_addr,
				  out, 46);
			return;
		}
		if (a->ifa_addr->sa_family == AF_INET6 && !out[0])
			inet_ntop(AF_INET6,
				  &((struct sockaddr_in6 *)(void *)a->ifa_addr)->sin6_addr, out,
				  46);
	}
}

/* Lists the links in the order of net/dev, which is that of their creation. */
size_t linux_links(struct host_linux *h, struct host_link *out, size_t max)
{
	struct buf keep = BUF_INIT(HOST_FILE_MAX_BYTES);
	struct ifaddrs *all = NULL;
	size_t n = 0;

	buf_puts(&keep, linux_text(h, "proc/net/dev"));
	if (h->is_live && getifaddrs(&all) < 0)
		all = NULL;
	for (const char *p = buf_str(&keep); p && n < max; p = text_next_line(p)) {
		memset(&out[n], 0, sizeof(out[n]));
		if (!text_link(p, out[n].name))
			continue;
		link_type(h, out[n].name, out[n].type);
		link_address(all, out[n].name, out[n].address);
		out[n].kb_per_s = linux_link_speed(h, out[n].name);
		n++;
	}
	if (all)
		freeifaddrs(all);
	buf_done(&keep);
	return n;
}

static bool is_active(struct host_linux *h, const char *line)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "dev/%s", line);
	return fstatat(h->root, path, &st, 0) == 0 &&
	       clock_wall() / NSEC_PER_SEC - st.st_atime < ACTIVE_MAX_S;
}

static void count_user(struct host_linux *h, const struct utmp *u, struct host_now *out)
{
	char path[32], line[UT_LINESIZE + 1];
	bool is_local = !u->ut_host[0] || u->ut_host[0] == ':';

	if (u->ut_type != USER_PROCESS)
		return;
	snprintf(path, sizeof(path), "proc/%d", (int)u->ut_pid);
	if (faccessat(h->root, path, F_OK, 0) < 0)
		return; /* the entry was not removed */
	memcpy(line, u->ut_line, UT_LINESIZE);
	line[UT_LINESIZE] = 0;
	*(is_local ? &out->local_users : &out->remote_users) += 1;
	if (is_active(h, line))
		*(is_local ? &out->local_active : &out->remote_active) += 1;
}

/* A host without the file keeps no record of its users. */
void linux_users(struct host_linux *h, struct host_now *out)
{
	struct buf b = BUF_INIT(USERS_MAX_BYTES);
	struct utmp u;
	int rc;

	rc = file_read_at(h->root, "run/utmp", USERS_MAX_BYTES, &b, NULL);
	if (rc)
		rc = file_read_at(h->root, "var/run/utmp", USERS_MAX_BYTES, &b, NULL);
	out->local_users = out->local_active = out->remote_users = out->remote_active = rc ? -1 : 0;
	for (size_t at = 0; !rc && b.n - at >= sizeof(u); at += sizeof(u)) {
		memcpy(&u, b.p + at, sizeof(u));
		count_user(h, &u, out);
	}
	buf_done(&b);
}

/* Finds the path in the hierarchy of `controller` ("" = version 2). text: of a file cgroup. */
static bool path_in(const char *text, const char *controller, char *out, size_t size)
{
	size_t want = strlen(controller);

	for (const char *p = text; p; p = text_next_line(p)) {
		const char *names = strchr(p, ':'), *path = names ? strchr(names + 1, ':') : NULL;

		if (!path)
			return false;
		for (const char *q = names + 1; q <= path; q += strcspn(q, ",:") + 1)
			if (strcspn(q, ",:") == want && !strncmp(q, controller, want)) {
				text_line(out, size, path + 1);
				return true;
			}
	}
	return false;
}

static bool group_path(struct host_linux *h, const char *controller, char *out, size_t size)
{
	return path_in(linux_text(h, "proc/self/cgroup"), controller, out, size);
}

/* The smallest limit on the way up to the root of the hierarchy. */
static int64_t smallest(struct host_linux *h, const char *base, char *path, const char *file)
{
	int64_t least = INT64_MAX, v;
	char *slash;

	for (int depth = 0; depth < GROUP_DEPTH_MAX; depth++) {
		if (text_number(linux_text(h, "%s%s/%s", base, path, file), &v) && v >= 0 &&
		    v < least)
			least = v;
		slash = strrchr(path, '/');
		if (!slash)
			break;
		*slash = 0;
	}
	return least < INT64_C(1) << 60 ? least
					: -1; /* version 1 writes "no limit" as a huge number */
}

static void group_v2(struct host_linux *h, const char *base, struct host_now *out)
{
	char path[256], copy[256];
	int64_t t[2];

	if (!group_path(h, "", path, sizeof(path)))
		return;
	if (!strcmp(path, "/"))
		path[0] = 0;
	str_copy(copy, sizeof(copy), path);
	if (out->group_memory_max < 0)
		out->group_memory_max = smallest(h, base, copy, "memory.max");
	if (out->group_memory < 0 &&
	    text_number(linux_text(h, "%s%s/memory.current", base, path), &t[0]))
		out->group_memory = t[0];
	if (out->group_cpus < 0 &&
	    text_numbers(linux_text(h, "%s%s/cpu.max", base, path), t, 2) == 2 && t[1] > 0)
		out->group_cpus = (double)t[0] / (double)t[1];
}

static void group_v1(struct host_linux *h, struct host_now *out)
{
	char path[256], copy[256];
	int64_t quota, period;

	if (group_path(h, "memory", path, sizeof(path))) {
		if (!strcmp(path, "/"))
			path[0] = 0;
		str_copy(copy, sizeof(copy), path);
		out->group_memory_max =
			smallest(h, "sys/fs/cgroup/memory", copy, "memory.limit_in_bytes");
		text_number(linux_text(h, "sys/fs/cgroup/memory%s/memory.usage_in_bytes", path),
			    &out->group_memory);
	}
	if (group_path(h, "cpu", path, sizeof(path))) {
		if (!text_number(linux_text(h, "sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", path),
				 &quota) ||
		    !text_number(linux_text(h, "sys/fs/cgroup/cpu%s/cpu.cfs_period_us", path),
				 &period))
			return;
		if (quota > 0 && period > 0)
			out->group_cpus = (double)quota / (double)period;
	}
}

/* Version 1, version 2, or both at once with the second in `unified`. */
static const char *v2_base(const struct host_linux *h)
{
	return faccessat(h->root, "sys/fs/cgroup/unified", F_OK, 0) == 0 ? "sys/fs/cgroup/unified"
									 : "sys/fs/cgroup";
}

void linux_group(struct host_linux *h, struct host_now *out)
{
	out->group_memory_max = out->group_memory = -1;
	out->group_cpus = -1;
	group_v1(h, out);
	group_v2(h, v2_base(h), out);
}

/*
 * Sums the number behind `key` in cpu.stat of the group and of all groups around it; -1: there is
 * none. A group outside of our own namespace has a path that leads above it, and is not read.
 */
static double throttled_in(struct host_linux *h, const char *base, char *path, const char *key)
{
	double sum = -1;
	int64_t v;

	if (strstr(path, "/.."))
		return -1;
	if (str_eq(path, "/"))
		path[0] = 0;
	for (int depth = 0; depth < GROUP_DEPTH_MAX; depth++) {
		char *slash = strrchr(path, '/');

		if (text_field(linux_text(h, "%s%s/cpu.stat", base, path), key, &v) && v >= 0)
			sum = (sum < 0 ? 0 : sum) + (double)v;
		if (!slash)
			break;
		*slash = 0;
	}
	return sum;
}

double linux_throttled(struct host_linux *h, int32_t pid)
{
	double ns = -1, us = -1;
	char path[256];

	if (path_in(linux_text(h, "proc/%d/cgroup", (int)pid), "cpu", path, sizeof(path)))
		ns = throttled_in(h, "sys/fs/cgroup/cpu", path, "throttled_time");
	if (path_in(linux_text(h, "proc/%d/cgroup", (int)pid), "", path, sizeof(path)))
		us = throttled_in(h, v2_base(h), path, "throttled_usec");
	if (ns < 0 && us < 0)
		return -1;
	return (ns < 0 ? 0 : ns * 1e-9) + (us < 0 ? 0 : us * 1e-6);
}
