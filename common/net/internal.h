/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this room. */
#ifndef COMMON_NET_INTERNAL_H
#define COMMON_NET_INTERNAL_H

#include "common/base/buf.h"
#include "common/base/rng.h"
#include "common/container/list.h"
#include "common/loop/loop.h"
#include "common/net/chan.h"
#include "common/net/identity.h"
#include "common/net/mem.h"
#include "common/net/net.h"
#include "common/net/pki.h"
#include "proto/frame.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>

/* --- certificates (pki_*.c). The caller frees returned X509 * and EVP_PKEY *. */

/* Returns -ERR_INTERNAL or -ERR_NOMEM with OpenSSL's text, and empties OpenSSL's error queue. */
int crypto_failed(struct err *e, const char *what);

X509 *x509_from_der(const void *p, size_t n, struct err *e);
X509 *x509_from_pem(const char *pem, const char *what, struct err *e);
int x509_to_der(const X509 *cert, struct buf *out, struct err *e);
char *x509_to_pem(X509 *cert);
int x509_pin(char out[PKI_PIN_BYTES], const X509 *ca, struct err *e);
int x509_wall_not_after(nsec_t *out, const X509 *cert);
int identity_from_x509(struct identity *out, const X509 *cert, struct err *e);
char *bio_text(BIO *b);

bool pkey_is_p256(const EVP_PKEY *k);
char *pkey_to_pem(EVP_PKEY *k);
EVP_PKEY *pkey_from_pem(const char *pem, const char *what, struct err *e);
EVP_PKEY *pki_key_peek(const struct pki_key *k);
EVP_PKEY *csr_check(const void *der, size_t n, struct err *e);
void pem_wipe_free(char *pem);
/* True if a daemon of that role accepts connections. */
bool role_listens(enum role r);

struct creds_parsed {
	X509 *cert, *ca;
	EVP_PKEY *key;
};

int creds_parse(struct creds_parsed *out, const struct pki_creds *c, struct err *e);
int creds_check(const struct creds_parsed *p, const char *pin, nsec_t wall, struct identity *out,
		struct err *e);
void creds_parsed_done(struct creds_parsed *c);

/* --- admitted peers (admit.c, verify.c) */

/* The rules for peers: a copy of a struct net_expect, or the rules of a listener. */
struct admit {
	unsigned roles;
	char *site, *host; /* NULL: any; owned */
	char pin[PKI_PIN_BYTES]; /* "": the CA of the context */
};

int admit_init(struct admit *a, const struct net_expect *x, struct err *e);
void admit_done(struct admit *a);
int admit_identity(const struct admit *a, const struct identity *id, struct err *e);

/* Reason why a certificate was refused, which is sent to the peer as the alert. */
struct verdict {
	struct err why;
	int x509_error;
};

/* The certificates of a peer. */
struct presented {
	X509 *leaf; /* NULL: the peer has sent none */
	STACK_OF(X509) * others;
};

/*
 * Checks all rules for a peer's certificates. ctx has our CA (unless the pin in `a` selects another
 * one), revoked serials and the clock. Sets *id to the identity.
 */
int verify_peer(const struct net_ctx *ctx, const struct admit *a, const struct presented *shown,
		struct identity *id, struct verdict *v);

/* --- contexts (ctx.c) */

struct net_ctx_ops {
	int (*dial)(struct net_ctx *ctx, const struct net_target *to, const struct chan_handler *h,
		    struct chan **out, struct err *e);
	int (*listen)(struct net_ctx *ctx, const struct net_listen_conf *conf,
		      const struct net_accept *a, struct net_listener **out, struct err *e);
	/* Uses these credentials, which are checked already, for the next handshakes. */
	int (*reload)(struct net_ctx *ctx, struct creds_parsed *creds, struct err *e);
	void (*done)(struct net_ctx *ctx);
};

struct net_ctx {
	const struct net_ctx_ops *ops;
	struct loop *loop;
	nsec_t (*wall_now)(void *arg);
	void *wall_arg;
	nsec_t check_period;
	struct loop_timer *check_timer;
	struct list chans; /* entries: struct chan.at */
	size_t users; /* channels and listeners whose memory is not freed yet */
	bool freed; /* freed by its owner: the last user frees the memory */
	struct serial_set *revoked;
	bool has_self;
	struct identity self;
	char pin[PKI_PIN_BYTES]; /* pin of our CA; "" without credentials */
	/* TLS */
	SSL_CTX *server, *client, *enrol; /* server, client: NULL without credentials */
	BIO_METHOD *sock_method;
	X509 *ca;
	/* for a network in memory */
	struct mem_net *mem;
	struct list at, at_place; /* entries of mem's contexts, and of the contexts of its host */
	struct list listeners; /* listeners in memory */
	char *mem_host; /* owned */
	struct mem_place *place; /* borrowed from mem */
};

