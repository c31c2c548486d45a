/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of a distributed algorithm. It consists of processes 1..m; a process is a stack of
 * layers, on top of networks. A layer sends to the layer below and delivers to the one above. A
 * passive layer is called; an active one has a flow of control of its own (`run`) and a queue, from
 * which it receives.
 *
 * The same source runs in a simulation and on real networks. In both cases a layer runs without
 * interruption between two waits (receive, sleep): no other layer of the process runs meanwhile.
 * Times begin at 0, the beginning of the run.
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
struct err; /* an error, whose text neko_fail() writes */
struct rng;
struct neko_figures; /* receives values for quantities */
struct quantity; /* <omig/stats.h> */
struct setup; /* the configuration */

/*
 * Results of waits and sends: the run has ended; nothing arrived in time. All values below 0 are
 * failures.
 */
#define NEKO_CLOSED (-10)
#define NEKO_TIMEOUT (-11)

#define NEKO_NEVER INT64_MAX
/* a destination that means all processes except the sender, without a list */
#define NEKO_OTHERS UINT32_MAX

/* A message is reference counted, and constant after it was sent. All members may be read. */
struct neko_msg {
	nsec_t sent_at; /* time by the sender's clock; 0 before it is sent */
	uint32_t from;
	uint32_t to; /* the first destination, which is the only one of a unicast; or NEKO_OTHERS */
	uint32_t nto;
	uint32_t refs;
	uint32_t n; /* bytes of the content */
	uint16_t type;
	uint8_t net; /* number of the network, from 0 */
	bool is_pooled;
	/*
	 * the nto destinations of a multicast, behind the content; NULL for a unicast and for
	 * NEKO_OTHERS
	 */
	uint32_t *all;
	uint32_t sent_error; /* ns: bound of the error of the sender's clock; 0 in simulations */
	__extension__ uint8_t content[]; /* not aligned */
};

/* A type of messages. Its number has this name in all layers of the run. */
struct neko_type {
	uint16_t number;
	const char *name; /* must be valid as long as the program runs */
};

/* A kind of layer. Members behind `bytes` may be NULL. */
struct neko_layer_ops {
	const char *name;
	/* size of the layer's state, which is zeroed at first and freed automatically */
	size_t bytes;
	/*
	 * The message types that the layer sends and receives. Messages of other types pass the
	 * layer without a call of deliver().
	 */
	const struct neko_type *types; /* ends with a NULL name; NULL: all */
	/* The flow of control of an active layer. Must return when a wait returns NEKO_CLOSED. */
	void (*run)(struct neko_layer *l);
	/*
	 * NULL: a message is queued for an active layer, and passed up by a passive one. The caller
	 * owns m.
	 */
	void (*deliver)(struct neko_layer *l, struct neko_msg *m);
	/* Called for a message from the layer above; m is borrowed. NULL: m is passed down. */
	int (*send)(struct neko_layer *l, struct neko_msg *m);
	/* called at the end of the run, while the state is still valid */
	void (*done)(struct neko_layer *l);
};

/* --- processes */

uint32_t neko_id(const struct neko_process *p);
uint32_t neko_count(const struct neko_process *p); /* m */
/* returns the number of networks, which are numbered from 0 */
uint32_t neko_nets(const struct neko_process *p);

/*
 * Adds a layer on top; only before the run. *out is the state of the layer, or NULL if it has none;
 * out may be NULL.
 */
int neko_push(struct neko_process *p, const struct neko_layer_ops *ops, void *out, struct err *e);

/* --- layers */

void *neko_state(struct neko_layer *l);
struct neko_process *neko_process(struct neko_layer *l);
nsec_t neko_now(const struct neko_layer *l);

/* Returns the random numbers of the process: no other process, and no network, draws from them. */
struct rng *neko_rng(struct neko_layer *l);
double neko_random(struct neko_layer *l); /* draws from the same random numbers, in [0, 1) */

/*
 * Makes a message with one reference. content NULL: zeros. Returns NULL without memory. neko_send()
 * reports a wrong destination.
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
 * Sends a message to the layer below, and finally to the network. Never blocks. -ERR_INVALID: no
 * such process, network or type; -ERR_LIMIT, -ERR_NOMEM; -ERR_CLOSED if the run ends. A loss in the
 * network is not an error.
 */
