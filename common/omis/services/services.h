/* SPDX-License-Identifier: Apache-2.0 */
/* For the files of the catalogue: its parts, and the macros that define them. */
#ifndef COMMON_OMIS_SERVICES_SERVICES_H
#define COMMON_OMIS_SERVICES_SERVICES_H

#include "common/base/array.h"
#include "common/omis/services/catalogue.h"

/*
 * A part of the catalogue. It is sorted by name, and has exactly the services whose names begin
 * with one of its prefixes.
 */
struct omis_services {
	const struct omis_service *v;
	size_t n;
};

extern const struct omis_services omis_services_node, omis_services_proc, omis_services_thread,
	omis_services_message, omis_services_misc, omis_services_site, omis_services_pa,
	omis_services_patop, omis_services_trace, omis_services_dfg, omis_services_omig,
	omis_services_users, omis_services_jobs;

/* clang-format off */
#define SERVICES(array) { (array), ARRAY_LEN(array) }

/*
 * The fixed part of an entry. The right is pasted, so that a service without one does not compile.
 * EXT_SERVICE is for extensions. The first parameter has the objects, except in SERVICE_ON.
 */
#define SERVICE_ON(index, ext, n, cls, obj, place, r, st)                                    \
	.name = (n), .extension = (ext), .class = OMIS_##cls, .object = (obj), \
	.object_param = (index), .where = OMIS_AT_##place, .right = OMIS_##r, .state = OMIS_##st
#define EXT_SERVICE(ext, n, cls, obj, place, r, st) \
	SERVICE_ON((obj) ? 0 : -1, ext, n, cls, obj, place, r, st)
#define SERVICE(n, cls, obj, place, r, st) EXT_SERVICE("", n, cls, obj, place, r, st)

#define P_INT(n) { .name = (n), .type = OMIS_T_INT }
#define P_FLAGS(n) { .name = (n), .type = OMIS_T_INT, .is_flags = true }
#define P_INTS(n) { .name = (n), .type = OMIS_T_INT, .list = true }
#define P_INT_OR(n, d) { .name = (n), .type = OMIS_T_INT, .def = (d) }
#define P_FLOAT(n) { .name = (n), .type = OMIS_T_FLOAT }
#define P_FLOATS(n) { .name = (n), .type = OMIS_T_FLOAT, .list = true }
#define P_STRING(n) { .name = (n), .type = OMIS_T_STRING }
#define P_STRING_OR_NONE(n) { .name = (n), .type = OMIS_T_STRING, .def = "\"\"" }
#define P_STRINGS(n) { .name = (n), .type = OMIS_T_STRING, .list = true }
#define P_BINARY(n) { .name = (n), .type = OMIS_T_BINARY }
#define P_ANY(n) { .name = (n), .type = OMIS_T_ANY }
#define P_ANYS(n) { .name = (n), .type = OMIS_T_ANY, .list = true }
#define P_RANKS(n) { .name = (n), .type = OMIS_T_ANY, .list = true, .is_ranks = true }
#define P_ANYS_OR(n, d) { .name = (n), .type = OMIS_T_ANY, .list = true, .def = (d) }
#define P_TOKEN(n, c) { .name = (n), .type = OMIS_T_TOKEN, .class = (c) }
#define P_TOKENS(n, c) { .name = (n), .type = OMIS_T_TOKEN, .list = true, .class = (c) }

#define NODES P_TOKENS("node_list", 'n')
#define PROCS P_TOKENS("proc_list", 'p')
#define THREADS P_TOKENS("thread_list", 't')
/* clang-format on */

#endif
