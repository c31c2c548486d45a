/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plug-ins: services that a shared object adds to the monitor while it runs.
 *
 *	#include <omig/plugin.h>
 *
 *	static int reads(struct omig_plugin_call *c)
 *	{
 *		omig_plugin_put_int(c, count_of(omig_plugin_get_text(c, 0, 0, NULL)));
 *		return 0;
 *	}
 *
 *	static const struct omig_plugin_service services[] = {
 *		{ "disk_reads", "string device", "reads", "Reads of a device since boot.", 0, reads
 *}, { 0 },
 *	};
 *
 *	OMIG_PLUGIN = { OMIG_PLUGIN_VERSION, "disk", "counters of block devices", 0, 0, services };
 *
 *	cc -shared -fPIC -o disk.so disk.c
 *	omig plugin add "$PWD/disk.so"
 *	omig request ':disk_reads([],"sda")'
 *
 * C99 or C++20 is enough, and no library is needed. docs/plugins.md is the manual.
 *
 * Source: Mehammed's thesis, 5.2.1 (services that are loaded at run time) and 6.6.1 (plug-ins).
 *
 * Where it runs: each plug-in has a process of its own on each host, as a child of the lm. It ends
 * with the lm. A call that does not return within 1.5 s ends the process, and so does any fault.
 * The call then has an error, and a later one starts the process again. The pause before that
 * grows from 0.5 s to 60 s while the process ends again. Its address space is 512 MiB.
 *
 * Threads: all functions of a plug-in are called in one thread, one call at a time. The functions
 * omig_plugin_*() may be used in that call only, and not in signal handlers. A plug-in may have
 * other threads. Its standard output is closed, its standard error is the lm's.
 */
#ifndef OMIG_PLUGIN_H
#define OMIG_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OMIG_PLUGIN_VERSION 1

/* One call of a service, for one object. */
struct omig_plugin_call {
	const struct omig_plugin_functions *functions; /* use the functions below */
};

enum omig_plugin_flags {
	/* The service changes something: it needs the right to manipulate, and is audited. */
	OMIG_PLUGIN_CHANGES = 1,
	/* Its objects are processes, not nodes: it is called for each, and omig_plugin_pid() is it.
	 */
	OMIG_PLUGIN_OF_PROCESSES = 2,
	/*
	 * It is a metric, too: `omig measure NAME`. It has no parameters, changes nothing, and puts
	 * one number. `result` is the unit of that: "B", "reads", "1". A counter only grows; a
	 * value is what it is at one moment. It is called before each read of a measurement, within
	 * half the interval.
	 */
	OMIG_PLUGIN_COUNTER = 4,
	OMIG_PLUGIN_VALUE = 8
};

struct omig_plugin_service {
	const char *name; /* up to 47 of a-z 0-9 _, the first a letter; NULL ends the list */
	/*
	 * The parameters behind the objects, up to five: "string device, int n = 0, float* limits".
	 * The types are int, float, string, token, binary and any; with * a list. Defaults stand at
	 * the end: an integer, "" for a string, [] for a list. NULL: none.
	 */
	const char *parameters;
	const char *result; /* names of the values that it returns; NULL: none */
	const char *help; /* one sentence or two; NULL: none */
	unsigned flags; /* enum omig_plugin_flags */
	/*
	 * Adds the result by omig_plugin_put_*(), and returns 0. Any other result is an error of
	 * the object, with the text of omig_plugin_fail().
	 */
	int (*serve)(struct omig_plugin_call *c);
};

struct omig_plugin {
	unsigned version; /* OMIG_PLUGIN_VERSION */
	const char *name; /* as of a service; one plug-in of a host has it */
	const char *summary; /* one line; NULL: none */
	/*
	 * Called once, before any service; NULL: nothing to do. Not 0 is a failure, with a reason
	 * of up to size - 1 bytes in why.
	 */
	int (*open)(char *why, size_t size);
	void (*close)(void); /* at the end of the process, unless it was killed; may be NULL */
	const struct omig_plugin_service *services; /* up to 64 */
};

/* The one symbol that is looked up: omig_plugin. */
#ifdef __cplusplus
#define OMIG_PLUGIN \
	extern "C" __attribute__((visibility("default"))) const struct omig_plugin omig_plugin
#else
#define OMIG_PLUGIN                                                                         \
	extern __attribute__((visibility("default"))) const struct omig_plugin omig_plugin; \
	const struct omig_plugin omig_plugin
#endif

/* Called by the functions below. New versions only add members at its end. */
struct omig_plugin_functions {
	size_t (*count)(const struct omig_plugin_call *c, unsigned i);
	int64_t (*get_int)(const struct omig_plugin_call *c, unsigned i, size_t k);
	double (*get_float)(const struct omig_plugin_call *c, unsigned i, size_t k);
	const char *(*get_text)(const struct omig_plugin_call *c, unsigned i, size_t k, size_t *n);
	int32_t (*pid)(const struct omig_plugin_call *c);
	void (*put_int)(struct omig_plugin_call *c, int64_t v);
	void (*put_float)(struct omig_plugin_call *c, double v);
	void (*put_text)(struct omig_plugin_call *c, const void *p, size_t n);
	void (*list)(struct omig_plugin_call *c, int begins);
	int (*fail)(struct omig_plugin_call *c, const char *why);
};

/* Returns the number of values of parameter i, counted from 0 behind the objects: 1 unless a list.
 */
static inline size_t omig_plugin_count(const struct omig_plugin_call *c, unsigned i)
{
	return c->functions->count(c, i);
}

/* Return value k of parameter i; 0 or "" if there is none of that kind. A text ends with a 0 and is
 * valid until the call returns; *n is its length, n may be NULL. */
static inline int64_t omig_plugin_get_int(const struct omig_plugin_call *c, unsigned i, size_t k)
{
	return c->functions->get_int(c, i, k);
}
static inline double omig_plugin_get_float(const struct omig_plugin_call *c, unsigned i, size_t k)
{
	return c->functions->get_float(c, i, k);
}
static inline const char *omig_plugin_get_text(const struct omig_plugin_call *c, unsigned i,
					       size_t k, size_t *n)
{
	return c->functions->get_text(c, i, k, n);
}

/* Returns the process that the service is called for, as the lm sees it; 0: it is for the node. */
static inline int32_t omig_plugin_pid(const struct omig_plugin_call *c)
{
	return c->functions->pid(c);
}

/* Add a value to the result. Bytes that are not text become a binary value. A result of more than
 * 256 KiB becomes an error. */
static inline void omig_plugin_put_int(struct omig_plugin_call *c, int64_t v)
{
	c->functions->put_int(c, v);
}
static inline void omig_plugin_put_float(struct omig_plugin_call *c, double v)
{
	c->functions->put_float(c, v);
}
static inline void omig_plugin_put_text(struct omig_plugin_call *c, const void *p, size_t n)
{
	c->functions->put_text(c, p, n);
}

/* The values between the two are one list. Lists may contain lists, up to eight deep. */
static inline void omig_plugin_list_begin(struct omig_plugin_call *c)
{
	c->functions->list(c, 1);
}
static inline void omig_plugin_list_end(struct omig_plugin_call *c)
{
	c->functions->list(c, 0);
}

/* Sets the text of the error, which is copied, and returns -1. */
static inline int omig_plugin_fail(struct omig_plugin_call *c, const char *why)
{
	return c->functions->fail(c, why);
}

#ifdef __cplusplus
}
#endif

#endif