int neko_send(struct neko_layer *l, struct neko_msg *m);

/* Makes a message, sends it to one process over a network, and frees it. */
int neko_send_to(struct neko_layer *l, uint32_t to, uint8_t net, uint16_t type, const void *content,
		 size_t n);

/* Delivers to the layer above; the highest layer drops the message. */
void neko_deliver(struct neko_layer *l, struct neko_msg *m);

/*
 * Active layers only. Blocks until there is a message, at most for timeout (0: does not block; < 0:
 * without limit). *out is valid until the layer's next receive. Returns NEKO_TIMEOUT without a
 * message. After NEKO_CLOSED the run ends, and run() must return.
 */
int neko_receive(struct neko_layer *l, nsec_t timeout, struct neko_msg **out);

/*
 * Active layers only. Blocks until that time, even if messages arrive. Returns 0, or NEKO_CLOSED as
 * above.
 */
int neko_sleep_until(struct neko_layer *l, nsec_t at);
int neko_sleep(struct neko_layer *l, nsec_t duration);

/*
 * Reports an event of this process at the present time to the handler of the run. `what` must be
 * valid as long as the program runs.
 */
void neko_log(struct neko_layer *l, const char *what, double content);

/* largest content of an event: a block of events for the master holds many of this size */
#define NEKO_EVENT_MAX_BYTES 16384

/*
 * Reports an event with bytes as content, which are copied; its number is NaN. A handler may define
 * how they are printed (print). Fails above NEKO_EVENT_MAX_BYTES. In real runs an event with bytes
 * costs an allocation.
 */
int neko_log_bytes(struct neko_layer *l, const char *what, const void *p, size_t n);

/*
 * Reports an event with a message's delay: now - sent_at in seconds, with the error bound of both
 * clocks.
 */
void neko_log_delay(struct neko_layer *l, const char *what, const struct neko_msg *m);

/* Ends the run at the present time. Events of other processes up to this time belong to the run. */
void neko_stop(struct neko_layer *l);

/* --- measurements in a run */

/* An event as neko_log() reported it. */
struct neko_event {
	uint32_t process;
	nsec_t at;
	const char *what;
	double content;
	nsec_t error; /* bound of the error of `at`'s clock; 0 in simulations */
	/*
	 * bound of the clock error of a content that is a time between two processes; 0 otherwise
	 */
	nsec_t content_error;
	const void *bytes; /* content of neko_log_bytes(), valid during the call; NULL: none */
	uint32_t n;
};

#define NEKO_CRASHED "crash" /* an event that the world logs: the process is down from now on */

/* A predefined quantity of a handler. */
struct neko_row {
	const char *name, *unit; /* unit: NULL for none */
	bool is_awaited; /* a stop rule may wait for it */
};

#define NEKO_ROWS_MAX 16

/*
 * A handler: computes quantities from events, which arrive in the order of their times. Checks the
 * properties of the algorithm. The last members may be NULL. The functions are those of NekoStat
 * (Falai, Bondavalli and Di Giandomenico, 2004, figure 11).
 */
struct neko_measure {
	const char *name;
	/*
	 * at most NEKO_ROWS_MAX rows, and one with a NULL name at the end; NULL: init() makes all
	 * quantities
	 */
	const struct neko_row *rows;
	/* size of the handler's state, which is zeroed at first and freed automatically */
	size_t bytes;
	void (*handle)(void *state, struct neko_figures *f, const struct neko_event *v);
	/* Called once: reads the configuration and makes quantities (neko_quantity). */
	int (*init)(void *state, struct neko_figures *f, struct setup *s, struct err *e);
	/* called at the start of each run, with m processes; fails without memory */
	int (*begin)(void *state, uint32_t m);
	/*
	 * Called after each event, also in real runs. Returns true to end the run, when there are
	 * enough values.
	 */
	bool (*should_stop)(void *state, struct neko_figures *f);
	/* Called at the end of each run: intervals that have not ended do not count. */
	void (*end)(void *state, struct neko_figures *f, nsec_t now);
	/*
	 * Called after all runs, before the results are shown. On failure neko_fail() has set the
	 * reason.
	 */
	int (*write_results)(void *state, struct neko_figures *f, struct err *e);
	/*
	 * Writes the content of an event as text with a 0 at its end, for --messages and pictures.
	 * Returns false for the usual form: a number, or the bytes with C escapes. It may be called
	 * with any state.
	 */
	bool (*print)(const struct neko_event *v, char *out, size_t cap);
	void (*done)(void *state);
};

