/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root of the monitor: tools, sms, and lms that no sm serves, connected to the directory and
 * the engines. Loop, context of channels and a few functions are parameters: the same code runs
 * over TLS and in memory. One thread. Callbacks run in the loop only.
 */
#ifndef MAINSM_MAINSM_H
#define MAINSM_MAINSM_H

#include "common/authority/tokens.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/omis/text/value.h"
#include "mainsm/directory/sites.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAINSM_CERT_LIFETIME_NS (INT64_C(90) * 86400 * NSEC_PER_SEC)
#define MAINSM_SM_TOKEN_NS (600 * NSEC_PER_SEC) /* a batch system may delay a task */
/* a host that was lost for this time is removed */
#define MAINSM_FORGET_NODE_NS (3600 * NSEC_PER_SEC)

struct disk;
struct loop;
struct mainsm;
struct net_ctx;
struct pki_ca;
struct pki_creds;
struct rng;
struct spooler_turns;
struct timebase;

/* Pointers are borrowed and must outlive the mainsm; strings and sites are copied. */
struct mainsm_conf {
	struct loop *loop;
	struct rng *rng;
	struct timebase *timebase; /* the root */
	struct net_ctx *ctx;
	struct pki_ca *ca; /* NULL: no enrolment */
	uint64_t epoch; /* wall ns of this start */
	const char *state_dir; /* NULL = nothing is kept */
	const char *listen; /* numeric address */
	uint16_t port; /* 0 = the system chooses */
	/* for sites without one; "" or "none": lms are served without an sm */
	const char *launcher;
	const struct site_conf *site;
	size_t nsite;
	nsec_t cert_lifetime; /* 0 = the default */
	size_t tool_queue_cap; /* bytes towards one tool; 0 = TOOL_QUEUE_MAX_BYTES */
	nsec_t history_keep; /* time for which samples of jobs are kept; 0 = none are made */
	uint64_t history_bytes; /* limit of their size on disk; 0 = no history */
	const struct disk *disk; /* of the state directory; NULL = the system's */
	const struct spooler_turns *history_turns; /* for tests: instead of a thread */
	nsec_t linger; /* ends after this time without a connection; 0 = never */
	nsec_t (*wall_now)(void *arg);
	/* Starts the sm of a site, which enrols with the token. NULL: impossible. */
	int (*start_sm)(void *arg, const struct site *site, const char *launcher,
			const struct token_text *token, struct err *e);
	/* Writes a connection string with that token. NULL: none is issued. */
	int (*connection)(void *arg, const struct token_text *token, struct buf *out);
	/* Writes values of the process for the status service: [name, value]... May be NULL. */
	void (*health)(void *arg, struct omis_writer *w);
	/* A tool has stopped all daemons, or mainsm has lingered long enough. */
	void (*on_end)(void *arg, const char *reason);
	void *arg; /* argument of all callbacks */
};

/* Reads its state and listens. ERR_SYS, ERR_PARSE, ERR_DENIED, ERR_INVALID, ERR_NOMEM. */
int mainsm_open(const struct mainsm_conf *conf, struct mainsm **out, struct err *e);

/* Sends BYE on all links. Call mainsm_free() later, so that the frames can be sent. */
void mainsm_close(struct mainsm *m, const char *reason);
void mainsm_free(struct mainsm *m);

/* Returns the actual port. */
uint16_t mainsm_port(const struct mainsm *m);

struct tokens *mainsm_tokens(struct mainsm *m);

/* The launcher of that site's sm ended before the sm connected. */
void mainsm_start_failed(struct mainsm *m, const char *site, const char *why);

/*
 * Applies new values of a reload, all or none: sites (added or changed), linger, and the
 * certificate shown to peers; creds: NULL = unchanged. New values are copied.
 */
int mainsm_reload(struct mainsm *m, const struct mainsm_conf *conf, const struct pki_creds *creds,
		  struct err *e);

/* Values of omig_status(): name, version, uptime_ns, [name, value]... */
void mainsm_status(struct mainsm *m, struct buf *out);

/* Lines of text for the status dump. */
void mainsm_dump(struct mainsm *m, struct buf *out);

#endif
