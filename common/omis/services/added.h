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

/* A service with one number as its result may be a metric, too. */
enum added_metric { ADDED_NO_METRIC, ADDED_COUNTER, ADDED_VALUE };

/* A service in the form in which its plug-in declares it. */
struct added_spec {
	const char *name, *plugin; /* lower case letters, digits and _ */
	/*
	 * Parameters behind the list of objects, such as "string device, int n = 0, float* limits".
	 * Defaults are integers, "" for a string and [] for a list, and only at the end.
	 */
	const char *params;
	const char *result; /* names of the result values; "" = none; for a metric: its unit */
	const char *help;
	bool changes; /* it needs the right to manipulate */
	bool of_processes; /* true for processes, false for nodes */
	enum added_metric metric;
};

struct added_service {
	struct omis_service s; /* its strings are owned */
	struct added_spec spec;
	char text[];
};

/*
 * Fails with ERR_INVALID and the reason, also for the name of a built-in service, and with
 * ERR_NOMEM.
 */
int added_service_new(const struct added_spec *spec, struct added_service **out, struct err *e);
void added_service_free(struct added_service *a);

/* Appends the definition as a line. */
void added_service_write(struct buf *b, const struct added_service *a);

/* Reads such a line, of n bytes without its end. Fails with ERR_PARSE, ERR_INVALID, ERR_NOMEM. */
int added_service_read(const char *line, size_t n, struct added_service **out, struct err *e);

/* True if the list has values that the parameters accept; otherwise e has the reason. */
bool added_service_takes(const struct added_service *a, const struct omis_value *list,
			 struct err *e);

bool added_service_is_metric(const struct added_service *a);

/* Returns the built-in service that carries calls of this service. */
const struct omis_service *added_service_carrier(const struct added_service *a);

/* The parameters of a carrier. */
enum added_param { ADDED_OBJECTS, ADDED_NAME, ADDED_VALUES, ADDED_PARAMS };

/*
 * Returns the name of the service that a checked call means: that of a plug-in, if the called
 * service carries it.
 */
const char *added_name_of(const struct omis_call *c);

/* --- the services of several hosts */

struct added_services;

struct added_services *added_services_new(void);
void added_services_free(struct added_services *all);

/*
 * Adds the definitions in a text of lines, at most PLUGIN_TEXT_MAX_BYTES. A known name keeps its
 * first definition. Invalid lines are ignored; *bad, if not NULL, is increased by their number.
 * Fails with ERR_LIMIT, ERR_NOMEM.
 */
int added_services_add(struct added_services *all, const char *text, size_t n, size_t *bad);

/* True if such a text has a definition with that name, whose parameters are not examined. */
bool added_services_name(const char *text, size_t n, const char *name);

/* Writes the result of services("plugin"). */
void added_services_write(const struct added_services *all, struct omis_writer *w);

/* Return NULL if there is none, also if `all` is NULL. */
const struct added_service *added_services_find(const struct added_services *all, const char *name);
const struct added_service *added_services_at(const struct added_services *all, size_t i);

#endif
