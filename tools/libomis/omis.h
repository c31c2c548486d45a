/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libomis: requests to the Omig monitoring system in OMIS. One connection a process; a child of
 * fork() makes its own. No signals. One thread, which resolves the name of a host while
 * connecting. C99 and C++.
 *
 * 	int main(int argc, char **argv)
 * 	{
 * 		Omis_reply r;
 *
 * 		if (omis_init(&argc, &argv, NULL, NULL) != OMIS_OK)
 * 			return 1;
 * 		r = omis_request(":site_attach([]) node_attach([]) node_get_info([],1)",
 * 				 NULL, NULL, 0);
 * 		for (int i = 0; r && r[i]; i++)
 * 			for (int k = 0; r[i][k].obj_list; k++)
 * 				printf("%s %d %s\n", r[i][k].obj_list, r[i][k].status,
 * 				       r[i][k].result ? r[i][k].result : "");
 * 		omis_reply_free(r);
 * 		omis_finalize();
 * 	}
 *
 * All calls from one thread, or serialised by the caller. Callbacks run
 * inside omis_handler() and omis_request(), never at other times. They may
 * call omis_reply_free(), and omis_request() with a callback. Without a callback it would have to
 * wait inside a callback; it then returns OMIS_PARAMETER_ERROR. They may not call omis_handler() or
 * omis_finalize(). SIGPIPE is blocked meanwhile.
 */
#ifndef OMIS_H
#define OMIS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OMIS_API __attribute__((visibility("default")))

/*
 * Result of an object, or of a request as a whole. Even; bit 0 set = the object may be half
 * changed.
 */
typedef int Omis_status;
enum {
	OMIS_OK = 0,
	OMIS_CSR_DEFINED = 2, /* the conditional request exists; its token is in `result` */
	OMIS_CSR_ENABLED = 4, /* ... for the objects in `obj_list` */
	OMIS_CSR_DISABLED = 6,
	OMIS_CSR_DELETED = 8, /* the last reply of this request */
	OMIS_CSR_TRIGGERED = 10, /* its event happened at the object in `obj_list` */
	OMIS_FIRST_ERROR = 16,
	OMIS_SYNTAX_ERROR = 16,
	OMIS_UNKNOWN_SERVICE = 18,
	OMIS_UNSUPPORTED_SERVICE = 20,
	OMIS_UNKNOWN_ECP = 22,
	OMIS_UNKNOWN_OBJECT = 24,
	OMIS_TYPE_MISMATCH = 26,
	OMIS_PARAMETER_ERROR = 28,
	OMIS_OS_ERROR = 30,
	OMIS_NO_PERMISSION = 32,
	OMIS_NO_MEMORY = 34,
	OMIS_INTERNAL_ERROR = 36,
	OMIS_UNSPECIFIED_ERROR = 1000
};
#define OMIS_FATAL 1

typedef int Omis_flags;
enum {
	/*
	 * with a callback: wait for the first reply and return it; the callback gets the later ones
	 */
	OMIS_WAIT_FOR_FIRST_REPLY = 1,
	OMIS_DONT_RETURN_OK = 2, /* leave out replies and entries with the status OK and no value */
	OMIS_DONT_RETURN_EN_DIS = 4, /* leave out ENABLED and DISABLED replies */
	/* may be delayed until the next request without this flag */
	OMIS_BUFFER_REQUEST = 8,
	OMIS_BUFFER_REPLIES = 16, /* accepted, without effect */
	OMIS_DEBUG = 32 /* text of request and replies is also passed to the error handler */
};

/*
 * A reply is an array of service results ended by NULL. Element 0 is the
 * request itself, element i its i-th action. A service result is an array of
 * object results ended by obj_list == NULL. result may be NULL; it holds values as OMIS writes
 * them, separated by commas, or the text of an error.
 */
typedef struct Omis_object_result {
	char *obj_list; /* tokens separated by commas; "" = all others */
	Omis_status status;
	char *result;
	size_t result_len; /* binary values may contain NUL */
} Omis_object_result;
typedef Omis_object_result *Omis_service_result;
typedef Omis_service_result *Omis_reply;

/*
 * Connects, enrolling this identity when it has no certificate yet, and
 * returns once requests will be answered. The options --omis-mainsm STRING and --omis-timeout MS
 * are removed from argc/argv (both may be NULL). Without the option the connection string comes
 * from OMIG_MAINSM. Without that, it comes from
 * the file that this user's mainsm leaves in the state directory.
 *
 * error_handler (may be NULL) receives reports that belong to no request: a lost or restored
 * connection, debug output (status OK). It owns the reply. *tool_id becomes the number of this
 * tool; may be NULL.
 *
 * OMIS_OS_ERROR: not reachable; OMIS_NO_PERMISSION: refused;
 * OMIS_PARAMETER_ERROR: no connection string or a bad one, or already
 * initialised; omis_last_error() has the text. Blocks, at most the timeout (default 5 s).
 */
