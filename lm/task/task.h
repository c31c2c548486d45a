/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task is a list of actions in progress: those of a request, or those of an event. Actions run in
 * order. While one waits, the loop continues and the later actions wait, too.
 */
#ifndef LM_TASK_TASK_H
#define LM_TASK_TASK_H

#include "common/omis/omis.h"
#include "lm/proc/resolve.h"

struct audit;
struct loop;
struct service_call;
struct holds;
struct tasks;
struct task;
struct timebase;

#define TASKS_MAX 1024 /* waiting at once; further ones get an error */

#define SERVICE_WAITS 1

/*
 * Returns 0: entries are added. SERVICE_WAITS: called again later. Negative: the caller adds an
 * entry with that error.
 */
typedef int (*service_fn)(struct service_call *c);

struct service {
	const char *name;
	service_fn fn;
};

/* A table of services and the object that they work on. */
struct service_family {
	const struct service *service; /* ends with a name of NULL */
	void *of;
};

/* All borrowed, until tasks_free(). */
struct tasks_conf {
	struct loop *loop;
	struct timebase *timebase;
	struct procs *procs;
	struct holds *holds;
	struct audit *audit; /* NULL = none */
	const struct service_family *family; /* capabilities of a host */
	size_t nfamily;
	bool may_manipulate; /* local policy: false refuses signals and stops from all tools */
};

struct task_spec {
	const struct omis_request
		*request; /* checked, without ECPs; valid until on_done or task_cancel() */
	const uint32_t *number; /* number of each action in replies; NULL = 1, 2, ... */
	const bool *skip; /* actions that have run elsewhere; NULL = none */
	uint32_t tool;
	const char *identity; /* identity of the tool at the far end; NULL = none; copied */
	const char *csr; /* csr that owns the actions; NULL = a request; copied */
	unsigned depth; /* events that led to it */
	enum omis_right right; /* right of the tool, from its certificate */
	nsec_t deadline; /* relative; <= 0 = none */
	struct proc *proc; /* process of the event that started it; NULL = a request */
	/* Called once. The callee owns the reply. */
	void (*on_done)(void *arg, struct reply *r);
	void *arg;
};

struct tasks *tasks_new(const struct tasks_conf *c);

/* Ends all tasks without on_done. */
void tasks_free(struct tasks *s);

/*
 * on_done may be called before this returns; *out is NULL then. The arrays of spec are copied.
 * -ERR_NOMEM, -ERR_LIMIT.
 */
int task_start(struct tasks *s, const struct task_spec *spec, struct task **out);
void task_cancel(struct task *t);
size_t tasks_waiting(const struct tasks *s);

/* --- for services */

struct service_call {
	void *of; /* object of the service's family */
	struct loop *loop;
	struct timebase *timebase;
	struct procs *procs;
	struct task *task;
	const struct omis_call *call;
	uint32_t action; /* number for entries */
	uint32_t tool;
	struct proc *proc; /* of the event; NULL = a request, or: */
	bool is_proc_gone; /* ended while an action waited */
	struct reply *reply;
	bool retry; /* called again: the awaited result is available */
	void *arg; /* state of a service, for its callbacks */
	bool is_half_done; /* set by a service that fails after a change of its object */
};

/*
 * Keeps arg for a call that waits, until it runs again. Freed when the call is done, or when the
 * task ends for another reason. One at a time.
 */
void task_keep(struct task *t, void *arg, void (*free_fn)(void *arg));
void *task_kept(const struct task *t);

/* The awaited result is available, and the call runs again. May free the task. */
void task_go_on(void *task);

/* Parameters, which omis_check() has converted to their types. */
int64_t call_int(const struct service_call *c, unsigned i);
double call_float(const struct service_call *c, unsigned i);
const char *call_text(const struct service_call *c, unsigned i);

/* Finds the objects of that class that the first parameter names: resolve(). */
int call_resolve(struct service_call *c, char class, struct objects *out);

/* Counts the one object of the call as asked and answered, with any status. */
void call_count_object(struct service_call *c);

/* Adds one OK entry for all these objects; nothing if there are none. */
int call_add_ok(struct service_call *c, const struct objects *o);

/* Adds the entry of an object (or "") for an operation that failed with rc and e. */
int call_add_failure(struct service_call *c, const char *object, int rc, const struct err *e);

/*
 * Adds the values in b as the entry of an object, or of several separated by commas, and frees b.
 * -ERR_LIMIT if b has failed.
 */
int call_add_values(struct service_call *c, const char *object, struct buf *b);

/*
 * Calls fn for each object of that class that the first parameter names. fn adds its entry; the
 * time of the reply is now.
 */
int call_each_object(struct service_call *c, char class,
		     int (*fn)(struct service_call *, const struct object *));

/*
 * Calls fn for each process that the first parameter names. Successes share one entry, each failure
 * has its own. fn must not end processes.
 */
int call_each_proc(struct service_call *c,
		   int (*fn)(struct service_call *, struct proc *, struct err *));

/* As call_each_proc(), for threads. */
int call_each_thread(struct service_call *c,
		     int (*fn)(struct service_call *, const struct object *, struct err *));

/*
 * For a service of nodes: true if the first parameter names this node. Other nodes become errors.
 */
bool call_is_for_us(struct service_call *c);

/* Returns the system time now. */
nsec_t call_now(const struct service_call *c);

#endif
