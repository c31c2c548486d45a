/* SPDX-License-Identifier: Apache-2.0 */
/* Prototypes of libpq: they are those of its own header, where that is installed. */
#include "eventlog/archive/arpq.h"
#include "tests/suite.h"

#if defined(__has_include) && __has_include(<libpq-fe.h>)
#include <libpq-fe.h>

#define SAME(result, name, params)                                                         \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&LIBPQ_##name),             \
						    __typeof__(((struct arpq *)0)->name)), \
		       "PQ" #name " has another type");
#define LIBPQ_connectdbParams PQconnectdbParams
#define LIBPQ_finish PQfinish
#define LIBPQ_status PQstatus
#define LIBPQ_transactionStatus PQtransactionStatus
#define LIBPQ_parameterStatus PQparameterStatus
#define LIBPQ_errorMessage PQerrorMessage
#define LIBPQ_setNoticeReceiver PQsetNoticeReceiver
#define LIBPQ_exec PQexec
#define LIBPQ_execParams PQexecParams
#define LIBPQ_getResult PQgetResult
#define LIBPQ_putCopyData PQputCopyData
#define LIBPQ_putCopyEnd PQputCopyEnd
#define LIBPQ_clear PQclear
#define LIBPQ_resultStatus PQresultStatus
#define LIBPQ_resultErrorField PQresultErrorField
#define LIBPQ_ntuples PQntuples
#define LIBPQ_nfields PQnfields
#define LIBPQ_fname PQfname
#define LIBPQ_ftype PQftype
#define LIBPQ_getvalue PQgetvalue
#define LIBPQ_getlength PQgetlength
#define LIBPQ_getisnull PQgetisnull
ARPQ_CALLS(SAME)

_Static_assert(ARPQ_CONNECTION_OK == CONNECTION_OK && ARPQ_COMMAND_OK == PGRES_COMMAND_OK &&
		       ARPQ_TUPLES_OK == PGRES_TUPLES_OK && ARPQ_COPY_IN == PGRES_COPY_IN &&
		       ARPQ_IN_TRANSACTION == PQTRANS_INTRANS &&
		       ARPQ_DIAG_SQLSTATE == PG_DIAG_SQLSTATE,
	       "values of libpq-fe.h");
#endif

TEST(libpq_has_each_function_or_an_error_says_which_package_to_install)
{
	struct arpq pq = { 0 };
	struct err e = { 0 };
	int rc = arpq_load(&pq, &e);

	if (rc) {
		ck_assert_int_eq(rc, -ERR_UNSUPPORTED);
		ck_assert_ptr_nonnull(strstr(e.text, "Debian: libpq5"));
		return;
	}
	for (size_t i = 0; i < sizeof(pq) / sizeof(void (*)(void)); i++)
		ck_assert(((void (**)(void)) & pq)[i] != NULL);
}

SUITE("arpq")
