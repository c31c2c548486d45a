/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of a program that `omig run --summary` watched. docs/summary.md describes the file. A
 * section has the processes of one MPI_COMM_WORLD, or those without MPI.
 */
#ifndef TOOLS_SUMMARY_SUMMARY_H
#define TOOLS_SUMMARY_SUMMARY_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUMMARY_FORMAT "omig-summary"
#define SUMMARY_VERSION 1 /* raised when a reader of the last version would misread a file */

#define SUMMARY_NAME_BYTES 128 /* of a host, program, job or call; a longer one is cut */
#define SUMMARY_TEXT_BYTES 256 /* a sentence about missing values */
#define SUMMARY_FILE_MAX_BYTES (64u << 20) /* ten thousand ranks with some fifty calls each */
#define SUMMARY_SECTIONS_MAX 64 /* MPI programs in one script */
#define SUMMARY_PROCESSES_MAX 65536 /* the number that a reply can name */
#define SUMMARY_CALLS_MAX 1024 /* functions of MPI; it has some five hundred */
#define SUMMARY_PARTNERS_MAX 64 /* per rank, those with most bytes; others are summed */
#define SUMMARY_SLICES_MAX 64 /* even: at this number neighbours are merged in pairs */
#define SUMMARY_SIZES_MAX 4096 /* classes of sizes of a hundred functions that move bytes */
#define SUMMARY_SITES_MAX 4096 /* a rank has room for 128, and most ranks have the same */
#define SUMMARY_NOTES_MAX 64 /* a page has room for a few */

/* One function of one process. */
struct summary_call {
	unsigned of; /* index of the section's names */
	uint64_t count, bytes_out, bytes_in;
	double seconds; /* time in the function, of all threads together */
	bool is_open; /* a thread was in it at the last reading */
};

/* Exchange of one rank with another one in calls that name a partner. */
struct summary_partner {
	int64_t rank; /* in MPI_COMM_WORLD; -1: all that have no row of their own */
	uint64_t count, sends; /* calls, and those of functions that sent bytes to it */
	uint64_t bytes_out, bytes_in;
	double seconds;
};

struct summary_process {
	char token[SUMMARY_NAME_BYTES]; /* not in the file */
	char program[SUMMARY_NAME_BYTES], host[SUMMARY_NAME_BYTES];
	int64_t rank, pid; /* rank -1: without MPI */
	int exit_status; /* as of wait(); -1: not known */
	bool is_final; /* values were read after its end */
	bool has_calls; /* calls could be read */
	bool has_partners; /* partners could be read */
	double began_s; /* since the summary's begin; may be negative by the clocks' difference */
	double seconds; /* from its start to the reading of its values */
	double cpu_s, rss_bytes; /* processor time, largest memory; NaN: not known */
	struct summary_call *call; /* owned, as are the partners */
	size_t ncall, call_cap;
	struct summary_partner *partner;
	size_t npartner, partner_cap;
};

/* A piece of time: what all ranks of a section together did between two readings. */
struct summary_slice {
	double begin_s, end_s; /* since the summary's begin */
	double rank_s; /* the sum of the ranks' times in it */
	double *seconds; /* owned; by the section's names; may be shorter than they are */
	size_t n;
};

struct summary_name {
	char name[SUMMARY_NAME_BYTES], class[SUMMARY_NAME_BYTES];
};

struct summary_section {
	int64_t world_size; /* 0: without MPI */
	struct summary_name *name; /* owned, as all below: functions that were called */
	size_t nname, name_cap;
	struct summary_process *process;
	size_t n, cap;
	struct summary_slice slice[SUMMARY_SLICES_MAX];
	size_t nslice;
};

/* Calls of one function in all ranks of the job that moved a number of bytes of one class. */
struct summary_size {
	char name[SUMMARY_NAME_BYTES];
	int64_t from, to; /* bytes of one call; to -1: no end */
	uint64_t count, bytes;
	double seconds;
};

