/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/file.h"
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/net/internal.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/common/net/certs.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <openssl/ec.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DAY (86400 * NSEC_PER_SEC)

static char dir[] = "/tmp/omig-pki-XXXXXX";
static struct pki_ca *ca;

static void in_dir(char out[FILE_PATH_BYTES], const char *name)
{
	ck_assert_int_eq(file_join(out, FILE_PATH_BYTES, dir, name, NULL), 0);
}

static void set_up(void)
{
	struct err e = { 0 };

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_msg(!pki_ca_open(dir, "me@here", &ca, &e), "%s", e.text);
}

static void clean_up(void)
{
	static const char *const files[] = { "ca.key",	     "ca.crt",	   "sub/key.pem",
					     "sub/cert.pem", "sub/ca.pem", "sub/creds.lock",
					     "sub" };
	char path[FILE_PATH_BYTES];

	pki_ca_free(ca);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		in_dir(path, files[i]);
		remove(path);
	}
	rmdir(dir);
}

static unsigned mode_of(const char *name)
{
	char path[FILE_PATH_BYTES];
	struct stat st;

	in_dir(path, name);
	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static struct identity wish(enum role role)
{
	return (struct identity){
		.role = role, .site = "a", .host = "n1", .wall_not_after = clock_wall() + DAY
	};
}

/* An lm's credentials out of a fresh key. */
static struct pki_creds issue(const struct identity *as, struct identity *issued)
{
	struct buf csr = BUF_INIT(PKI_DER_MAX_BYTES), cert = BUF_INIT(PKI_DER_MAX_BYTES);
	struct buf ca_der = BUF_INIT(PKI_DER_MAX_BYTES);
	struct pki_creds c;
	struct pki_key *k;
	struct err e = { 0 };
	const uint8_t *der;
	size_t n;

	der = pki_ca_der(ca, &n);
	buf_put(&ca_der, der, n);
	ck_assert_int_eq(pki_key_new(&k, &e), 0);
	ck_assert_int_eq(pki_csr_make(k, &csr, &e), 0);
	ck_assert_msg(!pki_ca_issue(ca, buf_bytes(&csr), as, &cert, &e), "%s", e.text);
	if (issued)
		ck_assert_int_eq(pki_identity_from_der(issued, cert.p, cert.n, &e), 0);
	ck_assert_msg(!pki_creds_make(&c, k, &cert, &ca_der, &e), "%s", e.text);
	pki_key_free(k);
	buf_done(&csr);
	buf_done(&cert);
	buf_done(&ca_der);
	return c;
}

TEST(a_new_ca_is_private_and_the_same_when_loaded_again)
{
	struct pki_ca *again;

	ck_assert_uint_eq(mode_of("."), 0700);
	ck_assert_uint_eq(mode_of("ca.key"), 0600);
	ck_assert_int_eq(pki_ca_open(dir, "other@name", &again, NULL), 0);
	ck_assert_str_eq(pki_ca_pin(again), pki_ca_pin(ca));
	ck_assert_str_eq(pki_ca_pem(again), pki_ca_pem(ca));
	ck_assert(pki_pin_is_valid(pki_ca_pin(ca)));
	ck_assert_int_gt(pki_ca_wall_not_after(ca), clock_wall() + 3000 * DAY);
	pki_ca_free(again);
}

TEST(the_ca_may_sign_certificates_of_links_and_nothing_else)
{
	X509 *x = x509_from_pem(pki_ca_pem(ca), "", NULL);

	ck_assert_int_eq(X509_check_ca(x), 1);
	ck_assert_int_eq(X509_get_pathlen(x), 0);
	ck_assert_uint_eq(X509_get_key_usage(x), KU_KEY_CERT_SIGN);
	ck_assert(pkey_is_p256(X509_get0_pubkey(x)));
	X509_free(x);
}

TEST(an_issued_certificate_names_its_holder_and_passes_the_check)
{
	struct identity as = wish(ROLE_LM), issued, got;
	struct pki_creds c = issue(&as, &issued);
	struct err e = { 0 };

	ck_assert_int_eq(pki_creds_check(&c, pki_ca_pin(ca), clock_wall(), &got, &e), 0);
	ck_assert_mem_eq(&got, &issued, sizeof(got));
	ck_assert_int_eq(got.role, ROLE_LM);
	ck_assert_str_eq(got.site, "a");
	ck_assert_str_eq(got.host, "n1");
	ck_assert_uint_eq(got.serial[0] & 0xc0, 0x40);
	ck_assert_int_eq(got.wall_not_after / NSEC_PER_SEC, as.wall_not_after / NSEC_PER_SEC);
	ck_assert_int_lt(got.wall_not_before, clock_wall() - PKI_BACKDATE_NS / 2);
	pki_creds_done(&c);
}

TEST(each_role_gets_exactly_what_verification_demands)
{
	for (unsigned role = ROLE_NONE + 1; role < ROLE_COUNT; role++) {
		struct identity as = wish((enum role)role), got;
		struct pki_creds c = issue(&as, NULL);
		struct net_ctx *open;
		struct admit a = { .roles = ROLE_BIT(role) };
		struct net_conf conf = { .creds = &c };
		struct loop *l = loop_new_virtual();
		struct verdict v = { 0 };
		X509 *x = x509_from_pem(c.cert_pem, "", NULL);

		ck_assert_int_eq(net_ctx_open(l, &conf, &open, NULL), 0);
		ck_assert_msg(!verify_peer(open, &a, &(struct presented){ .leaf = x }, &got, &v),
			      "%s: %s", role_name((enum role)role), v.why.text);
		net_ctx_free(open);
		loop_free(l);
		X509_free(x);
		pki_creds_done(&c);
	}
}

TEST(serials_do_not_repeat)
{
	struct identity as = wish(ROLE_LM), one, two;
	struct pki_creds c = issue(&as, &one), d = issue(&as, &two);

	ck_assert_mem_ne(one.serial, two.serial, SERIAL_BYTES);
	pki_creds_done(&c);
	pki_creds_done(&d);
}

TEST(nothing_lasts_longer_than_the_ca)
{
	struct identity as = wish(ROLE_SM), issued;
	struct pki_creds c;

	as.wall_not_after = INT64_MAX;
	c = issue(&as, &issued);
	ck_assert_int_eq(issued.wall_not_after, pki_ca_wall_not_after(ca));
	pki_creds_done(&c);
}

static int try_issue(const void *csr, size_t n, const struct identity *as)
{
	struct buf cert = BUF_INIT(PKI_DER_MAX_BYTES);
	int rc = pki_ca_issue(ca, bytes_at(csr, n), as, &cert, NULL);

	ck_assert(rc ? cert.n == 0 : cert.n > 0);
	buf_done(&cert);
	return rc;
}

/* A request for `pub`, signed by `signer`. */
static struct buf request(EVP_PKEY *pub, EVP_PKEY *signer)
{
	struct buf out = BUF_INIT(PKI_DER_MAX_BYTES * 2);
	X509_REQ *req = X509_REQ_new();
	uint8_t *der = NULL;
	int n;

	X509_REQ_set_pubkey(req, pub);
	X509_REQ_sign(req, signer, EVP_sha256());
	n = i2d_X509_REQ(req, &der);
	buf_put(&out, der, (size_t)n);
	OPENSSL_free(der);
	X509_REQ_free(req);
	return out;
}

TEST(a_request_must_prove_that_it_holds_its_key)
{
	EVP_PKEY *mine = EVP_EC_gen("P-256"), *theirs = EVP_EC_gen("P-256");
	struct identity as = wish(ROLE_LM);
	struct buf good = request(mine, mine), stolen = request(theirs, mine);

	ck_assert_int_eq(try_issue(good.p, good.n, &as), 0);
	ck_assert_int_eq(try_issue(stolen.p, stolen.n, &as), -ERR_DENIED);
	for (size_t cut = 0; cut < good.n; cut++)
		ck_assert_int_lt(try_issue(good.p, cut, &as), 0);
	buf_putc(&good, 0);
	ck_assert_int_lt(try_issue(good.p, good.n, &as), 0);
	for (size_t i = 0; i < stolen.n; i++) {
		stolen.p[i] ^= 1;
		ck_assert_int_lt(try_issue(stolen.p, stolen.n, &as), 0);
		stolen.p[i] ^= 1;
	}
	buf_done(&good);
	buf_done(&stolen);
	EVP_PKEY_free(mine);
	EVP_PKEY_free(theirs);
}

TEST(other_kinds_of_keys_are_refused)
{
	EVP_PKEY *p384 = EVP_EC_gen("P-384"),
		 *rsa = EVP_RSA_gen(1024) /* more would take seconds on a busy machine */;
	struct buf a = request(p384, p384), b = request(rsa, rsa);
	struct identity as = wish(ROLE_LM);

	ck_assert_int_eq(try_issue(a.p, a.n, &as), -ERR_DENIED);
	ck_assert_int_eq(try_issue(b.p, b.n, &as), -ERR_DENIED);
	buf_done(&a);
	buf_done(&b);
	EVP_PKEY_free(p384);
	EVP_PKEY_free(rsa);
}

TEST(an_impossible_identity_is_not_issued)
{
	EVP_PKEY *k = EVP_EC_gen("P-256");
	struct buf csr = request(k, k);
	struct identity as = wish(ROLE_LM);

	as.role = ROLE_NONE;
	ck_assert_int_eq(try_issue(csr.p, csr.n, &as), -ERR_INVALID);
	as = wish(ROLE_LM);
	as.host[0] = '\n';
	ck_assert_int_eq(try_issue(csr.p, csr.n, &as), -ERR_INVALID);
	as = wish(ROLE_LM);
	as.wall_not_before = as.wall_not_after;
	ck_assert_int_eq(try_issue(csr.p, csr.n, &as), -ERR_INVALID);
	buf_done(&csr);
	EVP_PKEY_free(k);
}

static int reopen(struct err *e)
{
	struct pki_ca *again = NULL;
	int rc = pki_ca_open(dir, "me", &again, e);

	pki_ca_free(again);
	return rc;
}

TEST(a_key_that_others_can_read_is_refused_with_the_remedy)
{
	char path[FILE_PATH_BYTES];
	struct err e = { 0 };

	in_dir(path, "ca.key");
	ck_assert_int_eq(chmod(path, 0640), 0);
	ck_assert_int_eq(reopen(&e), -ERR_DENIED);
	ck_assert_msg(strstr(e.text, "chmod 600") != NULL, "%s", e.text);
	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert_int_eq(reopen(NULL), 0);
	ck_assert_int_eq(chmod(dir, 0755), 0);
	ck_assert_int_eq(reopen(NULL), -ERR_DENIED);
	ck_assert_int_eq(chmod(dir, 0700), 0);
}

TEST(half_a_ca_is_not_silently_replaced)
{
	char key[FILE_PATH_BYTES], cert[FILE_PATH_BYTES];
	struct err e = { 0 };

	in_dir(key, "ca.key");
	in_dir(cert, "ca.crt");
	ck_assert_int_eq(unlink(key), 0);
	ck_assert_int_eq(reopen(&e), -ERR_INVALID);
	ck_assert_int_eq(file_write_atomic(key, "nonsense", 8, NULL), 0);
	ck_assert_int_eq(reopen(&e), -ERR_PARSE);
	/* The crash between the two files of a first start. */
	ck_assert_int_eq(unlink(cert), 0);
	ck_assert_int_eq(reopen(&e), 0);
}

TEST(a_key_of_another_ca_is_noticed)
{
	EVP_PKEY *k = EVP_EC_gen("P-256");
	char *pem = pkey_to_pem(k), key[FILE_PATH_BYTES];

	in_dir(key, "ca.key");
	ck_assert_int_eq(file_write_atomic(key, pem, strlen(pem), NULL), 0);
	ck_assert_int_eq(reopen(NULL), -ERR_INVALID);
	pem_wipe_free(pem);
	EVP_PKEY_free(k);
}

TEST(credentials_are_stored_privately_and_loaded_again)
{
	struct identity as = wish(ROLE_LM);
	struct pki_creds c = issue(&as, NULL), got;
	char sub[FILE_PATH_BYTES], path[FILE_PATH_BYTES];
	struct err e = { 0 };

	in_dir(sub, "sub");
	ck_assert_int_eq(pki_creds_load(sub, &got, &e), -ERR_NOTFOUND);
	ck_assert_int_ne(access(sub, F_OK), 0);
	ck_assert_msg(!pki_creds_store(sub, &c, &e), "%s", e.text);
	ck_assert_uint_eq(mode_of("sub"), 0700);
	ck_assert_uint_eq(mode_of("sub/key.pem"), 0600);
	ck_assert_msg(!pki_creds_load(sub, &got, &e), "%s", e.text);
	ck_assert_str_eq(got.cert_pem, c.cert_pem);
	ck_assert_str_eq(got.key_pem, c.key_pem);
	ck_assert_str_eq(got.ca_pem, c.ca_pem);
	pki_creds_done(&got);
	in_dir(path, "sub/key.pem");
	ck_assert_int_eq(chmod(path, 0604), 0);
	ck_assert_int_eq(pki_creds_load(sub, &got, &e), -ERR_DENIED);
	ck_assert_int_eq(chmod(path, 0600), 0);
	in_dir(path, "sub/cert.pem");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(pki_creds_load(sub, &got, &e), -ERR_NOTFOUND);
	pki_creds_done(&c);
}

#define STORERS 3
#define STORES 20
#define TURN_MAX_NS (60 * NSEC_PER_SEC)

/*
 * On a loaded machine many others may come first: a client that gets ERR_AGAIN retries, as daemons
 * do.
 */
static int store_in_turn(const char *sub, const struct pki_creds *c)
{
	nsec_t end = clock_mono() + TURN_MAX_NS;
	int rc;

	do
		rc = pki_creds_store(sub, c, NULL);
	while (rc == -ERR_AGAIN && clock_mono() < end);
	return rc;
}

static void store_often(const char *sub, const struct pki_creds *c)
{
	for (int i = 0; i < STORES; i++)
		if (store_in_turn(sub, c))
			_exit(1);
	_exit(0);
}

static void check_stored(const char *sub)
{
	nsec_t end = clock_mono() + TURN_MAX_NS;
	struct pki_creds got;
	struct err e = { 0 };
	int rc;

	do
		rc = pki_creds_load(sub, &got, &e);
	while (rc == -ERR_AGAIN && clock_mono() < end);
	ck_assert_msg(!rc, "%s", e.text);
	ck_assert_msg(!pki_creds_check(&got, NULL, clock_wall(), NULL, &e), "%s", e.text);
	pki_creds_done(&got);
}

TEST(concurrent_stores_leave_credentials_of_one_process)
{
	struct identity as = wish(ROLE_FACTORY);
	struct pki_creds c[STORERS];
	pid_t pid[STORERS];
	char sub[FILE_PATH_BYTES];
	int status, ended = 0;

	in_dir(sub, "sub");
	for (int i = 0; i < STORERS; i++)
		c[i] = issue(&as, NULL);
	ck_assert_int_eq(pki_creds_store(sub, &c[0], NULL), 0);
	for (int i = 0; i < STORERS; i++) {
		pid[i] = fork();
		ck_assert_int_ge(pid[i], 0);
		if (!pid[i])
			store_often(sub, &c[i]);
	}
	while (ended < STORERS) {
		check_stored(sub);
		if (waitpid(pid[ended], &status, WNOHANG) != pid[ended])
			continue;
		ck_assert_int_eq(status, 0);
		ended++;
	}
	check_stored(sub);
	for (int i = 0; i < STORERS; i++)
		pki_creds_done(&c[i]);
}

/* From now on this process is on a file system that has no locks. */
static void lose_locks(int as)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_flock, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)as),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_LEN(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(0); /* no sandbox can be made here */
}

