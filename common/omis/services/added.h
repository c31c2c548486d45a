/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services that plug-ins add at run time. The lm sends their definitions to mainsm, as lines of
 * values. A call of one becomes a call of a built-in service, which carries its name and its
 * parameters. So no daemon between mainsm and the lm needs the definition.
 */
#ifndef COMMON_OMIS_SERVICES_ADDED_H
#define COMMON_OMIS_SERVICES_ADDED_H

#include "common/omis/services/catalogue.h"
#include "common/omis/text/request.h"

/* A service that has one number as its result may be a metric, too. */
enum added_metric { ADDED_NO_METRIC, ADDED_COUNTER, ADDED_VALUE };

/* A service as its plug-in declares it. */
struct added_spec {
	const char *name, *plugin; /* lower case letters, digits and _ */
	/*
	 * "string device, int n = 0, float* limits": those behind the list of objects. Defaults
	 * are integers, "" for a string and [] for a list, only at the end.
	 */
	const char *params;
	const char *result; /* names of its result values; "" = none. Of a metric: its unit */
	const char *help;
	bool changes; /* it needs the right to manipulate */
	bool of_processes; /* else of nodes */
	enum added_metric metric;
};

struct added_service {
	struct omis_service s; /* its texts are owned */
	struct added_spec spec;
	char text[];
};

/* -ERR_INVALID with the reason: also for the name of a built-in service. -ERR_NOMEM. */
int added_service_new(const struct added_spec *spec, struct added_service **out, struct err *e);
void added_service_free(struct added_service *a);

/* Appends its definition, a line. */
void added_service_write(struct buf *b, const struct added_service *a);

/* Reads such a line, of n bytes without its end. -ERR_PARSE, -ERR_INVALID, -ERR_NOMEM. */
int added_service_read(const char *line, size_t n, struct added_service **out, struct err *e);

/* True if the values, a list, are those that its parameters take; else e has the reason. */
bool added_service_takes(const struct added_service *a, const struct omis_value *list,
			 struct err *e);

bool added_service_is_metric(const struct added_service *a);

/* The built-in service that carries its calls. */
const struct omis_service *added_service_carrier(const struct added_service *a);

/* The parameters of a carrier. */
enum added_param { ADDED_OBJECTS, ADDED_NAME, ADDED_VALUES, ADDED_PARAMS };

/* The name of the service that a checked call means: that of a plug-in, if it carries one. */
const char *added_name_of(const struct omis_call *c);

/* --- the services of several hosts */

struct added_services;

struct added_services *added_services_new(void);
void added_services_free(struct added_services *all);

/*
 * Adds the definitions of a text: lines, at most PLUGIN_TEXT_MAX_BYTES. A name that is known
 * already keeps its first definition. Lines that are no definitions are left out; *bad, if not
 * NULL, is increased by their number. -ERR_LIMIT, -ERR_NOMEM.
 */
int added_services_add(struct added_services *all, const char *text, size_t n, size_t *bad);

/* True if such a text has a definition with that name. The rest of its line is not examined. */
bool added_services_name(const char *text, size_t n, const char *name);

/* Writes the result of services("plugin"). */
void added_services_write(const struct added_services *all, struct omis_writer *w);

/* Return NULL if there is none. NULL for `all` has none. */
const struct added_service *added_services_find(const struct added_services *all, const char *name);
const struct added_service *added_services_at(const struct added_services *all, size_t i);

#endif
