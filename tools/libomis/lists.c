/* SPDX-License-Identifier: Apache-2.0 */
/* Members of lists of values, by kind. */
#include "tools/libomis/omis.h"

#include <math.h>

const Omis_value *omis_list_at(const Omis_value *list, size_t i)
{
	return list && list->kind == OMIS_VALUE_LIST && i < list->n ? &list->list[i] : NULL;
}

int64_t omis_list_int(const Omis_value *list, size_t i)
{
	const Omis_value *v = omis_list_at(list, i);

	return v && v->kind == OMIS_VALUE_INT ? v->i : 0;
}

double omis_list_float(const Omis_value *list, size_t i)
{
	const Omis_value *v = omis_list_at(list, i);

	return v && (v->kind == OMIS_VALUE_INT || v->kind == OMIS_VALUE_FLOAT) ? v->f : (double)NAN;
}

const char *omis_list_text(const Omis_value *list, size_t i)
{
	const Omis_value *v = omis_list_at(list, i);

	return v && v->s ? v->s : "";
}
