/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MPI calls of ranks: sums over the ranks of a job, by call, rank, node, pair of partners, call
 * site or size. Each host adds up its own ranks (omig_calls_profile). This room adds up the hosts.
 */
#ifndef TOOLS_PROFILE_PROFILE_H
#define TOOLS_PROFILE_PROFILE_H

#include "common/base/buf.h"
#include "common/json/json.h"
#include "tools/libomis/omis.h"
#include "tools/term/term.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum profile_by {
	PROFILE_CALL,
	PROFILE_RANK,
	PROFILE_NODE,
	PROFILE_PARTNER,
	PROFILE_SITE,
	PROFILE_SIZE,
	PROFILE_KINDS
};
extern const char *const profile_by_names[PROFILE_KINDS];

/* The `window` of omig_calls_profile. */
enum profile_window { PROFILE_ALL, PROFILE_ALL_AND_MARK, PROFILE_SINCE_MARK };

#define PROFILE_NAME_BYTES 64

#define PROFILE_FRAMES 4 /* of a call site */
#define PROFILE_PLACE_BYTES 256

/* A calling place, as found by profile_ask_places(); else as reported by hosts. */
struct profile_frame {
	char path[PROFILE_PLACE_BYTES]; /* file with the code; "": not known */
	int64_t address; /* address in that file */
	bool is_asked, is_found; /* the source was requested, and found */
	/* the function; for inlined ones all, the innermost first, separated by " < " */
	char function[PROFILE_PLACE_BYTES];
	char source[PROFILE_PLACE_BYTES]; /* file:line of the innermost one; "": not known */
};

/* Unknown numbers are NaN, ranks -1, names "". */
struct profile_row {
	char name[PROFILE_NAME_BYTES]; /* of the call, or the node; of a rank its token */
	char class[PROFILE_NAME_BYTES]; /* of the call */
	int64_t rank, partner; /* the rank of a row by rank; the pair of a row by partner */
	bool has_ended; /* the rank */
	double calls, seconds, bytes_out, bytes_in;
	double wall_s; /* time for which a rank or node was measured */
	double in_call; /* threads that were in the call when it was read */
	double ranks; /* ranks that made the call; on that node */
	/* for a call the rank with most time in it, for a rank its call with most time */
	int64_t most_rank;
	char most_call[PROFILE_NAME_BYTES];
	double most_s;
	/* Per call: for a site since it was first counted; NaN if not known. */
	double shortest_s, longest_s;
	/* for a size: calls moved from .. to bytes each, and `bytes` together; to < 0: no end */
	int64_t size_from, size_to;
	double bytes;
	char process[PROFILE_NAME_BYTES]; /* a process that has the site */
	struct profile_frame *frame; /* owned; of a site: the call, and its callers behind it */
	size_t nframe;
};

struct profile {
	enum profile_by by;
	struct profile_row *row; /* owned */
	size_t n, cap;
	/* over all ranks that replied, independent of the rows */
	size_t nodes, ranks, ended;
	size_t untimed; /* ranks without any time for which all calls were measured */
	size_t unread; /* processes that ended, and whose values are lost */
	size_t marked; /* ranks that count from a mark */
	double calls, seconds, bytes_out, bytes_in;
	double wall_s; /* measured time of all ranks together */
	double longest_s; /* maximum of one rank */
	size_t left_out; /* rows with small values that hosts did not send */
	double lost; /* calls that ranks had no room for, in rows of partners and sites */
	bool is_timed; /* all ranks measure the time of calls now */
	bool has_bytes; /* all ranks count bytes */
	bool has_partners, has_sites; /* all ranks count by partner, by site */
	unsigned sampled; /* time is measured in one call of 2^sampled, at least in one rank */
	int64_t time_ns; /* when the first host was read; wall time */
};

/*
 * Reads the replies to omig_calls_profile(), and to node_get_info([],1) for the names of nodes (may
 * be NULL: tokens). Skips invalid parts. False: no memory; *p is empty.
 */
bool profile_read(struct profile *p, enum profile_by by, const Omis_object_result *entries,
		  const Omis_object_result *nodes);
void profile_done(struct profile *p);

/*
 * Requests the profile of all attached ranks. Returns an exit status; failures are reported. *out
 * is the reply, for the coverage; omis_reply_free() it.
 */
int profile_ask(struct profile *p, enum profile_by by, enum profile_window window, Omis_reply *out);

/* Wall times in ns since 1970; to 0: until now. */
struct profile_past {
	int64_t from, to;
};

/*
 * As profile_ask() for the history of a job between two times, by call. Gaps are reported as
 * warnings. CMD_NOTFOUND: the history is empty.
 */
int profile_ask_past(struct profile *p, const char *job, const struct profile_past *when,
		     Omis_reply *out);

/*
 * Requests functions, files and lines of the first `rows` sites (0: all). Returns an exit
 * status; an unknown place stays an address.
 */
int profile_ask_places(struct profile *p, size_t rows);

/*
 * Switches on the counting that `by` needs in all attached ranks. Returns an exit status. depth:
 * callers of a call site, 1 to PROFILE_FRAMES.
 */
int profile_enable(enum profile_by by, int depth);

enum profile_sort {
	PROFILE_BY_TIME,
	PROFILE_BY_CALLS,
	PROFILE_BY_BYTES,
	PROFILE_BY_MEAN,
	PROFILE_BY_NAME,
	PROFILE_SORTS
};

/* Sorts largest first, names and ranks ascending. */
void profile_sort(struct profile *p, enum profile_sort by);

/*
 * Return the time of the row in percent: of the time in MPI, and of the ranks' wall time. NaN:
 * unknown.
 */
double profile_of_mpi(const struct profile *p, const struct profile_row *r);
double profile_of_wall(const struct profile *p, const struct profile_row *r);
/* Returns seconds per call. NaN: there was none. */
double profile_mean(const struct profile_row *r);

/*
 * Writes one or two sentences with the main results, and a table of at most `rows` rows (0: all). A
 * note names what the table leaves out.
 */
int profile_show(const struct term *t, const struct profile *p, const char *job, size_t rows,
		 struct buf *out);
/* Writes members of an open object; the rows are an array. */
void profile_to_json(struct json *to, const struct profile *p);
/* Write the names of the columns, and a line for each row. Unknown values are empty. */
void profile_csv_head(enum profile_by by, struct buf *out);
void profile_to_csv(const struct profile *p, struct buf *out);

#endif
