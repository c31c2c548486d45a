/* SPDX-License-Identifier: Apache-2.0 */
/* A measurement of `omig measure`: requested, read, shown. */
#ifndef TOOLS_MEASURE_MEASUREMENT_H
#define TOOLS_MEASURE_MEASUREMENT_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "stats/stop.h"
#include "tools/libomis/read_fields.h"
#include "tools/libomis/omis.h"
#include "tools/session/object_names.h"
#include "tools/session/session_csr.h"
#include "tools/term/term.h"

#define MEASUREMENT_REGIONS_MAX 64
#define MEASUREMENT_SETS_MAX 16 /* as many parameters as a metric may have */

/* Options of the command line. Texts are argv's. */
struct measurement_options {
	struct cmd_common common;
	const char *file, *metric, *objects, *by, *agg, *partners, *job;
	bool each_partner, each_region; /* as `by` says */
	const char *region[MEASUREMENT_REGIONS_MAX], *set[MEASUREMENT_SETS_MAX];
	unsigned nregion, nset;
	int64_t every_ns, for_ns, count, reconnect_ns;
	bool since_start, since_last, rate, csv, tokens;
	struct stop until;
};

/* One read, of one or more parts. A part: read, until, more, lost, enough, then the values. */
struct reading {
	Omis_value **part;
	size_t npart, cap;
	int64_t before; /* number of the last read of an earlier mainsm */
	nsec_t gap_ns; /* time without a mainsm between this read and the one before */
	bool is_cut; /* the counts began after such a gap */
	bool is_enough; /* mainsm has ended the measurement with this read */
	struct reading *next;
};

#define MEASUREMENT_TROUBLES_MAX 64 /* the most that mainsm lists */

#define MEASURED_LABEL_BYTES OBJECT_LABEL_BYTES
#define MEASURED_FLAGS_BYTES 96 /* room for the names of all flags */

/* A value, in the order of dfg_has_read. */
struct measured {
	const char *object;
	const char *with; /* partner's token or region; "" = all */
	const char *in; /* with a partner: the region; "" = anywhere */
	char flags[MEASURED_FLAGS_BYTES]; /* names, by commas */
	int64_t key, time, oldest, newest, k, n;
	double value, error;
	const Omis_value *buckets; /* the buckets of a histogram; NULL for other values */
	/*
	 * of WHO_MAX, WHO_MIN, TOP: [object, value, error] each; NULL for other values. The value
	 * is that of the first.
	 */
	const Omis_value *objects;
};
/* Returns value i of that part. */
struct measured measured_at(const struct reading *r, size_t part, size_t i);

/* Returns the number of the read, as all output shows it. */
int64_t reading_number(const struct reading *r);

struct json;
struct table;
struct until;
struct charts;

/* Processes that were attached while they ran. */
struct measurement_since {
	int64_t attached, of; /* number of the attached ones, and of all measured ones */
	int64_t latest_ns; /* wall time of the last attachment */
};

struct measurement {
	const struct measurement_options *options;
	struct term term;
	struct buf text; /* text of the file; "" = a built-in metric */
	char dfg[SESSION_TOKEN_BYTES], unit[128];
	struct session_csr csr; /* dfg_has_read */
	bool each_vt; /* a value for each virtual time */
	bool is_total; /* values are merged, or may be */
	bool since_last; /* as it was requested in the end */
	bool by_mainsm; /* the rule of --until is evaluated there, where all values are merged */
	bool has_enough; /* the rule holds, in the read that was shown last */
	/* owned: the text's parameters for these; NULL: as in built-in metrics */
	char *partners_name, *regions_name;
	char *region[MEASUREMENT_REGIONS_MAX]; /* owned: the regions that --by region has found */
	unsigned nregion;
	Omis_value *tree; /* the last reply to omig_tree() */
	bool has_jobs; /* ranks of several jobs run, so that names include the job */
	struct reading *first, **last; /* reads to be shown */
	struct reading *open; /* the read with further parts to come */
	bool is_of_processes, has_run; /* measures processes; at least one of them has run */
	nsec_t polled_at; /* last poll for remaining processes */
	bool has_ended; /* all processes have ended, and no further one is expected */
	bool is_over, is_partial; /* partial: the read that was shown last */
	int64_t refused; /* objects on hosts that cannot measure it */
	int status;
	/* reads of earlier mainsms; number and time of the last read */
	int64_t before, last_read, last_until_ns;
	bool is_behind_gap; /* no read has arrived since */
	int64_t shown;
	struct measurement_since since;
	struct until *until; /* NULL: nothing is counted */
	struct charts *charts; /* owned; NULL: values are shown as text */
};

/* --- measurement.c: with mainsm */

/* Creates and starts it. Returns an exit status and reports failures. */
int measurement_begin(struct measurement *m);

/* The same for n of them, whose intervals begin together. m[0] has the options of all. */
int measurement_begin_all(struct measurement *m, size_t n);

/*
 * Called after each message: mainsm may have disconnected, returned, or ended it. Returns an exit
 * status and reports failures.
 */
