/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/archive/arsql.h"

#include "common/base/str.h"

#include <string.h>

bool arpg_is_url(const char *where)
{
	return str_has_prefix(where, "postgresql://") || str_has_prefix(where, "postgres://");
}

void arsql_close(struct arsql *s)
{
	if (s->ops)
		s->ops->close(s->db);
	*s = (struct arsql){ 0 };
}

int arsql_do(const struct arsql *s, const char *sql, struct err *e)
{
	return s->ops->run(s->db, &(struct arsql_statement){ .text = sql }, NULL, NULL, e);
}

int arsql_run(const struct arsql *s, const char *sql, const struct arvalue *v, unsigned n,
	      struct err *e)
{
	return s->ops->run(s->db, &(struct arsql_statement){ .text = sql, .v = v, .n = n }, NULL,
			   NULL, e);
}

static int take_number(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		       struct err *e)
{
	if (n && v->class == AR_INT)
		*(int64_t *)arg = v->i;
	return 0;
}

int arsql_number_of(const struct arsql *s, const struct arsql_statement *st, int64_t *out,
		    struct err *e)
{
	return s->ops->run(s->db, st, take_number, out, e);
}

int arsql_number(const struct arsql *s, const char *sql, int64_t *out, struct err *e)
{
	return arsql_number_of(s, &(struct arsql_statement){ .text = sql }, out, e);
}

int arsql_count(const struct arsql *s, const char *sql, int64_t end, int64_t *out, struct err *e)
{
	int64_t n = 0;
	int rc = arsql_number(s, sql, &n, e);

	if (!rc && (n < 0 || n >= end))
		rc = err_set(e, ERR_INVALID, "is not an archive of Omig: a number is out of range");
	*out = rc ? *out : n;
	return rc;
}

struct arvalue arsql_shown(const char *s, size_t n, char *scratch, size_t size)
{
	if (str_is_utf8(s, n) && !memchr(s, 0, n))
		return AR_S(s, n);
	str_escape(scratch, size, s, n);
	return AR_S(scratch, strlen(scratch));
}

bool arsql_is_name(const char *s, size_t n)
{
	if (!n || n > AR_NAME_MAX || s[0] < 'a' || s[0] > 'z')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= '0' && s[i] <= '9') || s[i] == '_'))
			return false;
	return true;
}
