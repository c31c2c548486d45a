/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request language, whole:
 *
 *	arena.h      memory of one request
 *	value.h      parameters and results; writing and reading them
 *	request.h    text <-> tree
 *	token.h      names of objects
 *	status.h     status codes
 *	catalogue.h  every service: parameters, object, place, right, state, words
 *	check.h      tree -> checked tree; event context parameters -> values
 *	reply.h      what comes back: entries, coverage; adding, merging, JSON
 *
 * Pure: no I/O, no clock, no state; any number of threads may work on
 * different trees. docs/omis.md is the text for people.
 */
#ifndef COMMON_OMIS_OMIS_H
#define COMMON_OMIS_OMIS_H

#include "common/omis/arena.h"
#include "common/omis/catalogue.h"
#include "common/omis/check.h"
#include "common/omis/reply.h"
#include "common/omis/request.h"
#include "common/omis/status.h"
#include "common/omis/token.h"
#include "common/omis/value.h"

#endif