int ctx_new(struct loop *l, const struct net_ctx_ops *ops, const struct net_conf *conf,
	    struct net_ctx **out, struct err *e);
void ctx_use(struct net_ctx *ctx);
void ctx_unuse(struct net_ctx *ctx);
static inline nsec_t ctx_wall(const struct net_ctx *ctx)
{
	return ctx->wall_now(ctx->wall_arg);
}

/* admit.c: true if it is not expired and not revoked; otherwise v->x509_error has the reason. */
int ctx_admits(const struct net_ctx *ctx, const struct identity *id, struct verdict *v);

/* --- channels (chan.c) */

struct chan_ops {
	int (*send)(struct chan *c, const uint8_t *frame,
		    size_t n); /* state and cap are checked before */
	size_t (*queued)(const struct chan *c);
	void (*pause)(struct chan *c); /* called when c->paused has changed */
	void (*stop)(struct chan *c); /* ends input and output; queued frames that fit are sent */
	void (*role_known)(struct chan *c); /* this and the following two may be NULL */
	void (*set_rcvlowat)(struct chan *c);
	void (*poll)(struct chan *c); /* called if the channel is open and not paused */
	/* called at the end of the turn: frees all but the common part */
	void (*free)(struct chan *c);
};

enum chan_state {
	CHAN_MAKING, /* dialling, or in the handshake */
	CHAN_UP,
	CHAN_DOWN, /* stopped; CHAN_CLOSED was reported or will be */
	CHAN_GONE, /* chan_close() was called */
};

#define REMOTE_BYTES 64

struct chan {
	const struct chan_ops *ops;
	struct loop *loop;
	struct net_ctx *ctx; /* NULL: a pair in memory */
	struct list at; /* entry of ctx->chans */
	enum chan_state state;
	struct chan_handler h;
	struct frame_in in;
	struct loop_job job; /* reports the end, or frees the channel */
	struct err *why; /* reason of the end, until it is reported; owned */
	size_t cap;
	nsec_t stall_max;
	nsec_t frame_since; /* time of the first byte of an incomplete frame; 0: none */
	bool paused, enrol, was_full, has_peer;
	uint8_t only_type; /* the only permitted type of frames, for an enrolling peer; 0: any */
	struct identity peer;
	struct chan_stats stats;
	char remote[REMOTE_BYTES];
};

void chan_init(struct chan *c, const struct chan_ops *ops, struct loop *l, struct net_ctx *ctx);

/* Marks the peer as verified (id NULL: it enrols), without a callback. */
void chan_up(struct chan *c, const struct identity *id);

/*
 * Adds received bytes, and calls back for each complete frame. Fails if the stream is broken; *e
 * has the reason.
 */
int chan_feed(struct chan *c, const uint8_t *p, size_t n, struct err *e);
/* Delivers the frames that have arrived, unless paused or closed. */
int chan_deliver(struct chan *c, struct err *e);
#define IDLE_KEEP_BYTES 4096 /* largest buffer that an idle channel keeps */
/*
 * Shrinks the buffer of a channel when all input is read, because one large message must not keep
 * it large.
 */
void chan_give_back_input(struct chan *c);
/* Called when the queue has room: reports CHAN_WRITABLE if the owner waits for it. */
void chan_drained(struct chan *c);

/*
 * Stops the channel and notifies its owner: now, from the loop, or, if `later`, at the end of the
 * turn.
 */
void chan_fail(struct chan *c, const struct err *why);
void chan_fail_later(struct chan *c, const struct err *why);

/* --- listeners */

struct listener_ops {
	void (*close)(struct net_listener *l);
	uint16_t (*port)(const struct net_listener *l);
	void (*stats)(const struct net_listener *l, struct net_listener_stats *out);
	void (*penalise)(struct net_listener *l, const struct chan *c);
};

/* The first member of each kind of listener. */
struct net_listener {
	const struct listener_ops *ops;
	struct net_ctx *ctx;
	struct net_accept accept;
};

/* --- networks in memory (mem.c: channels; mem_net.c: contexts, listeners, links) */

