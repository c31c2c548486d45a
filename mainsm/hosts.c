/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/hosts.h"

#include "common/base/str.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

static void add(struct connstr *c, const char *host)
{
	for (unsigned i = 0; i < c->nhost; i++)
		if (str_eq(c->host[i], host))
			return;
	if (host[0] && c->nhost < CONNSTR_HOSTS_MAX &&
	    str_copy(c->host[c->nhost], sizeof(c->host[0]), host))
		c->nhost++;
}

static void add_list(struct connstr *c, const char *list)
{
	char one[NAME_MAX_BYTES + 1];

	while (*list) {
		size_t n = strcspn(list, ", ");

		if (n && n < sizeof(one)) {
			memcpy(one, list, n);
			one[n] = 0;
			add(c, one);
		}
		list += n + (list[n] != 0);
	}
}

/* Adds addresses that other hosts may use: not loopback, not link-local. */
static void add_interface(struct connstr *c, const struct ifaddrs *i, bool v6)
{
	const struct sockaddr *a = i->ifa_addr;
	char text[INET6_ADDRSTRLEN];
	const void *bytes;

	if (!a || i->ifa_flags & IFF_LOOPBACK || !(i->ifa_flags & IFF_UP))
		return;
	if (a->sa_family == AF_INET)
		bytes = &((const struct sockaddr_in *)(const void *)a)->sin_addr;
	else if (v6 && a->sa_family == AF_INET6)
		bytes = &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr;
	else
		return;
	if (a->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)bytes))
		return;
	if (inet_ntop(a->sa_family, bytes, text, sizeof(text)))
		add(c, text);
}

static int add_interfaces(struct connstr *c, bool v6, struct err *e)
{
	struct ifaddrs *all;

	if (getifaddrs(&all))
		return err_sys(e, "the addresses of this host");
	for (const struct ifaddrs *i = all; i; i = i->ifa_next)
		add_interface(c, i, v6);
	freeifaddrs(all);
	return 0;
}

int hosts_to_advertise(const char *advertise, const char *listen, struct connstr *out,
		       struct err *e)
{
	bool v6 = str_eq(listen, "::");
	char name[NAME_MAX_BYTES + 1] = "";
	int rc = 0;

	out->nhost = 0;
	add_list(out, advertise);
	if (out->nhost)
		return 0;
	if (v6 || str_eq(listen, "0.0.0.0")) {
		rc = add_interfaces(out, v6, e);
		if (!gethostname(name, sizeof(name) - 1))
			add(out, name);
	} else {
		add(out, listen);
	}
	if (!rc && !out->nhost)
		rc = err_set(e, ERR_INVALID,
			     "this host has no name or address for others: set advertise");
	return rc;
}
