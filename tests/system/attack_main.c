/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack issue CADIR OUT KIND ROLE SITE HOST [FROM TO]
 *
 *	makes key.pem, cert.pem, ca.pem in OUT, signed with the CA key in CADIR.
 *	KIND: good, noeku, anyeku, server, self, rogue, p384.
 *	FROM, TO: seconds from now
 *
 * attack enrol CONNSTR ROLE SITE HOST [OUT]
 *
 *	requests a certificate with the string's token, prints the answer,
 *	stores it in OUT
 *
 * attack connect HOST:PORT CREDS|- WORD...
 *
 *	connects, executes the words, and prints all answers:
 *	alpn=NAME tls12 extra=N         before the others: the kind of connection
 *	hello=ROLE,SITE,HOST[,MIN,MAX[,NODE]]   sends HELLO and waits for the answer;
 *					- omits a part
 *	bomb=NAME                       see attack_bombs.c
 *	hex=BYTES                       sends bytes as they are
 *	request=TEXT                    sends an OMIS request and waits for its reply
 *	trickle=MS                      a zero byte every MS until the peer closes
 *	keys=N                          renews the keys N times
 *	again                           closes, resumes the session without a certificate
 *	read=MS                         reads until the peer closes or MS are over
 *
 * attack serve PORTFILE CREDS CODE TEXT
 *
 *	listens, answers one HELLO with that error, ends
 *
 * attack plain HOST:PORT TEXT
 *
 *	sends text without TLS and prints how the connection ends
 *
 * attack silent HOST:PORT N MS
 *
 *	N silent connections; prints how many the peer has closed after MS
 */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/link/connstr.h"
#include "common/net/pki.h"
#include "tests/system/attack.h"
#include "tests/unit/common/net/certs.h"

#include <arpa/inet.h>
#include <openssl/pem.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MS 60000 /* bound of waits that normally end before; no measure of speed */
#define CONNECTIONS_MAX 512

static uint64_t number(const char *s)
{
	uint64_t v;

	if (str_to_u64(s, 0, UINT32_MAX, &v))
		die("not a number: %s", s);
	return v;
}

/* --- certificates */

static FILE *open_in(const char *dir, const char *file)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "r");
	if (!f)
		die("cannot read %s", path);
	return f;
}

static void load_ca(struct test_ca *ca, const char *dir)
{
	FILE *key = open_in(dir, "ca.key"), *cert = open_in(dir, "ca.crt");

	ca->key = PEM_read_PrivateKey(key, NULL, NULL, NULL);
	ca->cert = PEM_read_X509(cert, NULL, NULL, NULL);
	fclose(key);
	fclose(cert);
	if (!ca->key || !ca->cert)
		die("%s holds no CA", dir);
}

static void spoil(struct cert_spec *spec, const char *kind)
{
	if (str_eq(kind, "noeku"))
		spec->eku = NULL;
	else if (str_eq(kind, "anyeku"))
		spec->eku = "anyExtendedKeyUsage";
	else if (str_eq(kind, "server"))
		spec->eku = "serverAuth";
	else if (str_eq(kind, "self"))
		spec->self_signed = true;
	else if (str_eq(kind, "p384"))
		spec->curve = "P-384";
	else if (!str_eq(kind, "good") && !str_eq(kind, "rogue"))
		die("no such kind: %s", kind);
}

static int issue(int argc, char **argv)
{
	struct identity id = { .role = argc > 3 ? role_from_name(argv[3]) : ROLE_NONE };
	bool serves = id.role == ROLE_MAINSM || id.role == ROLE_SM;
	char uri[IDENTITY_URI_BYTES];
	struct cert_spec spec = { .uri = uri,
				  .eku = serves ? "serverAuth,clientAuth" : "clientAuth" };
	struct pki_creds creds;
	struct err e = { 0 };
	struct test_ca ca;

	if (argc != 6 && argc != 8)
		die("issue CADIR OUT KIND ROLE SITE HOST [FROM TO]");
	str_copy(id.site, sizeof(id.site), argv[4]);
	str_copy(id.host, sizeof(id.host), argv[5]);
	if (identity_to_uri(uri, &id, &e))
		die("%s", e.text);
	spoil(&spec, argv[2]);
	if (argc == 8) {
		spec.from_s = (int)strtol(argv[6], NULL, 10);
		spec.to_s = (int)strtol(argv[7], NULL, 10);
	}
	if (str_eq(argv[2], "rogue"))
		test_ca_new(&ca, "rogue");
	else
		load_ca(&ca, argv[0]);
	creds = test_creds(&ca, &spec);
	if (pki_creds_store(argv[1], &creds, &e))
		die("%s", e.text);
	pki_creds_done(&creds);
	test_ca_done(&ca);
	return 0;
}

static void keep(const struct attack *a, const struct pki_key *key, const char *dir)
{
	struct buf cert = BUF_INIT(PKI_DER_MAX_BYTES), ca = BUF_INIT(PKI_DER_MAX_BYTES);
	struct pki_creds creds;
	struct err e = { 0 };

	buf_put(&cert, a->cert, a->ncert);
	buf_put(&ca, a->ca, a->nca);
	if (pki_creds_make(&creds, key, &cert, &ca, &e) || pki_creds_store(dir, &creds, &e))
		die("%s", e.text);
	pki_creds_done(&creds);
	buf_done(&cert);
	buf_done(&ca);
}