OMIS_API Omis_status omis_init(int *argc, char ***argv, void (*error_handler)(Omis_reply),
			       int *tool_id);

/*
 * Sends a request. Without a callback (unconditional requests only) it
 * blocks for the reply, which the caller owns. It returns NULL only when
 * out of memory: failures are replies too. With a callback NULL is returned
 * at once (but see OMIS_WAIT_FOR_FIRST_REPLY). Each reply goes to the
 * callback, which owns it. An unconditional request has one. A conditional
 * one has any number, ended by OMIS_CSR_DELETED or an error. When the request could not be sent, a
 * reply with the reason is returned and the callback is not called. After a lost connection,
 * pending requests get a reply with OMIS_OS_ERROR. So do conditional ones, which have ended.
 */
OMIS_API Omis_reply omis_request(char *request, void (*callback)(Omis_reply, void *param),
				 void *param, Omis_flags flags);

/* As omis_request(), for a request with binary values: len bytes, which may include NUL. */
OMIS_API Omis_reply omis_request_n(const char *request, size_t len,
				   void (*callback)(Omis_reply, void *param), void *param,
				   Omis_flags flags);

/* NULL is fine. */
OMIS_API void omis_reply_free(Omis_reply reply);

/* Becomes readable when omis_handler() has something to do. The same number until omis_finalize().
 * -1 before. */
OMIS_API int omis_fd(void);

/* Reads, writes, runs callbacks; never blocks. Reconnects, too, so call it whenever omis_fd() is
 * readable. */
OMIS_API void omis_handler(void);

/*
 * Deletes this tool's conditional requests, detaches everything, closes. Pending requests get no
 * reply. OMIS_PARAMETER_ERROR without omis_init().
 */
OMIS_API Omis_status omis_finalize(void);

/* --- beyond the standard interface */

typedef struct Omis_missing {
	const char *object; /* token */
	const char *reason;
} Omis_missing;

/* Number of requested objects that a reply covers. Strings are valid as long as the reply. */
typedef struct Omis_coverage {
	unsigned asked, answered; /* objects */
	unsigned n_missing; /* listed ones; asked - answered may be more */
	const Omis_missing *missing;
	int64_t oldest_ns, newest_ns; /* system time of the values, since 1970; 0 = unknown */
} Omis_coverage;

/* asked == answered: all objects have replied, or the coverage is unknown. */
OMIS_API void omis_reply_coverage(Omis_reply reply, Omis_coverage *out);

/* The status of the whole reply: an error of element 0, else the first error, else OMIS_OK. */
OMIS_API Omis_status omis_reply_status(Omis_reply reply);

/* How long requests wait for slow objects. */
typedef enum Omis_wait {
	OMIS_WAIT_ALL, /* for all objects, until the deadline (the default) */
	OMIS_WAIT_QUORUM, /* until `quorum` objects answered, or the deadline */
	OMIS_WAIT_NOW /* for the first reply only */
} Omis_wait;

/* For requests from now on. deadline_ms 0 = the default, 2000. OMIS_PARAMETER_ERROR when out of
 * range. */
OMIS_API Omis_status omis_request_policy(Omis_wait wait, unsigned quorum, unsigned deadline_ms);

/*
 * The text of a status; the last error of this process with its cause, "" without an error. Valid
 * until the next call of libomis.
 */
OMIS_API const char *omis_strerror(Omis_status status);
OMIS_API const char *omis_last_error(void);

/* A value of a result. kind selects the valid member. */
typedef struct Omis_value {
	enum {
		OMIS_VALUE_INT,
		OMIS_VALUE_FLOAT,
		OMIS_VALUE_STRING, /* unescaped; NUL-terminated and counted */
		OMIS_VALUE_TOKEN,
		OMIS_VALUE_BINARY,
		OMIS_VALUE_LIST
	} kind;
	int64_t i;
	double f; /* set for an int as well */
	const char *s;
	size_t n; /* bytes of s, or values of list */
	const struct Omis_value *list;
} Omis_value;

/*
 * Parses the comma-separated values of a result. Returns a list value, for omis_value_free(). NULL:
 * the text is not a list of values, or out of memory; omis_last_error() has the text.
 */
OMIS_API Omis_value *omis_value_parse(const char *text, size_t len);
OMIS_API void omis_value_free(Omis_value *value);

/*
 * Return value i of a list, by kind: NULL, 0, NaN or "" if there is none or it is of another kind.
 */
OMIS_API const Omis_value *omis_list_at(const Omis_value *list, size_t i);
OMIS_API int64_t omis_list_int(const Omis_value *list, size_t i);
OMIS_API double omis_list_float(const Omis_value *list, size_t i);
OMIS_API const char *omis_list_text(const Omis_value *list, size_t i);

