/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of PostgreSQL's client library, libpq.so.5. It is loaded when an archive is opened, so
 * that Omig is built and installed without it. Types, values and order of parameters are those of
 * libpq-fe.h (PostgreSQL's manual, chapter "libpq"); a unit test compares them with that file where
 * it is installed.
 */
#ifndef EVENTLOG_ARCHIVE_ARPQ_H
#define EVENTLOG_ARCHIVE_ARPQ_H

#include "common/base/err.h"

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef unsigned Oid;
typedef void (*PQnoticeReceiver)(void *arg, const PGresult *r);

/* Of the enumerations ConnStatusType, ExecStatusType and PGTransactionStatusType. */
#define ARPQ_CONNECTION_OK 0
#define ARPQ_COMMAND_OK 1
#define ARPQ_TUPLES_OK 2
#define ARPQ_COPY_IN 4
#define ARPQ_IN_TRANSACTION 2
#define ARPQ_DIAG_SQLSTATE 'C'

/* X(RESULT, NAME, PARAMETERS) for each function PQNAME. */
#define ARPQ_CALLS(X)                                                                        \
	X(PGconn *, connectdbParams,                                                         \
	  (const char *const *keys, const char *const *values, int expand_dbname))           \
	X(void, finish, (PGconn * c))                                                        \
	X(unsigned, status, (const PGconn *c))                                               \
	X(unsigned, transactionStatus, (const PGconn *c))                                    \
	X(const char *, parameterStatus, (const PGconn *c, const char *name))                \
	X(char *, errorMessage, (const PGconn *c))                                           \
	X(PQnoticeReceiver, setNoticeReceiver, (PGconn * c, PQnoticeReceiver fn, void *arg)) \
	X(PGresult *, exec, (PGconn * c, const char *sql))                                   \
	X(PGresult *, execParams,                                                            \
	  (PGconn * c, const char *sql, int n, const Oid *oid, const char *const *value,     \
	   const int *length, const int *format, int result_format))                         \
	X(PGresult *, getResult, (PGconn * c))                                               \
	X(int, putCopyData, (PGconn * c, const char *p, int n))                              \
	X(int, putCopyEnd, (PGconn * c, const char *error))                                  \
	X(void, clear, (PGresult * r))                                                       \
	X(unsigned, resultStatus, (const PGresult *r))                                       \
	X(char *, resultErrorField, (const PGresult *r, int field))                          \
	X(int, ntuples, (const PGresult *r))                                                 \
	X(int, nfields, (const PGresult *r))                                                 \
	X(char *, fname, (const PGresult *r, int column))                                    \
	X(Oid, ftype, (const PGresult *r, int column))                                       \
	X(char *, getvalue, (const PGresult *r, int row, int column))                        \
	X(int, getlength, (const PGresult *r, int row, int column))                          \
	X(int, getisnull, (const PGresult *r, int row, int column))

#define ARPQ_MEMBER(result, name, params) result(*name) params;
struct arpq {
	ARPQ_CALLS(ARPQ_MEMBER)
};

/* The library stays loaded. ERR_UNSUPPORTED: it is not installed, or lacks a function. */
int arpq_load(struct arpq *out, struct err *e);

#endif
