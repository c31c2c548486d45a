/* SPDX-License-Identifier: Apache-2.0 */
/* For the files of this room. The first error stays in w->rc and ends all later work. */
#ifndef INTERACTION_WEAVE_INTERNAL_H
#define INTERACTION_WEAVE_INTERNAL_H

#include "common/base/clock.h"
#include "common/container/list.h"
#include "interaction/weave/netweave.h"

#define USES_MAX (NETWEAVE_REGIONS_MAX + 4)

/* As it waits in the queue of its thread. */
struct weave_event {
	enum netweave_kind kind;
	enum network_kind vertex;
	int64_t t;
	uint64_t id, other;
	struct weave_step *step; /* begin; NULL: it is a request's */
	uint32_t object; /* region; exec: the program */
	int32_t ranks, roles;
	bool is_uncertain, is_end, is_unsent;
	bool is_double; /* send: another message with this id is under way */
};

enum weave_state {
	WEAVE_EXPECTED, /* only its receive was read */
	WEAVE_READ, /* its send is in a queue */
	WEAVE_SENT,
};

struct weave_message {
	enum weave_state state;
	uint64_t id;
	uint64_t inter; /* the interaction; 0: none */
	int64_t t; /* of the send */
	uint32_t node;
	bool is_uncertain;
	bool is_process; /* its end, which another one waits for; `id` is its sub-task */
	uint32_t object; /* of the process */
	struct weave_thread *waiter; /* holds its queue until the message is sent */
	struct weave_thread *sender; /* NULL: the send was not read */
	uint64_t place; /* of the send among the events of the sender */
	uint64_t task; /* of the sender then; 0: none */
	int64_t returned; /* when the send returned late; INT64_MIN: it did not */
	int64_t horizon; /* of the sender then */
};

/* Messages of a stream that are not yet in: a heap, the smallest end first. */
struct weave_stream {
	struct weave_piece {
		uint64_t end, id;
	} * piece; /* owned */
	size_t n, cap;
	uint64_t known; /* all writes up to here were read from the log */
	struct weave_thread *waiter; /* holds its queue until that grows */
};

struct weave_step {
	struct list idle; /* by the time at which the last thread left */
	uint64_t key, id;
	int64_t begin; /* the first thread's */
	int64_t left; /* when the last one left */
	char *name; /* owned */
	uint32_t node;
	unsigned entered, inside, queued;
};

struct weave_thread {
	struct list all, held, ready, ended;
	uint64_t key;
	uint32_t node, object;
	char label[NETWEAVE_LABEL_BYTES];
	struct weave_event *queue; /* owned; n from first on */
	size_t first, n, cap;
	uint64_t read; /* events so far */
	struct weave_thread *watcher; /* holds its queue until another event is read */
	uint64_t returned; /* the message whose send returned late at `returned_at`; 0: none */
	int64_t returned_at;
	bool is_forced; /* its first event waits for something that will not come */
	bool meets; /* its first event is a collective call that has counted it */
	uint64_t task, inter; /* 0: it works for none */
	struct weave_step *step;
	bool is_own; /* the program itself begins and ends its sub-tasks */
	bool is_unborn; /* the event that starts it waits in the queue of another one */
	bool is_kept; /* messages, other threads or sub-tasks of the program point to it */
	bool is_over; /* it has ended, at `end` */
	int64_t end;
	struct weave_thread *reaper; /* holds its queue until this one's is empty */
	int64_t last; /* vertex */
	int64_t wait; /* INT64_MIN: none */
	/* The largest time, by any clock, of what its last event depends on; messages add 1. */
	int64_t horizon, wait_horizon;
	struct weave_message *group; /* received since the wait; owned */
	size_t ngroup, group_cap;
	int64_t got; /* the last of them */
	uint64_t begins; /* of steps without numbers */
	uint32_t region[NETWEAVE_REGIONS_MAX]; /* open ones */
	unsigned nregion;
};

struct weave_meet {
	uint64_t id;
	int32_t ranks;
	struct weave_thread **member; /* owned; each holds its queue */
	size_t n, cap;
};

struct netweave {
	struct netuse *use;
	enum netweave_mode mode;
	netweave_fn fn;
	void *arg;
	struct map threads, messages, meets, steps, streams;
	struct map own; /* sub-tasks of the program -> struct weave_own */
	struct list all, held, ready, idle;
	struct list ended; /* threads, by their ends */
	int64_t now, checked; /* checked: for threads that wait too long */
	uint64_t vertices; /* so far: their names */
	uint64_t made; /* requests and sub-tasks so far */
	uint32_t message, queued, waiting, before, uncertain, unseen; /* objects */
	struct netweave_report report;
	int rc;
	struct err *e;
};

/* The thread that carries a sub-task of the program. */
struct weave_own {
	uint64_t inter;
	struct weave_thread *at; /* NULL: no thread */
};

struct weave_uses {
	struct network_use op[USES_MAX];
	size_t n;
};

struct weave_vertex {
	const struct weave_thread *thread; /* gives its name; NULL: of a step */
	enum network_kind kind;
	bool blocks, is_spawn; /* is_spawn: a fork by thread */
	int64_t t;
	uint32_t node;
	uint64_t task, other;
	const struct weave_uses *uses; /* NULL: none */
	const char *name; /* of the interaction */
};

/* The first failure counts. */
static inline int weave_fail(struct netweave *w, int rc)
{
	if (!rc || w->rc)
		return w->rc;
	w->rc = rc;
	if (rc == -ERR_NOMEM)
		err_nomem(w->e);
	return rc;
}

/* The queue of the thread goes on. */
static inline void weave_wake(struct netweave *w, struct weave_thread *t)
{
	list_del(&t->held);
	list_del(&t->ready);
	list_push_back(&w->ready, &t->ready);
}