static void store_and_load(const char *sub, const struct pki_creds *c, int as)
{
	struct pki_creds got;
	struct err e = { 0 };

	lose_locks(as);
	if (pki_creds_store(sub, c, &e) || pki_creds_load(sub, &got, &e) || *e.text)
		_exit(1);
	pki_creds_done(&got);
	_exit(0);
}

TEST(credentials_are_stored_and_loaded_without_file_locks)
{
	static const int as[] = { ENOSYS, EOPNOTSUPP, ENOLCK };
	struct identity who = wish(ROLE_LM);
	struct pki_creds c = issue(&who, NULL);
	char sub[FILE_PATH_BYTES];
	int status;

	in_dir(sub, "sub");
	for (size_t i = 0; i < ARRAY_LEN(as); i++) {
		pid_t child = fork();

		ck_assert_int_ge(child, 0);
		if (!child)
			store_and_load(sub, &c, as[i]);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_int_eq(status, 0);
	}
	pki_creds_done(&c);
}

TEST(bad_credentials_are_distinguished_with_remedies)
{
	struct identity as = wish(ROLE_LM);
	struct pki_creds c = issue(&as, NULL), d = issue(&as, NULL);
	struct pki_creds mixed = { c.cert_pem, d.key_pem, c.ca_pem };
	struct pki_creds broken = { (char *)(uintptr_t) "x", c.key_pem, c.ca_pem };
	struct test_ca other;
	struct pki_creds foreign, wrong_ca;
	struct err e = { 0 };

	ck_assert_int_eq(pki_creds_check(&mixed, NULL, clock_wall(), NULL, &e), -ERR_INVALID);
	ck_assert_int_eq(pki_creds_check(&broken, NULL, clock_wall(), NULL, &e), -ERR_PARSE);
	ck_assert_int_eq(pki_creds_check(&c, NULL, clock_wall() + 2 * DAY, NULL, &e), -ERR_TIMEOUT);
	ck_assert_msg(strstr(e.text, "enrol again") != NULL, "%s", e.text);
	ck_assert_int_eq(pki_creds_check(&c, NULL, clock_wall() - 2 * DAY, NULL, &e), -ERR_INVALID);
	ck_assert_msg(strstr(e.text, "clock") != NULL, "%s", e.text);
	test_ca_new(&other, "other");
	foreign = test_creds(&other, &LM_SPEC);
	ck_assert_int_eq(pki_creds_check(&foreign, NULL, clock_wall(), NULL, NULL), 0);
	ck_assert_int_eq(pki_creds_check(&foreign, pki_ca_pin(ca), clock_wall(), NULL, &e),
			 -ERR_DENIED);
	wrong_ca = (struct pki_creds){ foreign.cert_pem, foreign.key_pem, c.ca_pem };
	ck_assert_int_eq(pki_creds_check(&wrong_ca, NULL, clock_wall(), NULL, &e), -ERR_INVALID);
	pki_creds_done(&foreign);
	test_ca_done(&other);
	pki_creds_done(&c);
	pki_creds_done(&d);
}