/* Parameters of a measurement. Zeros and NULL are defaults; only `metric` is required. */
typedef struct Omis_measurement {
	const char *metric; /* built in (`omig metrics`), or one of `text` */
	const char *text; /* in the metric language PMSL */
	/* name, program or batch number; NULL: the only running job; "": all objects */
	const char *job;
	const char *by; /* "process", "process,partner", "node", ...; NULL: one value of all */
	unsigned every_ms; /* 0: 1000 */
	unsigned reads; /* after this many it ends, also without a value; 0: fn ends it */
	int since_last; /* each read covers the time since the last one; else since the start */
	int rate; /* per second */
} Omis_measurement;

/* A value of a read. Texts are valid until the function that gets it returns. */
typedef struct Omis_row {
	const char *object; /* token; "" = all together */
	const char *host, *job, *program; /* "" if the object has none */
	int64_t rank; /* -1: the object is not a rank */
	int64_t partner; /* rank of the partner, with by "process,partner"; -1: none */
	const char *region; /* with by "process,region" */
	double value; /* NaN: unknown */
	double error; /* the true value is within value +- error */
	const char *unit;
	const char *flags; /* names, separated by commas: "partial,missing"; "" = complete */
	int64_t k, n; /* objects with contributions to the value, and all of them */
	int64_t read; /* number of the read, from 1 */
	int64_t time_ns; /* end of the interval, since 1970 */
	int64_t virtual_time; /* of metrics over virtual time; else the read */
	size_t index, rows; /* of this read: number of this row, and of all rows */
} Omis_row;

/*
 * Starts a measurement and calls fn for each value of each read. OMIS_OK: fn did not return 0, or
 * a rule of the metric has ended it. Blocks. fn may send requests. OMIS_PARAMETER_ERROR: no such
 * metric, job or `by`, or several jobs run and none is named; OMIS_UNSUPPORTED_SERVICE: no object
 * can measure it; OMIS_OS_ERROR: the connection was lost; OMIS_NO_MEMORY. omis_last_error() has the
 * text. Never within a callback.
 */
OMIS_API Omis_status omis_measure(const Omis_measurement *what,
				  int (*fn)(const Omis_row *row, void *param), void *param);

/* Counts of a rank in one MPI function. Unknown numbers are NaN. */
typedef struct Omis_call {
	const char *name, *kind; /* "MPI_Send", and its class */
	const char *object, *host, *job;
	int64_t rank;
	double calls; /* since they were counted */
	double seconds; /* since time was counted; NaN: no call was timed */
	double bytes_out, bytes_in; /* since bytes were counted */
	int64_t in_call; /* threads that are in the call now */
} Omis_call;

/*
 * Calls fn for each rank of a job, ascending, and each MPI function that it has called since
 * counting began. Ends when fn does not return 0. Switches counting of time and bytes on for
 * as long as this tool is connected: the first time, only later calls have them. job: as in
 * Omis_measurement, but "". *coverage (may be NULL) has the number of ranks that replied, and no
 * list of others. Blocks. Errors are those of omis_measure(); OMIS_UNKNOWN_OBJECT: the job has no
 * rank.
 */
OMIS_API Omis_status omis_calls(const char *job, int (*fn)(const Omis_call *call, void *param),
				void *param, Omis_coverage *coverage);

/*
 * Blocks of events (docs/eventlog.md) of a subscription, which this tool has requested with the
 * service omig_events_keep. Unacknowledged ones are sent again, after a lost connection with
 * another stream number. If this tool ends, the next tool that requests the subscription gets them.
 */
typedef struct Omis_events {
	const char *subscription;
	uint64_t stream, place;
	const void *blocks; /* whole ones */
	size_t len;
	int end; /* the subscription has ended: no block follows */
	/* at an end: missing hosts that may still have events, separated by commas; "" = none */
	const char *missing;
} Omis_events;

/*
 * fn is called like other callbacks, with pointers that are valid until it returns. It gets blocks
 * of this tool's subscriptions only. NULL: blocks are skipped, and not acknowledged. Set it after
 * omis_init() and before the request.
 */
OMIS_API void omis_events_handler(void (*fn)(const Omis_events *events, void *param), void *param);

/*
 * Acknowledges all of that stream up to that place (of an Omis_events), which the tool has stored.
 * At most 8 MiB are sent without acknowledgement. An unknown stream is ignored. OMIS_OS_ERROR: not
 * connected.
 */
OMIS_API Omis_status omis_events_ack(const char *subscription, uint64_t stream, uint64_t place);

/* The services of this library's catalogue; mainsm may have others: request services(""). */
typedef struct Omis_service_info {
	const char *name, *extension; /* extension: "" for a basic one */
	const char *kind; /* "information", "manipulation", "event" */
	const char *right, *state, *where, *help;
	char signature[512]; /* name(type name, ...) -> results */
} Omis_service_info;

/* Writes service i, extension by extension. Returns 0 beyond the last, else 1. */
OMIS_API int omis_service_info(unsigned i, Omis_service_info *out);

/* "0.1.0" */
OMIS_API const char *omis_library_version(void);

#ifdef __cplusplus
}
#endif

#endif
