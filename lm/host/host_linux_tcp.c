/* SPDX-License-Identifier: Apache-2.0 */
/* TCP connections of our user, with the kernel's own view of them: sock_diag(7). */
#include "lm/host/host_linux_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define STATE_ESTABLISHED 1 /* of the kernel's TCP */
#define ANSWER_BYTES 32768 /* the kernel sends no more at once */

/* The first part of the kernel's struct tcp_info: libc's header has an older one. */
struct tcp_numbers {
	uint8_t state[8];
	uint32_t rto, ato, snd_mss, rcv_mss, unacked, sacked, lost, retrans, fackets;
	uint32_t last_data_sent, last_ack_sent, last_data_recv, last_ack_recv;
	uint32_t pmtu, rcv_ssthresh, rtt, rttvar, snd_ssthresh, snd_cwnd, advmss, reordering;
	uint32_t rcv_rtt, rcv_space, total_retrans;
	uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
};

struct found {
	struct host_linux *h;
	struct host_tcp *out;
	size_t max, n, all;
};

static void put_address(char out[HOST_TCP_ADDRESS_BYTES], int family, const uint32_t *address,
			uint16_t port)
{
	char text[INET6_ADDRSTRLEN] = "?";

	inet_ntop(family, address, text, sizeof(text));
	snprintf(out, HOST_TCP_ADDRESS_BYTES, family == AF_INET6 ? "[%s]:%u" : "%s:%u", text,
		 (unsigned)ntohs(port));
}

/* Returns the part of the message, or NULL. */
static const struct rtattr *find_info(const struct nlmsghdr *m)
{
	int left = (int)m->nlmsg_len - (int)NLMSG_LENGTH(sizeof(struct inet_diag_msg));
	const struct rtattr *a = (const void *)((const struct inet_diag_msg *)NLMSG_DATA(m) + 1);

	while (RTA_OK(a, left)) {
		if (a->rta_type == INET_DIAG_INFO)
			return a;
		a = RTA_NEXT(a, left);
	}
	return NULL;
}

static void take(struct found *f, const struct nlmsghdr *m)
{
	const struct inet_diag_msg *d = NLMSG_DATA(m);
	const struct rtattr *a = find_info(m);
	struct tcp_numbers t = { 0 };
	struct host_tcp *out;
	size_t n = a ? RTA_PAYLOAD(a) : 0;

	if (m->nlmsg_len < NLMSG_LENGTH(sizeof(*d)) || d->idiag_uid != f->h->uid)
		return;
	if (n < offsetof(struct tcp_numbers, pacing_rate) || f->all++ >= f->max)
		return;
	memcpy(&t, RTA_DATA(a), n < sizeof(t) ? n : sizeof(t));
	out = &f->out[f->n++];
	put_address(out->local, d->idiag_family, d->id.idiag_src, d->id.idiag_sport);
	put_address(out->remote, d->idiag_family, d->id.idiag_dst, d->id.idiag_dport);
	out->rtt_s = t.rtt * 1e-6;
	out->rttvar_s = t.rttvar * 1e-6;
	out->retransmitted = t.total_retrans;
	out->sent = n >= sizeof(t) ? (int64_t)t.bytes_acked : -1;
	out->received = n >= sizeof(t) ? (int64_t)t.bytes_received : -1;
}

static int send_request(int fd, uint8_t family)
{
	const struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 body;
	} request = { .head = { .nlmsg_len = sizeof(request),
				.nlmsg_type = SOCK_DIAG_BY_FAMILY,
				.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		      .body = { .sdiag_family = family,
				.sdiag_protocol = IPPROTO_TCP,
				.idiag_ext = 1 << (INET_DIAG_INFO - 1),
				.idiag_states = 1 << STATE_ESTABLISHED } };

	return send(fd, &request, sizeof(request), 0) == sizeof(request) ? 0 : -ERR_SYS;
}

/* Returns 1 if more messages follow, 0 at the end. */
static int take_all(struct found *f, const void *bytes, size_t n)
{
	for (const struct nlmsghdr *m = bytes; NLMSG_OK(m, n); m = NLMSG_NEXT(m, n)) {
		if (m->nlmsg_type == NLMSG_DONE)
			return 0;
		if (m->nlmsg_type == NLMSG_ERROR)
			return -ERR_SYS;
		if (m->nlmsg_type == SOCK_DIAG_BY_FAMILY)
			take(f, m);
	}
	return 1;
}

static int read_family(struct found *f, int fd, uint8_t family)
{
	union {
		struct nlmsghdr align;
		uint8_t bytes[ANSWER_BYTES];
	} answer;
	int got = send_request(fd, family);

	if (got)
		return got;
	do {
		ssize_t n = recv(fd, &answer, sizeof(answer), 0);

		if (n < 0 && errno == EINTR)
			continue;
		got = n <= 0 ? -ERR_SYS : take_all(f, &answer, (size_t)n);
	} while (got > 0);
	return got;
}

int linux_tcp(struct host *host, struct host_tcp *out, size_t *n, size_t *left_out)
{
	struct found f = { .h = (struct host_linux *)host, .out = out, .max = *n };
	const struct timeval second = { .tv_sec = 1 };
	int fd, rc;

	if (!f.h->is_live)
		return -ERR_UNSUPPORTED;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd < 0)
		return -ERR_SYS;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	rc = read_family(&f, fd, AF_INET);
	rc = rc ? rc : read_family(&f, fd, AF_INET6);
	close(fd);
	if (rc)
		return rc;
	*n = f.n;
	*left_out = f.all - f.n;
	return 0;
}