TEST(pins_are_checked_as_people_copy_them)
{
	char pin[PKI_PIN_BYTES];

	ck_assert(pki_pin_is_valid(pki_ca_pin(ca)));
	ck_assert(!pki_pin_is_valid(""));
	str_copy(pin, sizeof(pin), pki_ca_pin(ca));
	pin[25] = 0;
	ck_assert(!pki_pin_is_valid(pin));
}

TEST(every_allocation_of_ours_may_fail)
{
	struct identity as = wish(ROLE_LM);
	struct pki_creds c = issue(&as, NULL);
	char sub[FILE_PATH_BYTES];

	in_dir(sub, "sub");
	ck_assert_int_eq(pki_creds_store(sub, &c, NULL), 0);
	ALLOC_SWEEP (k) {
		struct pki_creds got = { 0 };
		struct pki_ca *again = NULL;
		struct pki_key *key = NULL;
		struct buf csr = BUF_INIT(PKI_DER_MAX_BYTES), cert = BUF_INIT(PKI_DER_MAX_BYTES);
		int rc = pki_creds_load(sub, &got, NULL);

		if (!rc)
			rc = pki_creds_store(sub, &got, NULL);
		if (!rc)
			rc = pki_ca_open(dir, "me", &again, NULL);
		if (!rc)
			rc = pki_key_new(&key, NULL);
		if (!rc)
			rc = pki_csr_make(key, &csr, NULL);
		if (!rc)
			rc = pki_ca_issue(again, buf_bytes(&csr), &as, &cert, NULL);
		alloc_sweep_pause();
		ck_assert(!rc || alloc_sweep_has_failed());
		pki_creds_done(&got);
		pki_ca_free(again);
		pki_key_free(key);
		buf_done(&csr);
		buf_done(&cert);
	}
	pki_creds_done(&c);
}

SUITE_WITH("net/pki", set_up, clean_up)
