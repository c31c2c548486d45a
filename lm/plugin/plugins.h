/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plug-ins of an lm (docs/plugins.md): each is a shared object in a process of its own, a
 * helper. Those that were added by a request are kept in a file for the next lm.
 */
#ifndef LM_PLUGIN_PLUGINS_H
#define LM_PLUGIN_PLUGINS_H

#include "common/container/list.h"
#include "common/omis/services/added.h"
#include "common/store/disk.h"
#include "lm/service/look.h"

struct loop;
struct plugins;

/* Pointers are borrowed until plugins_free(). */
struct plugins_conf {
	struct loop *loop;
	const char *program; /* path of lm-plugin; NULL = none can be added */
	const char *file; /* of those that were added; NULL = not stored */
	const struct disk *disk; /* NULL = the system's */
	/* The services have changed. */
	void (*on_change)(void *arg);
	void *arg;
};

enum plugin_state { PLUGIN_STARTING, PLUGIN_READY, PLUGIN_WAITING, PLUGIN_FAILED };

/* Read-only outside. */
struct plugin {
	struct list link;
	struct plugins *owner;
	char *path, *name, *summary; /* owned; name "" until it is known */
	bool is_stored; /* added by a request */
	bool is_known; /* its services were read */
	struct helper *helper;
	struct look_on on; /* for look_serve() */
	struct helper_ask *asking; /* about its services */
	struct buf about;
	struct added_service *service[PLUGIN_SERVICES_MAX]; /* owned */
	size_t nservice;
	uint64_t calls, errors, ends;
	unsigned row; /* ends without a result in between */
	nsec_t not_before; /* of the next start */
	struct err last; /* the last error; code 0 = none */
	struct list waiting; /* struct plugin_wait */
};

/* Waits until a plug-in is ready or has failed. */
struct plugin_wait {
	struct list link;
	struct plugin *plugin; /* NULL: it has failed: */
	struct err e;
	void (*fn)(void *arg);
	void *arg;
};

struct plugins *plugins_new(const struct plugins_conf *c);

/* Tasks with calls of plug-ins must have ended. NULL is fine. */
void plugins_free(struct plugins *all);

/* Starts those of the list (filelist.h) and of the file; failures are logged. */
void plugins_load(struct plugins *all, const char *list);

/*
 * Adds a plug-in, or finds it: *out may still be starting. One that has failed is started again.
 * -ERR_INVALID, -ERR_NOTFOUND, -ERR_DENIED: plugin_file_check(); -ERR_LIMIT, -ERR_UNSUPPORTED.
 */
int plugins_add(struct plugins *all, const char *path, struct plugin **out, struct err *e);

/* w is the caller's, until fn is called or plugin_unwait(). */
void plugin_wait(struct plugin *p, struct plugin_wait *w);
void plugin_unwait(struct plugin_wait *w);

/* Makes it one that the next lm starts, too. Of the file: -ERR_SYS, -ERR_NOMEM. */
int plugin_store(struct plugin *p, struct err *e);

/* Ends it and takes it out of the list, without the file. It is freed later. */
void plugin_drop(struct plugin *p);

/* Ends and removes it; calls under way get an error. -ERR_NOTFOUND, or of the file. */
int plugins_remove(struct plugins *all, const char *name, struct err *e);

const struct list *plugins_all(const struct plugins *all);
enum plugin_state plugin_state(const struct plugin *p);

/* Finds the plug-in that has a service, and the service. Returns NULL if none has it. */
struct plugin *plugins_find(struct plugins *all, const char *service,
			    const struct added_service **out);

/* True if a call may be sent; else the process ended shortly before, and e has the reason. */
bool plugin_may_call(const struct plugin *p, struct err *e);

/* Note the result of a call. */
void plugin_succeeded(struct plugin *p);
void plugin_failed(struct plugin *p, const struct err *e);

/* Appends the definitions of all services. */
void plugins_write(const struct plugins *all, struct buf *b);

/* The services omig_plugin_*; of: struct plugins. */
extern const struct service plugin_services[];

#endif