/* A host, which outlives its contexts. */
struct mem_place {
	struct list ctxs; /* entries: struct net_ctx.at_place */
	struct loop *loop; /* loop of its channels; NULL: the network's loop; borrowed */
	struct mem_pace pace;
	struct mem_load load;
	const struct mem_tap *tap; /* NULL: none; borrowed */
	nsec_t busy_until; /* end of the time for handling received frames */
	nsec_t sending_until; /* end of the time for sending frames */
};

struct mem_chan {
	struct chan c; /* first */
	struct mem_chan *peer; /* NULL: closed, or not connected yet */
	struct mem_link how; /* rules of a pair; other channels use the network's rules */
	/* result of the last lookup, for the rules with this number; borrowed */
	const struct mem_link *link;
	uint64_t rules; /* 0: no lookup yet */
	char *here, *there; /* names of the hosts; owned; NULL in a pair */
	struct rng rng; /* for a pair */
	struct loop_timer *timer;
	struct list in, out; /* struct mem_packet: in transit to this end; waiting for room */
	size_t in_bytes, out_bytes, out_n;
	nsec_t last_due; /* time of arrival of our last frame, which keeps the order */
	struct mem_dial *dial; /* NULL once connected or failed; owned */
};

struct mem_dial {
	struct admit admit;
	uint16_t port;
	nsec_t give_up_at;
};

struct mem_chan *mem_chan_new(struct loop *l, struct net_ctx *ctx, const char *here,
			      const char *there);
void mem_chan_join(struct mem_chan *a, struct mem_chan *b);
/* Checks again, because the rules of the link have changed */
void mem_chan_kick(struct mem_chan *m);
/* Ends the channel: the peer gets a reset, and this end no callback. */
void mem_chan_crash(struct mem_chan *m);
/*
 * Returns a number, not 0, that changes with each change of rules. Earlier results of
 * mem_net_link() are then invalid.
 */
uint64_t mem_net_rules(const struct mem_net *m);
const struct mem_link *mem_net_link(const struct mem_net *m, const char *a, const char *b);
/* Returns a random number in [0, 1). */
double mem_net_random(struct mem_net *m);
void mem_dial_settle(struct mem_chan *m);

/* --- TLS */

#define ALPN_OMIG "omig/1"
#define ALPN_ENROL "omig-enrol/1"

/* A socket for TLS (bio.c), which raises no SIGPIPE and stores errors of the kernel. */
struct sock_bio {
	int fd; /* owned by the channel; -1 */
	bool drained; /* the last read returned less than it requested */
	bool blocked; /* a read found no input; cleared before the next turn of reading */
	uint64_t sends;
	uint8_t head[5]; /* header of the TLS record that is being read */
	unsigned nhead;
	uint32_t body_left; /* bytes of the record behind its header that are still missing */
};

BIO_METHOD *sock_bio_method_new(void);
/* True if the input so far ends with a complete record. */
bool sock_bio_is_between(const struct sock_bio *s);
BIO *sock_bio_new(BIO_METHOD *m, struct sock_bio *s);

/* TCP_NODELAY, TCP_USER_TIMEOUT (sock.c) */
int sock_tune(int fd, struct err *e);
/*
 * Makes the kernel wake only if so many bytes wait. A kernel without this option wakes more often.
 */
void sock_wake_at(int fd, int bytes);
/* Returns the time since data arrived last; -1 if the kernel does not report it. */
nsec_t sock_data_age(int fd);
void sock_name(char out[REMOTE_BYTES], const struct sockaddr_storage *a);
/* Accepts numeric addresses only. "[::1]" and "::1" are the same. Fails with ERR_INVALID. */
int sock_addr(struct sockaddr_storage *out, socklen_t *n, const char *host, uint16_t port,
	      struct err *e);
bool sock_is_loopback(const struct sockaddr_storage *a);
/* Returns the IPv4 address, or the /64 of an IPv6 address, which identifies one subscriber. */
uint64_t sock_source_key(const struct sockaddr_storage *a);

#define DIAL_ADDRS_MAX 8

struct addrs {
	struct sockaddr_storage at[DIAL_ADDRS_MAX];
	socklen_t n[DIAL_ADDRS_MAX];
	unsigned count, next;
};

/*
 * A look-up of a name in a thread (resolve.c). The loop calls fn once, unless it is cancelled
 * before.
 */
struct resolve;
struct resolve *resolve_start(struct loop *l, const struct net_target *to,
			      void (*fn)(void *arg, const struct addrs *found, const char *why_not),
			      void *arg, struct err *e);
