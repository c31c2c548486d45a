/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failure detectors: one process sends heartbeats, and others suspect this process if no heartbeat
 * arrives. They log `startSuspect` and `stopSuspect` (content: the monitored process). With
 * fd.log_delay they also log `delay` for each heartbeat (content: its delay in seconds, by the
 * clocks of both).
 */
#ifndef NEKO_ALGORITHMS_FD_H
#define NEKO_ALGORITHMS_FD_H

#include "neko/core/limits.h"
#include "neko/core/neko.h"
#include "neko/core/setup.h"
#include "neko/stat/stat.h"

#define FD_HEARTBEAT 900 /* type of the messages; content: its number, 8 bytes little-endian */

#define FD_WATCH "watch" /* a detector begins; content as below */
#define FD_START "startSuspect"
#define FD_STOP "stopSuspect"
#define FD_DELAY "delay"

#define FD_TIME_MAX (INT64_C(1000000) * NSEC_PER_SEC) /* limit of eta and delta: eleven days */
#define FD_WINDOW_MAX 4096 /* heartbeats that an estimate uses */

/*
 * fd.eta: time between heartbeats; heartbeat i is sent at i eta. fd.monitored: sender of the
 * heartbeats, 1. fd.network: number of the network that carries them, 1.
 */
struct fd_params {
	nsec_t eta;
	uint32_t monitored;
	uint8_t net;
	bool is_delay_logged;
};

int fd_params(const struct neko_process *p, struct setup *s, struct fd_params *out, struct err *e);

/* Called by detectors. Fails with ERR_INVALID if the process would monitor itself. */
int fd_check_monitored(const struct neko_process *p, const struct setup *s,
		       const struct fd_params *params, struct err *e);

/* Makes a layer that sends heartbeats to all other processes. */
int fd_heartbeat(struct neko_process *p, struct setup *s, struct err *e);

/*
 * NFD-S of Chen, Toueg and Aguilera (IEEE ToC 51(5), 2002), for synchronised clocks. From each
 * freshness point i eta + fd.delta to the next one, heartbeat i or a later one must have arrived.
 */
int fd_nfds(struct neko_process *p, struct setup *s, struct err *e);

/*
 * Suspects after fd.timeout (2 eta) without any heartbeat, as TCP's keepalives and most daemons do.
 */
int fd_silence(struct neko_process *p, struct setup *s, struct err *e);

/*
 * NFD-E of the same paper: clocks need not be synchronised. The last fd.window (32) heartbeats
 * predict the next arrival, and fd.alpha is added.
 */
int fd_nfde(struct neko_process *p, struct setup *s, struct err *e);

/*
 * Bertier, Marin and Sens (DSN 2002): NFD-E with a margin that follows the error of the prediction,
 * like the time-out of TCP: fd.gamma (0.1), fd.beta (1), fd.phi (4).
 */
int fd_adaptive(struct neko_process *p, struct setup *s, struct err *e);

/*
 * phi-accrual (Hayashibara, Défago, Yared and Katayama, SRDS 2004). A process is suspected when the
 * probability of a later heartbeat is below 10^-fd.threshold (8). The last fd.window (1000)
 * heartbeats give the distribution.
 */
int fd_phi(struct neko_process *p, struct setup *s, struct err *e);

/*
 * Called by layers of detectors. Returns the number in a heartbeat of the monitored process, and
 * logs its delay. Returns 0 for other messages.
 */
uint64_t fd_hear(struct neko_layer *l, const struct fd_params *params, const struct neko_msg *m);
extern const struct neko_type fd_types[];

/*
 * fd: T_M, T_MR, P_A and T_D of failure detectors, and the delay of heartbeats, over all processes
 * that log events.
 *
 *	stat.stop   = ci(0.95) < 5%    (of T_M and of T_MR; docs/stats.md has the words)
 *	stat.drop   = 100              (values of each quantity left out: the initial transient)
 *	stat.files  = run7.            (each value is a line of run7.T_M and so on; no such file
 *	                                exists yet)
 *	stat.window = 100s             (P_A: a value for each window; default 100 fd.eta)
 */
extern const struct stat_kind stat_fd;

#endif
