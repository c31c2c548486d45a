/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of a distributed algorithm. It consists of processes 1..m; a process is a stack of
 * layers, on top of networks. A layer sends to the layer below and delivers to the one above. A
 * passive layer is called; an active one has a flow of control of its own (`run`) and a queue, from
 * which it receives.
 *
 * The same source runs in a simulation and on real networks. In both only one layer of a process
 * runs at a time: between two waits (receive, sleep) no other layer of the process runs. Times
 * begin at 0, the beginning of the run.
 */
#ifndef NEKO_NEKO_H
#define NEKO_NEKO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef int64_t nsec_t; /* nanoseconds */

struct neko_process;
struct neko_layer;
struct err; /* the text of an error: neko_fail() */
struct rng;
struct neko_figures; /* receiver of values */
struct quantity; /* <omig/stats.h> */
struct setup; /* the configuration */

/* Results of waits and sends: the run ends; nothing arrived. (All values below 0 are failures.) */
#define NEKO_CLOSED (-10)
#define NEKO_TIMEOUT (-11)

#define NEKO_NEVER INT64_MAX
/* the one destination: all processes but the sender, stored without a list */
#define NEKO_OTHERS UINT32_MAX

/* Reference counted, and constant after it was sent. All members may be read. */
struct neko_msg {
	nsec_t sent_at; /* by the sender's clock; 0 before */
	uint32_t from;
	uint32_t to; /* the first destination: the only one of a unicast; NEKO_OTHERS */
	uint32_t nto;
	uint32_t refs;
	uint32_t n; /* bytes of the content */
	uint16_t type;
	uint8_t net; /* 0 is the first network */
	bool is_pooled;
	uint32_t *all; /* the nto destinations of a multicast, behind the content; NULL of a unicast
			  and to NEKO_OTHERS */
	uint32_t sent_error; /* ns: bound of the error of the sender's clock; 0 in simulations */
	__extension__ uint8_t content[]; /* not aligned */
};

/* A type of messages. The number has this name in all layers of the run. */
struct neko_type {
	uint16_t number;
	const char *name; /* valid as long as the program runs */
};

/* A kind of layer. The last members may be NULL. */
struct neko_layer_ops {
	const char *name;
	size_t bytes; /* size of its state: zero at first, freed automatically */
	/*
	 * The message types that it sends and receives. Messages of other types pass it upwards,
	 * without deliver().
	 */
	const struct neko_type *types; /* ends with a NULL name; NULL: all */
	/* The flow of control of an active layer. Must return when a wait returns NEKO_CLOSED. */
	void (*run)(struct neko_layer *l);
	/*
	 * NULL: a message is queued for an active layer, and passed up by a passive one. The caller
	 * owns m.
	 */
	void (*deliver)(struct neko_layer *l, struct neko_msg *m);
	/* NULL: passes m down. m is borrowed. */
	int (*send)(struct neko_layer *l, struct neko_msg *m);
	void (*done)(struct neko_layer *l); /* at the end of the run; the state is still there */
};

/* --- processes */

uint32_t neko_id(const struct neko_process *p);
uint32_t neko_count(const struct neko_process *p); /* m */
uint32_t neko_nets(const struct neko_process *p); /* numbers of networks are 0 .. this - 1 */

/*
 * Adds a layer on top, only before the run. *out is its state, NULL without bytes; out may be NULL.
 */
int neko_push(struct neko_process *p, const struct neko_layer_ops *ops, void *out, struct err *e);

/* --- layers */

void *neko_state(struct neko_layer *l);
struct neko_process *neko_process(struct neko_layer *l);
nsec_t neko_now(const struct neko_layer *l);

/* Returns the random numbers of the process: no other process, and no network, draws from them. */
struct rng *neko_rng(struct neko_layer *l);
double neko_random(struct neko_layer *l); /* of the same, in [0, 1) */

/*
 * Makes a message with one reference. content NULL: zeros. NULL: no memory. A wrong destination is
 * an error of neko_send().
 */
struct neko_msg *neko_msg_new(struct neko_layer *l, uint16_t type, const void *content, size_t n);
/* Makes a message to many processes; `to` is copied. */
struct neko_msg *neko_msg_many(struct neko_layer *l, const uint32_t *to, uint32_t nto,
			       uint16_t type, const void *content, size_t n);
