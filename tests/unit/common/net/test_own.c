/* SPDX-License-Identifier: Apache-2.0 */
/* Usual values of `listen`. */
#include "common/base/str.h"
#include "common/net/net.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

static char out[NET_ADDR_BYTES];
static struct err e;

static void becomes(const char *wish, const char *want)
{
	ck_assert_msg(net_own_address(wish, out, &e) == 0, "%s", e.text);
	ck_assert_str_eq(out, want);
}

TEST(addresses_of_this_host_stay_as_they_are)
{
	becomes("127.0.0.1", "127.0.0.1");
	becomes("0.0.0.0", "0.0.0.0");
	becomes("::", "::");
	ck_assert(net_is_numeric("127.0.0.1") && net_is_numeric("::1"));
}

TEST(addresses_of_others_are_refused)
{
	str_copy(out, sizeof(out), "before");
	ck_assert_int_eq(net_own_address("198.51.100.77", out, &e),
			 -ERR_INVALID); /* of documents */
	ck_assert_str_eq(e.text, "listen: 198.51.100.77 is not an address of this host");
	ck_assert_int_eq(net_own_address("2001:db8::77", out, &e), -ERR_INVALID);
	ck_assert_str_eq(out, "before");
}

static bool others_reach_us(void)
{
	struct ifaddrs *all;
	bool found = false;

	ck_assert_int_eq(getifaddrs(&all), 0);
	for (struct ifaddrs *i = all; i; i = i->ifa_next)
		found |= i->ifa_addr && i->ifa_addr->sa_family == AF_INET &&
			 i->ifa_flags & IFF_UP && !(i->ifa_flags & IFF_LOOPBACK);
	freeifaddrs(all);
	return found;
}

TEST(auto_is_every_address)
{
	ck_assert_int_eq(net_own_address("auto", out, &e), 0);
	ck_assert(!net_is_numeric("auto"));
	if (others_reach_us())
		ck_assert_str_eq(out, "0.0.0.0");
	else
		ck_assert(str_eq(out, "::") || str_eq(out, "127.0.0.1"));
}

TEST(the_name_of_this_host_is_no_loopback_address)
{
	char name[256] = "";

	ck_assert_int_eq(gethostname(name, sizeof(name) - 1), 0);
	ck_assert_msg(net_own_address(name, out, &e) == 0, "%s", e.text);
	ck_assert(net_is_numeric(out));
	if (others_reach_us())
		ck_assert(!str_has_prefix(out, "127.") && !str_eq(out, "::1"));
}

TEST(localhost_is_the_loopback_interface)
{
	ck_assert_msg(net_own_address("localhost", out, &e) == 0, "%s", e.text);
	ck_assert(str_has_prefix(out, "127.") || str_eq(out, "::1"));
}

TEST(a_name_without_an_address_is_refused)
{
	char name[80]; /* a label for which no name server is asked */

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	ck_assert_int_eq(net_own_address(name, out, &e), -ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(e.text, "is not an address of this host: "));
}

SUITE("own")