/*
 * Makes a quantity of the results; in init() only, and at most NEKO_ROWS_MAX together with the
 * rows. kind: an enum quantity_kind of <omig/stats.h>, whose functions add values and set the stop
 * condition. The run owns the quantity. A file of values has the name in `stat.files`, or that of
 * the quantity. On failure returns NULL, and e has the reason.
 */
struct quantity *neko_quantity(struct neko_figures *f, int kind, const char *name, const char *unit,
			       struct err *e);

/* Returns a row as a quantity; NULL beyond the last row. neko_figure() adds values to it. */
struct quantity *neko_row_quantity(struct neko_figures *f, unsigned row);

/* Adds a value to a row, with the bound of its clock error (0: none). */
void neko_figure(struct neko_figures *f, unsigned row, double value, nsec_t error);

/*
 * Adds a time between two events, in seconds. The bound of its error is the largest bound of the
 * clocks so far.
 */
void neko_figure_time(struct neko_figures *f, unsigned row, nsec_t time);

/* Reports the violation of a property, which ends the run. The first one is shown. */
void neko_broken(struct neko_figures *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* --- configuration: a key that no part reads is reported as an error */

/* Returns NULL if the key is missing. */
const char *neko_setup_text(struct setup *s, const char *key);
/*
 * *inout is the default. Fails if the value has another type or is out of range; e has the line and
 * a remedy.
 */
int neko_setup_nsec(struct setup *s, const char *key, nsec_t min, nsec_t max, nsec_t *inout,
		    struct err *e);
int neko_setup_u64(struct setup *s, const char *key, uint64_t min, uint64_t max, uint64_t *inout,
		   struct err *e);
int neko_setup_double(struct setup *s, const char *key, double min, double max, double *inout,
		      struct err *e);
int neko_setup_bool(struct setup *s, const char *key, bool *inout, struct err *e);

/* Writes the text of an error. Returns the code for the caller to return, which is never 0. */
int neko_fail(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A kind of process, chosen by process.N.initializer = name. */
struct neko_kind {
	const char *name;
	const char *summary; /* one line */
	/* pushes the layers of a process */
	int (*init)(struct neko_process *p, struct setup *s, struct err *e);
	const struct neko_measure *measure; /* measure of a run with such processes; NULL: none */
};

/*
 * A shared object with algorithms, "application = ./mine.so":
 *
 *	static const struct neko_kind kinds[] = {
 *		{ "ring", "passes a token", ring_init, &ring_measure }, { 0 }
 *	};
 *	NEKO_APPLICATION(kinds)
 *
 * Built by cc -shared -fPIC -o mine.so mine.c, without libraries.
 */
#define NEKO_ABI 2
struct neko_application {
	uint32_t abi;
	uint32_t bytes[4]; /* sizes of structs when the object was built */
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

/* --- networks of shared objects: "network.lan.model = NAME" */

struct neko_net;

/*
 * The end of a process in a real run: the address of its host (IPv4, host order), and the port that
 * open() returned.
 */
struct neko_peer {
	uint32_t address;
	uint16_t port;
};

/*
 * A kind of network. Some members may be NULL, as noted. In a simulation one network carries the
 * messages of all processes. In a real run each process has its own, which carries bytes to others.
 */
struct neko_net_ops {
	const char *name;
	const char *summary; /* one line */
	/* size of the network's state, which is zeroed at first and freed automatically */
	size_t bytes;
	/* Reads the settings of the network (neko_net_key). May be NULL. */
	int (*init)(struct neko_net *n, struct setup *s, struct err *e);

	/* --- simulated; NULL for networks of real runs only */
	/*
	 * Called for a message to one process at the time of sending. Either neko_net_arrive() or
	 * neko_net_lose() follows for it, in this call or in wake(). m is borrowed: take a
	 * reference to store it.
	 */
	void (*send)(struct neko_net *n, struct neko_msg *m, uint32_t to);
	/* Called at the time that neko_net_wake() has set. NULL if that is never called. */
	void (*wake)(struct neko_net *n, uint64_t what);

	/* --- real; all NULL for networks of simulations only. These functions must not block. */
	/*
	 * Opens the end of this process; other processes send to *port. On failure neko_fail() has
	 * set the reason.
	 */
	int (*open)(struct neko_net *n, uint32_t address, uint16_t *port, struct err *e);
	/*
	 * Gets the ends of all processes: that of process i + 1 is all[i], which is valid to the
	 * end of the run.
	 */
	void (*meet)(struct neko_net *n, const struct neko_peer *all);
	/* Returns a descriptor that is readable when there is input. */
	int (*fd)(struct neko_net *n);
	/*
	 * Sends bytes to one process; they may be lost. Threads of layers call it, one at a time.
	 */
	void (*transmit)(struct neko_net *n, uint32_t to, const void *p, size_t bytes);
	/*
	 * Reads input and calls neko_net_received(). Another thread may be in transmit() meanwhile.
	 */
	void (*receive)(struct neko_net *n);

	/* Drops stored messages and closes the end. Also called without open(). May be NULL. */
	void (*done)(struct neko_net *n);
};

void *neko_net_state(struct neko_net *n);
const char *neko_net_name(const struct neko_net *n); /* returns the name, such as "lan" */
uint32_t neko_net_count(const struct neko_net *n); /* returns the number of processes */
/* returns the id of the process in a real run; 0 in a simulation */
uint32_t neko_net_id(const struct neko_net *n);

/* Returns the key of a setting, such as "network.lan.slot". Valid until the next call. */
const char *neko_net_key(struct neko_net *n, const char *what);

/* For simulated networks. A time before the present one counts as the present time. */
nsec_t neko_net_now(const struct neko_net *n);
/* returns a random number in [0, 1), drawn for this network alone */
double neko_net_random(struct neko_net *n);
void neko_net_arrive(struct neko_net *n, struct neko_msg *m, uint32_t to, nsec_t at);
void neko_net_lose(struct neko_net *n, struct neko_msg *m, uint32_t to);
void neko_net_wake(struct neko_net *n, nsec_t at, uint64_t what);
void neko_net_unref(struct neko_net *n, struct neko_msg *m);

/*
 * For real networks, within receive(): passes on the bytes that transmit() got in process `from`.
 */
void neko_net_received(struct neko_net *n, uint32_t from, const void *p, size_t bytes);

/*
 *	static const struct neko_net_ops nets[] = { { .name = "slotted", ... }, { 0 } };
 *	NEKO_NETWORKS(nets)
 *
 * An object may have NEKO_NETWORKS(), NEKO_APPLICATION(), or both.
 */
struct neko_networks {
	uint32_t abi;
	uint32_t bytes[2]; /* sizes of structs when the object was built */
	const struct neko_net_ops *all; /* ends with a NULL name */
};
#define NEKO_NETWORKS(nets)                                                              \
	extern const struct neko_networks neko_networks;                                 \
	const struct neko_networks neko_networks = {                                     \
		NEKO_ABI, { sizeof(struct neko_net_ops), sizeof(struct neko_msg) }, nets \
	};

/*
 * --- clocks of shared objects, for real runs: "clock.model = NAME". Simulated processes share a
 * clock.
 */

/*
 * A kind of clock synchronisation: computes the master's time from samples of it. Times are in
 * nanoseconds. One thread at a time calls it. It must not block.
 */
struct neko_clock_ops {
	const char *name;
	const char *summary; /* one line */
	/* size of the clock's state, which is zeroed at first and freed automatically */
	size_t bytes;
	/* Reads the settings of the clock. May be NULL. */
	int (*init)(void *state, struct setup *s, struct err *e);
	/*
	 * Gets a sample, ten times at the start and then four times a second. `asked` and
	 * `answered` are own times before and after the master took its time `master`.
	 */
	void (*sample)(void *state, nsec_t asked, nsec_t answered, nsec_t master);
	/*
	 * Returns the master's time at this own time, and the bound of its error. Called after the
	 * first sample. A result below an earlier one is raised to that.
	 */
	nsec_t (*now)(void *state, nsec_t own, nsec_t *error);
};

/* Used like NEKO_NETWORKS(), with a table that ends with a NULL name. */
struct neko_clocks {
	uint32_t abi;
	uint32_t bytes; /* size of the struct when the object was built */
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
