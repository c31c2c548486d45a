/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the address of this host on which a daemon listens, from a name in its configuration. */
#include "common/base/str.h"
#include "common/net/internal.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ALL_IPV4 "0.0.0.0"
#define ALL_IPV6 "::"

/* True if the interface has an address of that family that other hosts can reach. */
static bool is_reached(const struct ifaddrs *i, int family)
{
	if (!i->ifa_addr || i->ifa_addr->sa_family != family || i->ifa_flags & IFF_LOOPBACK ||
	    !(i->ifa_flags & IFF_UP))
		return false;
	return family == AF_INET ||
	       !IN6_IS_ADDR_LINKLOCAL(
		       &((const struct sockaddr_in6 *)(const void *)i->ifa_addr)->sin6_addr);
}

static bool has_family(const struct ifaddrs *all, int family)
{
	for (; all; all = all->ifa_next)
		if (is_reached(all, family))
			return true;
	return false;
}

/* Returns the address for all interfaces, if other hosts can reach one of them. */
static int all_addresses(char out[NET_ADDR_BYTES], struct err *e)
{
	struct ifaddrs *all;
	const char *found;

	if (getifaddrs(&all))
		return err_sys(e, "the addresses of this host");
	found = has_family(all, AF_INET)    ? ALL_IPV4
		: has_family(all, AF_INET6) ? ALL_IPV6
					    : "127.0.0.1";
	freeifaddrs(all);
	str_copy(out, NET_ADDR_BYTES, found);
	return 0;
}

static bool is_ours(const struct sockaddr *a, socklen_t n)
{
	int fd = socket(a->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok = fd >= 0 && bind(fd, a, n) == 0; /* port 0 means any */

	if (fd >= 0)
		close(fd);
	return ok;
}

static const struct addrinfo *first_of_ours(const struct addrinfo *a, bool is_loopback)
{
	for (; a; a = a->ai_next)
		if (sock_is_loopback((const struct sockaddr_storage *)(const void *)a->ai_addr) ==
			    is_loopback &&
		    is_ours(a->ai_addr, a->ai_addrlen))
			return a;
	return NULL;
}

/*
 * True for this host's name. Without another entry, a system gives its own name a loopback address,
 * or none, which other hosts cannot reach.
 */
static bool is_host_name(const char *name)
{
	char own[NAME_MAX_BYTES + 1] = "";
	size_t n;

	if (gethostname(own, sizeof(own) - 1))
		return false;
	n = strcspn(own, ".");
	return str_eq(name, own) || (strlen(name) == n && strncmp(name, own, n) == 0);
}

static int named_address(const char *name, char out[NET_ADDR_BYTES], struct err *e)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *all = NULL;
	int why = getaddrinfo(name, NULL, &hints, &all);
	const struct addrinfo *a = first_of_ours(all, false);
	int rc = 0;

	if (!a && is_host_name(name))
		rc = all_addresses(out, e);
	else if (!a && !(a = first_of_ours(all, true)))
		rc = err_set(e, ERR_INVALID, "%.100s is not an address of this host%s%s", name,
			     why ? ": " : "", why ? gai_strerror(why) : "");
	if (a &&
	    getnameinfo(a->ai_addr, a->ai_addrlen, out, NET_ADDR_BYTES, NULL, 0, NI_NUMERICHOST))
		rc = err_set(e, ERR_INVALID, "%.100s has an address of an unknown form", name);
	if (all)
		freeaddrinfo(all);
	return rc;
}

bool net_is_numeric(const char *address)
{
	struct sockaddr_storage a;
	socklen_t n;

	return !sock_addr(&a, &n, address, 0, NULL);
}

static int numeric_address(const char *text, char out[NET_ADDR_BYTES], struct err *e)
{
	struct sockaddr_storage a = { 0 };
	socklen_t n;
	int rc = sock_addr(&a, &n, text, 0, e);

	if (!rc && (!is_ours((const struct sockaddr *)(const void *)&a, n) ||
		    !str_copy(out, NET_ADDR_BYTES, text)))
		rc = err_set(e, ERR_INVALID, "%.60s is not an address of this host", text);
	return rc;
}

int net_own_address(const char *address, char out[NET_ADDR_BYTES], struct err *e)
{
	int rc;

	if (str_eq(address, "auto"))
		rc = all_addresses(out, e);
	else if (net_is_numeric(address))
		rc = numeric_address(address, out, e);
	else
		rc = named_address(address, out, e);
	return rc ? err_add(e, "listen") : 0;
}
