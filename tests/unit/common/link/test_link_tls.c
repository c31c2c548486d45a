/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links over real TLS on the loopback interface: the last messages arrive although the sender
 * closes at once.
 */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/link/link.h"
#include "common/loop/loop.h"
#include "common/net/net.h"
#include "tests/suite.h"

#include <string.h>
#include <unistd.h>

#define DAY (86400 * NSEC_PER_SEC)
#define PATIENCE_NS (20 * NSEC_PER_SEC) /* of the test; not a measure of anything */

static struct {
	char dir[64];
	struct loop *loop;
	struct pki_ca *ca;
	struct net_ctx *top, *leaf;
	struct net_listener *listener;
	struct rng rng;
	struct link_conf top_conf, leaf_conf;
	struct link_net *dialer;
	struct link *link, *accepted;
	unsigned ups, msgs, retries, downs;
	struct err why;
} t;

static void make_creds(enum role role, const char *host, struct pki_creds *out)
{
	struct identity as = { .role = role,
			       .wall_not_before = clock_wall() - DAY,
			       .wall_not_after = clock_wall() + DAY };
	struct buf csr = BUF_INIT(PKI_DER_MAX_BYTES), cert = BUF_INIT(PKI_DER_MAX_BYTES),
		   ca = BUF_INIT(PKI_DER_MAX_BYTES);
	struct pki_key *key = NULL;
	struct err e = { 0 };
	const uint8_t *der;
	size_t n;

	str_copy(as.site, sizeof(as.site), "s");
	str_copy(as.host, sizeof(as.host), host);
	ck_assert_msg(!pki_key_new(&key, &e) && !pki_csr_make(key, &csr, &e), "%s", e.text);
	ck_assert_msg(!pki_ca_issue(t.ca, buf_bytes(&csr), &as, &cert, &e), "%s", e.text);
	der = pki_ca_der(t.ca, &n);
	buf_put(&ca, der, n);
	ck_assert_msg(!pki_creds_make(out, key, &cert, &ca, &e), "%s", e.text);
	pki_key_free(key);
	buf_done(&csr);
	buf_done(&cert);
	buf_done(&ca);
}

static struct net_ctx *open_ctx(enum role role, const char *host)
{
	struct pki_creds creds = { 0 };
	struct net_ctx *ctx = NULL;
	struct err e = { 0 };

	make_creds(role, host, &creds);
	ck_assert_msg(!net_ctx_open(t.loop, &(struct net_conf){ .creds = &creds }, &ctx, &e), "%s",
		      e.text);
	pki_creds_done(&creds);
	return ctx;
}

static int on_hello(void *arg, struct link *l, const struct msg_hello *h, struct msg_hello_ack *ack,
		    struct err *why)
{
	if (str_eq(h->host, "unwanted"))
		return err_set(why, ERR_AGAIN, "64 tools are connected");
	t.accepted = l;
	return 0;
}

static void on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	t.ups++;
}

static void on_msg(void *arg, struct link *l, const struct msg *m)
{
	t.msgs++;
}

static void on_down(void *arg, struct link *l, const struct err *why)
{
	t.downs++;
	t.why = *why;
	if (l == t.accepted)
		t.accepted = NULL;
}

static void on_retry(void *arg, struct link *l, const struct err *why, nsec_t in)
{
	t.retries++;
	t.why = *why;
}

static void on_accept(void *arg, struct chan *c)
{
	if (!link_accept(&t.top_conf, &c))
		chan_close(c, "no memory");
}

static void set_up(void)
{
	static const char host[1][NAME_MAX_BYTES + 1] = { "127.0.0.1" };
	const struct net_expect expect = { .roles = ROLE_BIT(ROLE_MAINSM) };
	const struct link_handler h = { .on_hello = on_hello,
					.on_up = on_up,
					.on_msg = on_msg,
					.on_down = on_down,
					.on_retry = on_retry };
	struct err e = { 0 };
	char path[80];

	memset(&t, 0, sizeof(t));
	str_copy(t.dir, sizeof(t.dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(t.dir));
	snprintf(path, sizeof(path), "%s/ca", t.dir);
	ck_assert_msg(!pki_ca_open(path, "u@h", &t.ca, &e), "%s", e.text);
	t.loop = loop_new();
	rng_init(&t.rng, 1);
	t.top = open_ctx(ROLE_MAINSM, "top");
	t.leaf = open_ctx(ROLE_LM, "leaf");
	ck_assert_msg(!net_listen(t.top, &(struct net_listen_conf){ .roles = ROLE_BIT(ROLE_LM) },
				  &(struct net_accept){ .on_accept = on_accept }, &t.listener, &e),
		      "%s", e.text);
	t.dialer = link_net_new(
		&(struct link_net_conf){ t.leaf, host, 1, net_listener_port(t.listener), &expect });
	t.top_conf = t.leaf_conf =
		(struct link_conf){ .loop = t.loop, .rng = &t.rng, .handler = h };
}

static void clean_up(void)
{
	static const char *const files[] = { "ca/ca.key", "ca/ca.crt", "ca" };
	char path[80];

	link_close(t.link, "the end");
	link_close(t.accepted, "the end");
	loop_turn(t.loop);
	net_listener_close(t.listener);
	net_ctx_free(t.top);
	net_ctx_free(t.leaf);
	loop_turn(t.loop);
	link_net_free(t.dialer);
	loop_free(t.loop);
	pki_ca_free(t.ca);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", t.dir, files[i]);
		remove(path);
	}
	rmdir(t.dir);
}

/* Turns the loop until *what reaches n. */
static void until(const unsigned *what, unsigned n)
{
	nsec_t end = clock_mono() + PATIENCE_NS;

	while (*what < n && clock_mono() < end)
		ck_assert_int_eq(loop_wait(t.loop, NSEC_PER_SEC), 0);
	ck_assert_uint_ge(*what, n);
}

static void dial(const char *host)
{
	const struct link_dialer d = link_net_dialer(t.dialer);

	t.link = link_dial(&t.leaf_conf, &d, &(struct msg_hello){ .role = "lm", .host = host });
	ck_assert_ptr_nonnull(t.link);
}

TEST(messages_pass_and_the_bye_arrives)
{
	const struct msg m = { .type = MSG_DIRECTORY, .directory = { .node = 1 } };

	dial("leaf");
	until(&t.ups, 2);
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(link_send(t.link, &m), 0);
	until(&t.msgs, 100);
	link_close(t.link, "work is done");
	t.link = NULL;
	until(&t.downs, 1);
	ck_assert_str_eq(t.why.text, "the peer has left: work is done");
}

TEST(the_text_of_a_refusal_arrives)
{
	dial("unwanted");
	until(&t.retries, 1);
	ck_assert_str_eq(t.why.text, "refused by the peer: 64 tools are connected");
}

TEST(the_text_of_a_refused_version_arrives)
{
	t.leaf_conf.version_min = 7;
	t.leaf_conf.version_max = 8;
	dial("leaf");
	until(&t.retries, 1);
	ck_assert_ptr_nonnull(strstr(t.why.text, "you speak 7..8: install one version"));
}

SUITE_WITH("link_tls", set_up, clean_up)