static inline void neko_msg_ref(struct neko_msg *m)
{
	m->refs++;
}
void neko_msg_unref(struct neko_layer *l, struct neko_msg *m);

/*
 * Sends to the layer below, and finally to the network. Never waits. -ERR_INVALID: no such process,
 * network or type; -ERR_LIMIT, -ERR_NOMEM; -ERR_CLOSED if the run ends. A loss by the network is no
 * error.
 */
int neko_send(struct neko_layer *l, struct neko_msg *m);

/* Makes a message, sends it to one process over a network, and frees it. */
int neko_send_to(struct neko_layer *l, uint32_t to, uint8_t net, uint16_t type, const void *content,
		 size_t n);

/* Delivers to the layer above; the highest layer drops the message. */
void neko_deliver(struct neko_layer *l, struct neko_msg *m);

/*
 * Active layers only. Blocks until there is a message, at most for timeout (0: does not block; < 0:
 * without limit). *out is valid until the layer's next receive. NEKO_TIMEOUT; NEKO_CLOSED: the run
 * ends, return from run().
 */
int neko_receive(struct neko_layer *l, nsec_t timeout, struct neko_msg **out);

/* Active layers only. Blocks until the time, even if messages arrive. 0; NEKO_CLOSED as above. */
int neko_sleep_until(struct neko_layer *l, nsec_t at);
int neko_sleep(struct neko_layer *l, nsec_t duration);

/*
 * Reports an event of this process, now, to the handler of the run. `what` is valid as long as the
 * program runs.
 */
void neko_log(struct neko_layer *l, const char *what, double content);

#define NEKO_EVENT_MAX_BYTES 16384 /* a block of events on the way to the master has many */

/*
 * The same with any bytes, which are copied; the number is NaN. A handler may print them (print).
 * Not 0: more than NEKO_EVENT_MAX_BYTES. In real runs an event with bytes costs an allocation.
 */
int neko_log_bytes(struct neko_layer *l, const char *what, const void *p, size_t n);

/* The same for a message's delay: now - sent_at in seconds, with the error bound of both clocks. */
void neko_log_delay(struct neko_layer *l, const char *what, const struct neko_msg *m);

/* Ends the run at this time. Events of other processes up to it belong to the run. */
void neko_stop(struct neko_layer *l);

/* --- measurements of a run */

/* An event as neko_log() reported it. */
struct neko_event {
	uint32_t process;
	nsec_t at;
	const char *what;
	double content;
	nsec_t error; /* bound of the error of `at`'s clock; 0 in simulations */
	nsec_t content_error; /* as above for a content that is a time between two processes */
	const void *bytes; /* of neko_log_bytes(); NULL: none. Valid during the call */
	uint32_t n;
};

#define NEKO_CRASHED "crash" /* the world logs it: from now on the process is down */

/* A quantity. */
struct neko_row {
	const char *name, *unit; /* unit: NULL for none */
	bool is_awaited; /* by a stop rule */
};

#define NEKO_ROWS_MAX 16

/*
 * A handler: computes quantities from events, which arrive in the order of their times. Checks the
 * properties of the algorithm. The last members may be NULL. Its functions are NekoStat's (Falai,
 * Bondavalli and Di Giandomenico, 2004, figure 11).
 */
struct neko_measure {
	const char *name;
	/* NEKO_ROWS_MAX at most; ends with a NULL name. NULL: init() makes all quantities */
	const struct neko_row *rows;
	size_t bytes; /* size of its state: zero at first, freed automatically */
	void (*handle)(void *state, struct neko_figures *f, const struct neko_event *v);
	/* Once: reads the configuration and makes quantities (neko_quantity). */
	int (*init)(void *state, struct neko_figures *f, struct setup *s, struct err *e);
	int (*begin)(void *state, uint32_t m); /* of each run, with m processes; not 0: no memory */
	/* Called after each event, also of real runs. True: there is enough, and the run ends. */
	bool (*should_stop)(void *state, struct neko_figures *f);
	/* Called at the end of each run: unfinished intervals do not count. */
	void (*end)(void *state, struct neko_figures *f, nsec_t now);
	/* After all runs, before the results are shown. Not 0: neko_fail() has the reason. */
	int (*write_results)(void *state, struct neko_figures *f, struct err *e);
	/*
	 * Writes the content of an event as text with its 0, for --messages and pictures. False: as
	 * usual: a number, or the bytes with C escapes. It may be called in any state.
	 */
	bool (*print)(const struct neko_event *v, char *out, size_t cap);
	void (*done)(void *state);
};