/* Calls of one function from one place of the program, in all ranks of the job. */
struct summary_site {
	char name[SUMMARY_NAME_BYTES];
	/* Place of the call in debug information: "exchange", "halo.c:41"; "": unknown. */
	char function[SUMMARY_TEXT_BYTES], source[SUMMARY_TEXT_BYTES];
	char module[SUMMARY_TEXT_BYTES]; /* path of the program or library; "": unknown */
	int64_t address; /* address in it */
	uint64_t count, bytes_out, bytes_in;
	double seconds;
	double longest_s; /* per call; NaN: not known */
	int64_t ranks; /* number of ranks that called from there, at least */
	int64_t most_rank; /* rank with the longest time there, most_s; -1: not known */
	double most_s;
};

struct summary {
	char omig[SUMMARY_NAME_BYTES]; /* version that wrote it */
	char job[SUMMARY_NAME_BYTES], command[SUMMARY_NAME_BYTES];
	char measured[SUMMARY_NAME_BYTES]; /* off, count, time, volume or partner */
	int64_t begun_ns; /* wall time */
	double seconds; /* time for which the command ran */
	int exit_status; /* that of the command, as of wait(); -1: not known */
	struct summary_section *section; /* owned, in the order of their begin */
	size_t n, cap;
	struct summary_size *size; /* owned, those with much time first */
	size_t nsize, size_cap;
	bool has_sizes; /* measured and readable */
	struct summary_site *site; /* owned, those with much time first */
	size_t nsite, site_cap;
	bool has_sites; /* as has_sizes */
	char (*note)[SUMMARY_TEXT_BYTES]; /* owned: sentences about missing values */
	size_t nnote, note_cap;
};

/* Zeros are an empty summary. */
void summary_done(struct summary *s);

/*
 * Add a section, process, call or partner to the end of its list; NULL: no memory, or too many.
 * Pointers to others are invalid afterwards.
 */
struct summary_section *summary_add_section(struct summary *s);
struct summary_process *summary_add_process(struct summary_section *of);
struct summary_call *summary_add_call(struct summary_process *p);
struct summary_partner *summary_add_partner(struct summary_process *p);
struct summary_size *summary_add_size(struct summary *s);
struct summary_site *summary_add_site(struct summary *s);

/* The index of that function; a new one is added. -ERR_LIMIT, -ERR_NOMEM. */
int summary_name(struct summary_section *of, const char *name, const char *class);

/*
 * Adds seconds of all functions to a new slice. SUMMARY_SLICES_MAX of them become half as many.
 * Consumes *take, which is then all 0.
 */
void summary_add_slice(struct summary_section *of, struct summary_slice *take);

/* Leaves SUMMARY_PARTNERS_MAX partners with most bytes, and one of rank -1 with the sum of all
 * others. */
void summary_fold_partners(struct summary_process *p);

/* Adds a note, except without memory or beyond SUMMARY_NOTES_MAX. */
void summary_note(struct summary *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Sections by begin, processes by rank, then host and pid; calls by name, partners by bytes.
 * Without memory, some lists stay unsorted.
 */
void summary_sort(struct summary *s);

/* Writes the place of the call: "exchange halo.c:41", without debug information "solver+0x1234". */
void summary_place(const struct summary_site *v, struct buf *out);

/* Sums of one process. */
double summary_mpi_seconds(const struct summary_process *p); /* at most its time; NaN: not known */
uint64_t summary_count(const struct summary_process *p);
uint64_t summary_bytes_out(const struct summary_process *p);
uint64_t summary_bytes_in(const struct summary_process *p);

/* Sums of all ranks whose calls are known. */
struct summary_whole {
	size_t ranks;
	uint64_t count;
	double mpi_s, seconds; /* in MPI, and in all */
};
struct summary_whole summary_whole(const struct summary *s);

/* Writes one JSON document. -ERR_NOMEM, -ERR_LIMIT: more than SUMMARY_FILE_MAX_BYTES. */
int summary_write(const struct summary *s, struct buf *out);

/*
 * Parses text, which has a 0 after n bytes, into *s, which is zeros, and sorts it. On failure *s is
 * empty.
 *
 * ERR_PARSE with the place: line and column, or the member as "sections[0].processes[3].seconds".
 * ERR_UNSUPPORTED: another version. ERR_LIMIT, ERR_NOMEM.
 */
int summary_read(const char *text, size_t n, struct summary *s, struct err *e);

#endif
