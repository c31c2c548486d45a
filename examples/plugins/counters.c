/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plug-in of Omig: counters of block devices and network interfaces, from sysfs, and counters
 * that an application library keeps in shared memory.
 *
 *	cc -shared -fPIC -o counters.so counters.c
 *	omig plugin add "$PWD/counters.so"
 *	omig request ':device_list([]) device_counters([],"net","lo")'
 *	omig measure network_received --count 5
 *
 * An application library here is any that writes a file /dev/shm/NAME of this form: 8 bytes
 * "counters", a number of counters (uint64_t), then for each a name of 24 bytes and a uint64_t.
 */
#include <omig/plugin.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- devices */

static const char *const block_fields[] = { "reads",	       "reads_merged", "sectors_read",
					    "read_ms",	       "writes",       "writes_merged",
					    "sectors_written", "write_ms",     "in_flight",
					    "busy_ms",	       "queue_ms" };
static const char *const net_fields[] = { "rx_bytes", "rx_packets", "rx_errors", "rx_dropped",
					  "tx_bytes", "tx_packets", "tx_errors", "tx_dropped" };

static void put_pair(struct omig_plugin_call *c, const char *name, int64_t v)
{
	omig_plugin_list_begin(c);
	omig_plugin_put_text(c, name, strlen(name));
	omig_plugin_put_int(c, v);
	omig_plugin_list_end(c);
}

/* Names of devices have no '/', so a request cannot reach another file. */
static int open_of(const char *folder, const char *device, const char *file, FILE **out)
{
	char path[512];

	if (!device[0] || device[0] == '.' || strchr(device, '/') ||
	    snprintf(path, sizeof(path), "%s/%s/%s", folder, device, file) >= (int)sizeof(path))
		return -1;
	*out = fopen(path, "re");
	return *out ? 0 : -1;
}

static int block_counters(struct omig_plugin_call *c, const char *device)
{
	FILE *f;
	long long v;
	size_t n = 0;

	if (open_of("/sys/block", device, "stat", &f))
		return omig_plugin_fail(c, "there is no such block device");
	while (n < sizeof(block_fields) / sizeof(*block_fields) && fscanf(f, "%lld", &v) == 1)
		put_pair(c, block_fields[n++], v);
	fclose(f);
	return n ? 0 : omig_plugin_fail(c, "its counters cannot be read");
}

static int net_counters(struct omig_plugin_call *c, const char *device)
{
	FILE *f;
	long long v;
	size_t n = 0;

	for (size_t i = 0; i < sizeof(net_fields) / sizeof(*net_fields); i++) {
		char file[64];

		snprintf(file, sizeof(file), "statistics/%s", net_fields[i]);
		if (open_of("/sys/class/net", device, file, &f))
			continue;
		if (fscanf(f, "%lld", &v) == 1) {
			put_pair(c, net_fields[i], v);
			n++;
		}
		fclose(f);
	}
	return n ? 0 : omig_plugin_fail(c, "there is no such network interface");
}

static int device_counters(struct omig_plugin_call *c)
{
	const char *kind = omig_plugin_get_text(c, 0, 0, NULL);
	const char *device = omig_plugin_get_text(c, 1, 0, NULL);

	if (!strcmp(kind, "block"))
		return block_counters(c, device);
	if (!strcmp(kind, "net"))
		return net_counters(c, device);
	return omig_plugin_fail(c, "kind is \"block\" or \"net\"");
}

static void list_folder(struct omig_plugin_call *c, const char *folder)
{
	DIR *d = opendir(folder);
	const struct dirent *one;

	omig_plugin_list_begin(c);
	while (d && (one = readdir(d)))
		if (one->d_name[0] != '.')
			omig_plugin_put_text(c, one->d_name, strlen(one->d_name));
	omig_plugin_list_end(c);
	if (d)
		closedir(d);
}

static int device_list(struct omig_plugin_call *c)
{
	list_folder(c, "/sys/block");
	list_folder(c, "/sys/class/net");
	return 0;
}

/* --- an application library */

struct library {
	char magic[8];
	uint64_t n;
	struct {
		char name[24];
		uint64_t v;
	} counter[];
};

static int put_library(struct omig_plugin_call *c, const struct library *l, size_t size)
{
	/* The file is another program's: what it says is checked against its size. */
	if (size < sizeof(*l) || memcmp(l->magic, "counters", 8) != 0 ||
	    l->n > (size - sizeof(*l)) / sizeof(l->counter[0]))
		return omig_plugin_fail(c, "that is not a file of counters");
	for (uint64_t i = 0; i < l->n; i++) {
		char name[sizeof(l->counter[0].name) + 1] = "";

		memcpy(name, l->counter[i].name, sizeof(l->counter[0].name));
		put_pair(c, name, (int64_t)l->counter[i].v);
	}
	return 0;
}

static int library_counters(struct omig_plugin_call *c)
{
	const char *name = omig_plugin_get_text(c, 0, 0, NULL);
	char path[256];
	struct stat s;
	void *p = MAP_FAILED;
	int fd = -1, rc;

	if (name[0] && name[0] != '.' && !strchr(name, '/') &&
	    snprintf(path, sizeof(path), "/dev/shm/%s", name) < (int)sizeof(path))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 && !fstat(fd, &s) && s.st_size > 0)
		p = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (p == MAP_FAILED)
		return omig_plugin_fail(c, "there is no such file of counters");
	rc = put_library(c, p, (size_t)s.st_size);
	munmap(p, (size_t)s.st_size);
	return rc;
}

/* --- of a process */

static int process_descriptors(struct omig_plugin_call *c)
{
	char path[64];
	const struct dirent *one;
	int64_t n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)omig_plugin_pid(c));
	d = opendir(path);
	if (!d)
		return omig_plugin_fail(c, "its descriptors cannot be read");
	while ((one = readdir(d)))
		n += one->d_name[0] != '.';
	closedir(d);
	omig_plugin_put_int(c, n);
	return 0;
}

/* --- metrics: one number each */

static int network_received(struct omig_plugin_call *c)
{
	DIR *d = opendir("/sys/class/net");
	const struct dirent *one;
	int64_t sum = 0;
	long long v;
	FILE *f;

	if (!d)
		return omig_plugin_fail(c, "the interfaces cannot be read");
	while ((one = readdir(d))) {
		if (open_of("/sys/class/net", one->d_name, "statistics/rx_bytes", &f))
			continue;
		if (fscanf(f, "%lld", &v) == 1)
			sum += v;
		fclose(f);
	}
	closedir(d);
	omig_plugin_put_int(c, sum);
	return 0;
}

static const struct omig_plugin_service services[] = {
	{ "device_counters", "string kind, string device", "[counter, value]...",
	  "Counters of a block device or network interface since boot.", 0, device_counters },
	{ "device_list", NULL, "[block...], [net...]",
	  "The block devices and network interfaces of the node.", 0, device_list },
	{ "library_counters", "string name", "[counter, value]...",
	  "Counters that a library of an application keeps in /dev/shm.", 0, library_counters },
	{ "network_received", NULL, "B", "Bytes that all interfaces have received since boot.",
	  OMIG_PLUGIN_COUNTER, network_received },
	{ "process_descriptors", NULL, "descriptors", "The open descriptors of each process.",
	  OMIG_PLUGIN_OF_PROCESSES | OMIG_PLUGIN_VALUE, process_descriptors },
	{ NULL, NULL, NULL, NULL, 0, NULL },
};

OMIG_PLUGIN = { OMIG_PLUGIN_VERSION,
		"counters",
		"counters of devices and of application libraries",
		NULL,
		NULL,
		services };