/*
 * Makes a quantity of the results, in init() only: with the rows at most NEKO_ROWS_MAX. kind: an
 * enum quantity_kind of <omig/stats.h>, whose functions add values and set its stop condition. The
 * run owns it. A file of values is named as `stat.files` says, without it as the quantity. NULL: e
 * has the reason.
 */
struct quantity *neko_quantity(struct neko_figures *f, int kind, const char *name, const char *unit,
			       struct err *e);

/* Returns a row as a quantity, NULL beyond the last one. neko_figure() adds its values. */
struct quantity *neko_row_quantity(struct neko_figures *f, unsigned row);

/* Adds a value to a row, with the bound of its error by clocks (0: none). */
void neko_figure(struct neko_figures *f, unsigned row, double value, nsec_t error);

/* Adds a time between two events, in seconds. The error is the greatest bound of the clocks so far.
 */
void neko_figure_time(struct neko_figures *f, unsigned row, nsec_t time);

/* A property was violated: the run ends and reports the first one. */
void neko_broken(struct neko_figures *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* --- configuration: a key that no part reads is an error of the user */

/* NULL: the key is missing. */
const char *neko_setup_text(struct setup *s, const char *key);
/* *inout is the default. Not 0: the value has another type or is out of range; e has line and
 * remedy. */
int neko_setup_nsec(struct setup *s, const char *key, nsec_t min, nsec_t max, nsec_t *inout,
		    struct err *e);
int neko_setup_u64(struct setup *s, const char *key, uint64_t min, uint64_t max, uint64_t *inout,
		   struct err *e);
int neko_setup_double(struct setup *s, const char *key, double min, double max, double *inout,
		      struct err *e);
int neko_setup_bool(struct setup *s, const char *key, bool *inout, struct err *e);

/* Writes the text of an error, and returns the code for the caller to return; never 0. */
int neko_fail(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A kind of process: process.N.initializer = name. */
struct neko_kind {
	const char *name;
	const char *summary; /* one line */
	int (*init)(struct neko_process *p, struct setup *s, struct err *e); /* pushes layers */
	const struct neko_measure *measure; /* of a run with such processes; NULL: none */
};

/*
 * A shared object with algorithms, "application = ./mine.so":
 *
 *	static const struct neko_kind kinds[] = {
 *		{ "ring", "passes a token", ring_init, &ring_measure }, { 0 }
 *	};
 *	NEKO_APPLICATION(kinds)
 *
 * cc -shared -fPIC -o mine.so mine.c, and nothing to link with.
 */
#define NEKO_ABI 2
struct neko_application {
	uint32_t abi;
	uint32_t bytes[4]; /* of what it was built with */
	const struct neko_kind *kinds; /* ends with a NULL name */
};
#define NEKO_APPLICATION(kinds)                                             \
	extern const struct neko_application neko_application;              \
	const struct neko_application neko_application = {                  \
		NEKO_ABI,                                                   \
		{ sizeof(struct neko_msg), sizeof(struct neko_layer_ops),   \
		  sizeof(struct neko_measure), sizeof(struct neko_event) }, \
		kinds                                                       \
	};

/* --- networks of one's own: "network.lan.model = NAME", of the shared object above */

struct neko_net;

/* A process of a real run: the address of its host (IPv4, host order), and what open() set. */
struct neko_peer {
	uint32_t address;
	uint16_t port;
};

/*
 * A kind of network. Members may be NULL, as said. In a simulation one network carries the messages
 * of all processes. In a real run each process has its own, which carries bytes to others.
 */
struct neko_net_ops {
	const char *name;
	const char *summary; /* one line */
	size_t bytes; /* size of its state: zero at first, freed automatically */
	/* Reads its settings (neko_net_key). May be NULL. */
	int (*init)(struct neko_net *n, struct setup *s, struct err *e);

	/* --- simulated. NULL: real runs only */
	/*
	 * A message to one process is sent now. Either neko_net_arrive() or neko_net_lose() follows
	 * for it, in this call or in wake(). m is borrowed: take a reference to store it.
	 */
	void (*send)(struct neko_net *n, struct neko_msg *m, uint32_t to);
	/* The time of neko_net_wake() has come. NULL without such calls. */
	void (*wake)(struct neko_net *n, uint64_t what);

	/* --- real. All NULL: simulations only. They must not block. */
	/* Opens the end of this process; *port is for the others. Not 0: neko_fail(), and why. */
	int (*open)(struct neko_net *n, uint32_t address, uint16_t *port, struct err *e);
	/* The other ends, of process i + 1 at all[i]; valid to the end of the run. */
	void (*meet)(struct neko_net *n, const struct neko_peer *all);
	/* Returns a descriptor that is readable when there is input. */
	int (*fd)(struct neko_net *n);
	/* Bytes for one process. They may be lost. Called by the threads of layers, one at a time.
	 */
	void (*transmit)(struct neko_net *n, uint32_t to, const void *p, size_t bytes);
	/* Reads input and calls neko_net_received(). Another thread may be in transmit(). */
	void (*receive)(struct neko_net *n);

	/* Drops stored messages and closes, also without open(); may be NULL. */
	void (*done)(struct neko_net *n);
};

void *neko_net_state(struct neko_net *n);
const char *neko_net_name(const struct neko_net *n); /* "lan" */
uint32_t neko_net_count(const struct neko_net *n); /* processes */
uint32_t neko_net_id(const struct neko_net *n); /* the process of a real one; 0: simulated */

/* Returns the key of a setting, as "network.lan.slot". Valid until the next call. */
const char *neko_net_key(struct neko_net *n, const char *what);

/* Simulated ones only. `at` is not before now, else it is now. */
nsec_t neko_net_now(const struct neko_net *n);
double neko_net_random(struct neko_net *n); /* in [0, 1), of this network alone */
void neko_net_arrive(struct neko_net *n, struct neko_msg *m, uint32_t to, nsec_t at);
void neko_net_lose(struct neko_net *n, struct neko_msg *m, uint32_t to);
void neko_net_wake(struct neko_net *n, nsec_t at, uint64_t what);
void neko_net_unref(struct neko_net *n, struct neko_msg *m);

/* Real ones only, within receive(): bytes as transmit() had them, from that process. */
void neko_net_received(struct neko_net *n, uint32_t from, const void *p, size_t bytes);

/*
 *	static const struct neko_net_ops nets[] = { { .name = "slotted", ... }, { 0 } };
 *	NEKO_NETWORKS(nets)
 *
 * An object may have these, NEKO_APPLICATION(), or both.
 */
struct neko_networks {
	uint32_t abi;
	uint32_t bytes[2]; /* of what it was built with */
	const struct neko_net_ops *all; /* ends with a NULL name */
};
#define NEKO_NETWORKS(nets)                                                              \
	extern const struct neko_networks neko_networks;                                 \
	const struct neko_networks neko_networks = {                                     \
		NEKO_ABI, { sizeof(struct neko_net_ops), sizeof(struct neko_msg) }, nets \
	};

/* --- clocks of one's own, of real runs: "clock.model = NAME". Simulated processes share a clock.
 */

/*
 * A kind of clock synchronisation: computes the master's time from samples of it. Times are in
 * nanoseconds. One thread at a time calls it. It must not block.
 */
struct neko_clock_ops {
	const char *name;
	const char *summary; /* one line */
	size_t bytes; /* size of its state: zero at first, freed automatically */
	/* Reads its settings. May be NULL. */
	int (*init)(void *state, struct setup *s, struct err *e);
	/*
	 * A sample, ten times at first and then four times a second: own times at which the master
	 * was asked and answered, and the master's time between both.
	 */
	void (*sample)(void *state, nsec_t asked, nsec_t answered, nsec_t master);
	/*
	 * Returns the master's time at this own time, and the bound of its error. Called after the
	 * first sample. A time before one that was returned earlier is raised to it.
	 */
	nsec_t (*now)(void *state, nsec_t own, nsec_t *error);
};

/* As NEKO_NETWORKS(), of a table that ends with a NULL name. */
struct neko_clocks {
	uint32_t abi;
	uint32_t bytes; /* of what it was built with */
	const struct neko_clock_ops *all;
};
#define NEKO_CLOCKS(clocks)                          \
	extern const struct neko_clocks neko_clocks; \
	const struct neko_clocks neko_clocks = { NEKO_ABI, sizeof(struct neko_clock_ops), clocks };

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