static int enrol(int argc, char **argv)
{
	struct attack a = { .alpn = "omig-enrol/1" };
	struct buf csr = BUF_INIT(PKI_DER_MAX_BYTES);
	struct msg m = { .type = MSG_ENROL };
	struct connstr c;
	struct pki_key *key;
	struct err e = { 0 };

	if (argc != 4 && argc != 5)
		die("enrol CONNSTR ROLE SITE HOST [OUT]");
	if (connstr_parse(argv[0], &c, &e) || pki_key_new(&key, &e) || pki_csr_make(key, &csr, &e))
		die("%s", e.text);
	str_copy(a.host, sizeof(a.host), c.host[0]);
	a.port = c.port;
	m.enrol = (struct msg_enrol){ .token_id = c.token_id,
				      .secret = { (const uint8_t *)c.secret, strlen(c.secret) },
				      .role = argv[1],
				      .site = argv[2],
				      .host = argv[3],
				      .csr_der = { csr.p, csr.n } };
	if (attack_open(&a) && attack_send_msg(&a, &m))
		attack_read(&a, MSG_ENROL_ACK, PATIENCE_MS);
	if (argc == 5)
		keep(&a, key, argv[4]);
	attack_close(&a);
	buf_done(&csr);
	pki_key_free(key);
	return 0;
}

/* --- words of a connection */

static void say_hello(struct attack *a, const char *text)
{
	char copy[512], *save = NULL, *part[6] = { NULL };
	struct msg m = { .type = MSG_HELLO };
	int n = 0;

	str_copy(copy, sizeof(copy), text);
	for (char *p = strtok_r(copy, ",", &save); p && n < 6; p = strtok_r(NULL, ",", &save))
		part[n++] = str_eq(p, "-") ? NULL : p;
	m.hello = (struct msg_hello){ .role = part[0],
				      .site = part[1],
				      .host = part[2],
				      .version_min =
					      part[3] ? (uint32_t)number(part[3]) : MSG_VERSION_MIN,
				      .version_max =
					      part[4] ? (uint32_t)number(part[4]) : MSG_VERSION_MAX,
				      .node = part[5] ? (uint32_t)number(part[5]) : 0,
				      .listen = "127.0.0.1:1",
				      /* ids of requests are those of this one */
				      .epoch = (uint64_t)clock_wall(),
				      .software = "attack" };
	if (!attack_send_msg(a, &m))
		puts("hello was not sent");
	attack_read(a, MSG_HELLO_ACK, PATIENCE_MS);
}

static void send_bomb(struct attack *a, const char *name)
{
	struct buf *b = attack_bomb(name);

	if (!b)
		die("no such bomb: %s", name);
	attack_send(a, b->p, b->n);
	buf_done(b);
	free(b);
}

static void send_hex(struct attack *a, const char *hex)
{
	uint8_t bytes[1024];
	size_t n = 0;
	char pair[3] = "";

	for (; hex[0] && hex[1] && n < sizeof(bytes); hex += 2) {
		memcpy(pair, hex, 2);
		bytes[n++] = (uint8_t)strtoul(pair, NULL, 16);
	}
	attack_send(a, bytes, n);
}

static void ask(struct attack *a, const char *text)
{
	static uint64_t id;
	struct msg m = { .type = MSG_REQUEST };

	m.request = (struct msg_request){ .id = ++id,
					  .text = { (const uint8_t *)text, strlen(text) },
					  .deadline_ns = INT64_C(5000000000) };
	if (attack_send_msg(a, &m))
		attack_read(a, MSG_REPLY, PATIENCE_MS);
}

static void trickle(struct attack *a, int64_t every)
{
	int64_t until = now_ms() + PATIENCE_MS;

	while (!a->is_closed && now_ms() < until) {
		attack_send(a, "", 1);
		attack_read(a, 0, every);
	}
}

static void renew_keys(struct attack *a, uint64_t n)
{
	while (n-- && !a->is_closed) {
		if (SSL_key_update(a->ssl, SSL_KEY_UPDATE_NOT_REQUESTED) != 1 ||
		    SSL_do_handshake(a->ssl) != 1)
			break;
		attack_read(a, 0, 0);
	}
}

static bool come_again(struct attack *a)
{
	SSL_SESSION_free(a->session);
	a->session = SSL_get1_session(a->ssl);
	printf("session %s\n", SSL_SESSION_is_resumable(a->session) ? "saved" : "cannot be saved");
	attack_close(a);
	a->creds = NULL;
	return attack_open(a);
}