void resolve_cancel(struct resolve *r);

/* Members that are needed only until the peer is verified. */
struct handshake {
	struct admit admit;
	struct verdict verdict; /* reason why we have refused the peer */
	struct identity id;
	bool verified;
	bool has_hello; /* the server has read a complete ClientHello */
	struct addrs addrs; /* addresses to dial */
	struct resolve *resolve;
	struct err last; /* failure of the last address that was tried */
};

struct tls_listener;

struct tls_chan {
	struct chan c; /* first */
	SSL *ssl;
	struct sock_bio sock;
	struct loop_fd *watch;
	struct loop_timer *timer;
	struct loop_job pump; /* continues reading and flushes at the end of the turn */
	struct handshake *hs; /* NULL once up; owned */
	struct buf out;
	size_t out_at; /* bytes of `out` that were sent */
	nsec_t timer_at; /* time for which the timer is set; 0: not set */
	nsec_t give_up_at; /* end of the handshake, or of an enrolment; 0: none */
	nsec_t shook_at; /* time of the peer's last message in the handshake */
	nsec_t stalled_since; /* start of the time without output; 0: none */
	nsec_t post_since; /* start of the period in which handshake messages are counted */
	unsigned post_count;
	bool server, broken, write_blocked, read_wants_write, more_to_read;
	bool has_rcvlowat; /* chan_set_rcvlowat() was called */
	bool is_rcvlowat_raised; /* the socket is set accordingly */
	/* accepted and not verified yet, so that the listener counts it */
	struct tls_listener *listener;
	struct list half_open;
	struct source *source;
};

/* tls_words.c: called before each TLS call, so that SSL_get_error() reports that call only */
void tls_forget_errors(void);
/* Sets *e to the reason why a TLS call ended with `ret`. */
int tls_end(struct tls_chan *t, int ret, const char *doing, struct err *e);
/* True if the peer broke the protocol or failed verification; false if it only disconnected. */
bool tls_is_bad_auth(const struct tls_chan *t, const struct err *why);

/* tls_chan.c */
struct tls_chan *tls_chan_new(struct net_ctx *ctx, bool server, struct err *e);
void tls_deadline(struct tls_chan *t); /* arms the timer for the earliest deadline */
void tls_watch(struct tls_chan *t); /* watches for the events that an open channel waits for */
void tls_on_ready(void *arg, unsigned what);
void tls_resume(struct tls_chan *t); /* reads and flushes at the end of the turn */
void tls_handshake_done(struct tls_chan *t); /* frees the state of the handshake */
void tls_fail(struct tls_chan *t, const struct err *why);

/* True if the peer has sent bytes that were not read. */
bool sock_has_input(int fd);

/* tls_shake.c: called when the socket is connected */
int tls_shake_start(struct tls_chan *t, struct err *e);
void tls_shake(struct tls_chan *t);
int tls_verify_cb(X509_STORE_CTX *sc, void *arg);
int tls_hello_cb(SSL *ssl, int *alert, void *arg);
int tls_alpn_cb(SSL *ssl, const unsigned char **out, unsigned char *outn, const unsigned char *in,
		unsigned inn, void *arg);

/* tls_dial.c, tls_listen.c */
int tls_dial(struct net_ctx *ctx, const struct net_target *to, const struct chan_handler *h,
	     struct chan **out, struct err *e);
void tls_dial_ready(struct tls_chan *t);
int tls_listen(struct net_ctx *ctx, const struct net_listen_conf *conf, const struct net_accept *a,
	       struct net_listener **out, struct err *e);
bool tls_listener_enrols(const struct tls_listener *l);
/* Passes the channel of a verified peer to the owner. */
void tls_listener_accepted(struct tls_chan *t);
void tls_listener_refused(struct tls_chan *t, const struct err *why);
/* The channel no longer counts as half-open. */
void tls_listener_release(struct tls_chan *t);

/* sources.c: half-open connections and offences by address */
struct source {
	uint64_t key;
	unsigned half_open, failures;
	nsec_t penalty_until, last;
};
struct sources;
struct sources *sources_new(void);
void sources_free(struct sources *s);
/* Returns NULL without memory, or if there are too many sources at once. */
struct source *sources_get(struct sources *s, uint64_t key, nsec_t now);
void source_failed(struct source *s, nsec_t now);
void source_punish(struct source *s, nsec_t now, nsec_t penalty);
bool source_is_punished(const struct source *s, nsec_t now);

#endif