int measurement_check(struct measurement *m);
void measurement_end(struct measurement *m);

/* Deletes it in mainsm, for a program that goes on. measurement_end() frees what is here. */
void measurement_delete(struct measurement *m);

/* Includes new processes, without waiting. */
void measurement_attach(struct measurement *m);

/* Returns the next complete read; NULL: none yet. The caller frees it by reading_free(). */
struct reading *measurement_next(struct measurement *m);

/* --- reading.c */
void reading_free(struct reading *r);

/* --- measurement_names.c */

/* Requests the tree again. */
void measurement_poll_tree(struct measurement *m);

/* Returns false if the object is unknown. */
bool measurement_name(const struct measurement *m, const char *token, struct object_name *out);

/* True if entry i of the tree is a running process of the requested job, or of any. */
bool measurement_is_running(const struct measurement *m, size_t i);

/* Called for a new tree: notes whether ranks of several jobs run. */
void measurement_note_jobs(struct measurement *m);

/*
 * Writes "rank3@node1", without MPI "server.8021@node1", with several jobs "heat:rank3@node1",
 * "node1", "all".
 */
void measurement_label(const struct measurement *m, const char *token, char *out, size_t size);

/*
 * The same for a value, with its partner or region; for receives the arrow points to the receiver:
 * "rank3@node1 -> rank0@node2", "all in loop".
 */
void measurement_label_of(const struct measurement *m, const struct measured *v, char *out,
			  size_t size);

/* Print values with their objects: as one line, one cell of CSV, rows of a table, and as JSON. */
void measurement_put_objects(const struct measurement *m, const Omis_value *list, struct buf *out);
void measurement_put_csv_objects(const struct measurement *m, const Omis_value *list,
				 struct buf *out);
void measurement_put_object_rows(const struct measurement *m, const Omis_value *list,
				 struct table *t);
void measurement_objects_json(const struct measurement *m, const Omis_value *list, struct json *j);

/*
 * Writes the tokens of "all", or of a list of tokens, hosts, sites and ranks, as values of a list.
 * Ranks are those of the requested job. CMD_NOTFOUND, or CMD_USAGE if several jobs have a rank and
 * none is requested; both are reported.
 */
int measurement_objects(const struct measurement *m, const char *list, struct buf *out);

/* --- measurement_order.c */

/*
 * Calls fn for each value of the read: by job, rank and name of objects, then of partners. Returns
 * an exit status.
 */
int measurement_each(const struct measurement *m, const struct reading *r,
		     void (*fn)(void *arg, const struct measured *v), void *arg);

/* --- measurement_functions.c */

/*
 * Switches on the functions among the regions (--region function:NAME). Reports refusals.
 * CMD_NOTFOUND and others: no process has one of them on.
 */
int measurement_functions(const struct measurement *m);

/* --- measurement_since.c */

/* Requests which of the measured processes were attached. */
void measurement_note_since(struct measurement *m);

/* Writes a line, or nothing if all processes were watched from their start. */
void measurement_put_since(const struct measurement *m, struct buf *out);

/* --- measurement_regions.c */

/* Finds the regions between the probes of the attached processes. CMD_NOTFOUND: none; reported. */
int measurement_regions(struct measurement *m);
/* Reports that no process has a region. Returns CMD_NOTFOUND. */
int measurement_no_regions(void);

struct region;
typedef void (*measurement_region_fn)(void *arg, const char *processes, const struct region *r);

/*
 * Calls fn for each pair of probes that makes a region in attached processes, with their tokens by
 * commas. Returns an exit status, after a message.
 */
int measurement_regions_each(measurement_region_fn fn, void *arg);
void measurement_regions_free(struct measurement *m);

/*
 * --- measurement_until.c: a quantity for each object, until --until is fulfilled; evaluated here,
 * or by mainsm
 */

/*
 * Counts the values of a read, for objects whose names are known. CMD_USAGE, CMD_FAILURE: reported.
 */
int measurement_count(struct measurement *m, const struct reading *r);

/* True if the rule holds for each object of the last read. False without a rule. */
bool measurement_is_reached(const struct measurement *m);

/* Writes a line for the head of a table; nothing without a rule. */
void measurement_progress(const struct measurement *m, struct buf *out);

/* True if mainsm can evaluate the rule itself: it needs a text, and values since the start. */
bool measurement_may_stop_there(const struct measurement_options *w);

/* Reports the end: as JSON an object on stdout, else lines on stderr. Nothing without a rule. */
void measurement_report_until(const struct measurement *m);

void until_free(struct until *u);

/* --- measurement_show.c */

/* Returns false if the reader has closed the output. */
bool measurement_show(struct measurement *m, const struct reading *r);

/* Draws the pictures as they are now. Returns false if the reader has closed the output. */
bool measurement_show_charts(struct measurement *m);

/*
 * True for a read without any value, if all hosts have refused the metric: there will be no
 * values.
 */
bool measurement_is_refused(const struct measurement *m, const struct reading *r);

#endif