static void do_word(struct attack *a, const char *word)
{
	const char *value = strchr(word, '=');

	value = value ? value + 1 : "";
	if (str_has_prefix(word, "hello="))
		say_hello(a, value);
	else if (str_has_prefix(word, "bomb="))
		send_bomb(a, value);
	else if (str_has_prefix(word, "hex="))
		send_hex(a, value);
	else if (str_has_prefix(word, "request="))
		ask(a, value);
	else if (str_has_prefix(word, "trickle="))
		trickle(a, (int64_t)number(value));
	else if (str_has_prefix(word, "keys="))
		renew_keys(a, number(value));
	else if (str_has_prefix(word, "read="))
		attack_read(a, 0, (int64_t)number(value));
	else if (str_eq(word, "again"))
		come_again(a);
	else
		die("no such word: %s", word);
}

static bool is_how(struct attack *a, const char *word)
{
	if (str_has_prefix(word, "alpn="))
		a->alpn = word + 5;
	else if (str_has_prefix(word, "extra="))
		a->extra = (int)number(word + 6);
	else if (str_eq(word, "tls12"))
		a->tls12 = true;
	else
		return false;
	return true;
}

static void take_address(struct attack *a, const char *text)
{
	struct err e = { 0 };

	if (hostport_parse(text, a->host, &a->port, &e))
		die("%s", e.text);
}

static int connect_to(int argc, char **argv)
{
	struct attack a = { .alpn = "omig/1" };
	int i = 2;

	if (argc < 2)
		die("connect HOST:PORT CREDS|- WORD...");
	take_address(&a, argv[0]);
	a.creds = str_eq(argv[1], "-") ? NULL : argv[1];
	while (i < argc && is_how(&a, argv[i]))
		i++;
	if (attack_open(&a))
		for (; i < argc; i++)
			do_word(&a, argv[i]);
	if (!a.is_closed)
		puts("still open");
	attack_close(&a);
	SSL_SESSION_free(a.session);
	return 0;
}

/* --- without TLS */

static int tcp_to(const char *text)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct attack a = { 0 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	take_address(&a, text);
	to.sin_port = htons(a.port);
	if (inet_pton(AF_INET, a.host, &to.sin_addr) != 1 || fd < 0 ||
	    connect(fd, (const struct sockaddr *)&to, sizeof(to)))
		die("cannot connect to %s", text);
	return fd;
}

static bool is_over(int fd, int64_t ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint8_t some[512];

	while (poll(&p, 1, (int)(ms > 0 ? ms : 0)) > 0)
		if (read(fd, some, sizeof(some)) <= 0)
			return true;
	return false;
}

static int plain(int argc, char **argv)
{
	int64_t began = now_ms();
	int fd;

	if (argc != 2)
		die("plain HOST:PORT TEXT");
	fd = tcp_to(argv[0]);
	if (write(fd, argv[1], strlen(argv[1])) < 0 || write(fd, "\r\n\r\n", 4) < 0)
		puts("not all was taken");
	printf("%s after %lld ms\n", is_over(fd, PATIENCE_MS) ? "closed" : "still open",
	       (long long)(now_ms() - began));
	close(fd);
	return 0;
}

static int silent(int argc, char **argv)
{
	int fd[CONNECTIONS_MAX], n = argc == 3 ? (int)number(argv[1]) : 0, over = 0;
	int64_t until;

	if (n < 1 || n > CONNECTIONS_MAX)
		die("silent HOST:PORT N MS");
	for (int i = 0; i < n; i++)
		fd[i] = tcp_to(argv[0]);
	puts("connected");
	fflush(stdout);
	until = now_ms() + (int64_t)number(argv[2]);
	for (int i = 0; i < n; i++) {
		over += is_over(fd[i], until - now_ms());
		close(fd[i]);
	}
	printf("%d of %d closed\n", over, n);
	return 0;
}

/* --- a mainsm of another kind */

static int listen_here(const char *port_file)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t n = sizeof(at);
	FILE *f;

	if (fd < 0 || bind(fd, (const struct sockaddr *)&at, n) || listen(fd, 16) ||
	    getsockname(fd, (struct sockaddr *)&at, &n))
		die("cannot listen");
	f = fopen(port_file, "w");
	if (!f)
		die("cannot write %s", port_file);
	fprintf(f, "%u\n", ntohs(at.sin_port));
	fclose(f);
	return fd;
}

static int serve(int argc, char **argv)
{
	struct msg m = { .type = MSG_ERROR };
	struct attack a = { 0 };

	if (argc != 4)
		die("serve PORTFILE CREDS CODE TEXT");
	a.creds = argv[1];
	m.error = (struct msg_error){ .code = (uint32_t)number(argv[2]), .text = argv[3] };
	if (!attack_accept(&a, listen_here(argv[0])))
		die("nobody came");
	attack_read(&a, MSG_HELLO, PATIENCE_MS);
	attack_send_msg(&a, &m);
	SSL_shutdown(a.ssl);
	attack_read(&a, 0, 1000);
	attack_close(&a);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} verbs[] = { { "issue", issue }, { "enrol", enrol },	{ "connect", connect_to },
		      { "plain", plain }, { "silent", silent }, { "serve", serve } };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGPIPE, &ignore, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc > 1 && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (str_eq(argv[1], verbs[i].name))
			return verbs[i].run(argc - 2, argv + 2);
	die("issue, enrol, connect, plain, silent or serve");
}
