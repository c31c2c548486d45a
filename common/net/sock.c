/* SPDX-License-Identifier: Apache-2.0 */
#include "common/net/internal.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <stdio.h>
#include <string.h>

/* for unacknowledged data; the kernel's default is a quarter of an hour */
#define USER_TIMEOUT_MS 20000

int sock_tune(int fd, struct err *e)
{
	int on = 1, ms = USER_TIMEOUT_MS;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms)))
		return err_sys(e, "cannot set up a socket");
	return 0;
}

void sock_wake_at(int fd, int bytes)
{
	setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes));
}

bool sock_has_input(int fd)
{
	int n = 0;

	return !ioctl(fd, FIONREAD, &n) && n > 0;
}

nsec_t sock_data_age(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t n = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n))
		return -1;
	return info.tcpi_last_data_recv * NSEC_PER_MSEC;
}

void sock_name(char out[REMOTE_BYTES], const struct sockaddr_storage *a)
{
	char addr[INET6_ADDRSTRLEN] = "?";

	if (a->ss_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const void *)a;

		inet_ntop(AF_INET6, &in6->sin6_addr, addr, sizeof(addr));
		snprintf(out, REMOTE_BYTES, "[%s]:%u", addr, ntohs(in6->sin6_port));
	} else {
		const struct sockaddr_in *in = (const void *)a;

		inet_ntop(AF_INET, &in->sin_addr, addr, sizeof(addr));
		snprintf(out, REMOTE_BYTES, "%s:%u", addr, ntohs(in->sin_port));
	}
}

int sock_addr(struct sockaddr_storage *out, socklen_t *n, const char *host, uint16_t port,
	      struct err *e)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				  .ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	char bare[INET6_ADDRSTRLEN + 32], service[8];
	size_t len = strlen(host);
	bool brackets = len > 2 && host[0] == '[' && host[len - 1] == ']';

	if (brackets)
		len -= 2;
	if (len >= sizeof(bare))
		return err_set(e, ERR_INVALID, "this is not an address");
	memcpy(bare, host + brackets, len);
	bare[len] = 0;
	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(bare, service, &hints, &found))
		return err_set(e, ERR_INVALID, "%.60s is not an address", bare);
	memcpy(out, found->ai_addr, found->ai_addrlen);
	*n = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

static uint32_t ipv4_of(const struct sockaddr_storage *a)
{
	const struct sockaddr_in6 *in6 = (const void *)a;
	const struct sockaddr_in *in = (const void *)a;
	uint32_t v4;

	if (a->ss_family == AF_INET)
		return ntohl(in->sin_addr.s_addr);
	if (!IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr))
		return 0;
	memcpy(&v4, &in6->sin6_addr.s6_addr[12], sizeof(v4));
	return ntohl(v4);
}

bool sock_is_loopback(const struct sockaddr_storage *a)
{
	const struct sockaddr_in6 *in6 = (const void *)a;

	return ipv4_of(a) >> 24 == 127 ||
	       (a->ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr));
}

uint64_t sock_source_key(const struct sockaddr_storage *a)
{
	const struct sockaddr_in6 *in6 = (const void *)a;
	uint32_t v4 = ipv4_of(a);
	uint64_t key;

	if (v4 || a->ss_family == AF_INET)
		return v4;
	memcpy(&key, in6->sin6_addr.s6_addr, sizeof(key));
	return key;
}