/* A vertex of the sub-task of the thread. */
static inline struct weave_vertex weave_vertex(const struct weave_thread *t, enum network_kind kind,
					       int64_t at)
{
	return (struct weave_vertex){
		.thread = t, .kind = kind, .t = at, .node = t->node, .task = t->task
	};
}

static inline void weave_see(struct weave_thread *t, int64_t horizon)
{
	t->horizon = horizon > t->horizon ? horizon : t->horizon;
}

/* --- netweave_task.c */
/* Adds an entry full of zeros, of a key that m does not have. Returns NULL without memory. */
void *weave_make(struct netweave *w, struct map *m, uint64_t key, size_t bytes);
void weave_put(struct netweave *w, const struct weave_vertex *v);
void weave_use(struct weave_uses *u, uint32_t object, bool is_end, bool is_child);
uint64_t weave_id(struct netweave *w);
/* A vertex of the thread's sub-task; not of a fork or join. */
void weave_own_put(struct netweave *w, struct weave_thread *t, enum network_kind kind, int64_t at,
		   const struct weave_uses *uses);
void weave_join_put(struct netweave *w, struct weave_thread *t, int64_t at, uint64_t with,
		    const struct weave_uses *uses);
/* The thread sends message m: a fork. It goes on, or waits from here (blocks). */
void weave_fork(struct netweave *w, struct weave_thread *t, const struct weave_message *m,
		bool blocks);
/* A message waits from its send on for the thread that gets it. */
void weave_queue(struct netweave *w, const struct weave_message *m);
/* A process has ended, and the thread that gets its end waits for that. */
void weave_ended(struct netweave *w, const struct weave_message *m);
/* A message that no thread of its interaction gets. */
void weave_drop(struct netweave *w, const struct weave_message *m);
/* The thread goes on as that message, which ends its own sub-task. */
void weave_adopt(struct netweave *w, struct weave_thread *t, const struct weave_message *m,
		 int64_t at);
void weave_source(struct netweave *w, struct weave_thread *t, int64_t at, const char *name);
void weave_leave(struct netweave *w, struct weave_thread *t, int64_t at);
void weave_enter(struct netweave *w, struct weave_thread *t, struct weave_step *s, int64_t at);
void weave_region(struct netweave *w, struct weave_thread *t, const struct weave_event *ev);
void weave_own_vertex(struct netweave *w, struct weave_thread *t, const struct weave_event *ev);
/* The step of that name in the thread's job; a first one begins here. */
struct weave_step *weave_step(struct netweave *w, const char *name,
			      const struct netweave_thread *thread, int64_t at);
void weave_step_close(struct netweave *w, struct weave_step *s);

/* --- netweave_group.c: receives of one call, and what joins in general */
struct weave_join {
	struct weave_thread *thread;
	int64_t wait; /* when it began to wait; INT64_MIN: it did not */
	int64_t at; /* of all joins */
	struct weave_message *m; /* of its interaction */
	size_t n;
	int64_t foreign; /* send time of the last message of no or another one; INT64_MIN */
};
void weave_join(struct netweave *w, const struct weave_join *j);
/* The thread has waited for something that is not a message of the interaction. */
void weave_wait_end(struct netweave *w, struct weave_thread *t, int64_t at);
void weave_group_add(struct netweave *w, struct weave_thread *t, const struct weave_message *m,
		     int64_t at);
void weave_group_end(struct netweave *w, struct weave_thread *t);
/* The receiver may release the sender, and it is not known yet whether the send returned late. */
bool weave_may_release(const struct weave_thread *t, const struct weave_message *m);

/* --- netweave_stream.c. False: the queue is held. */
uint64_t weave_stream_wrote(struct netweave *w, uint64_t stream, uint64_t end);
bool weave_stream_read(struct netweave *w, struct weave_thread *t, const struct weave_event *ev);
/* True if it waits for bytes that are not in the log so far. */
bool weave_stream_is_short(const struct netweave *w, const struct weave_event *ev);
void weave_streams_free(struct netweave *w);

/* --- netweave_message.c */
/* The send is in the log: its receiver may wait for it. */
void weave_send_read(struct netweave *w, struct weave_thread *t, uint64_t id, int64_t at,
		     struct weave_event *to);
/* It returned late, if it is the thread's last event that was read. */
void weave_sent_read(struct netweave *w, struct weave_thread *t, const struct netweave_event *ev);
void weave_check_returned(struct netweave *w, struct weave_thread *t, int64_t at);
void weave_send(struct netweave *w, struct weave_thread *t, const struct weave_event *ev);
/* Returns false if the queue is held. */
bool weave_receive(struct netweave *w, struct weave_thread *t, const struct weave_event *ev);
/* Its sender was not watched: such a message begins an interaction. */
void weave_unsent(struct netweave *w, struct weave_thread *t, int64_t at);

/* --- netweave_process.c */
void weave_spawn(struct netweave *w, struct weave_thread *t, const struct weave_event *ev);
void weave_exec(struct netweave *w, struct weave_thread *t, const struct weave_event *ev);
void weave_exit(struct netweave *w, struct weave_thread *t, int64_t at);
/* Returns false if the queue is held. */
bool weave_reap(struct netweave *w, struct weave_thread *t, const struct weave_event *ev);
/* Processes that ended before that time, and that nothing waits for. */
void weave_forget_ended(struct netweave *w, int64_t before);

/* --- netweave_meet.c */
/* Returns true when the collective call is over, also for the others. */
bool weave_meet(struct netweave *w, struct weave_thread *t, const struct weave_event *ev);
void weave_meets_free(struct netweave *w);

#endif
