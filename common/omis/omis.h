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
 *	reply.h      replies: entries, coverage; adding, merging
 *
 * Pure: no I/O, no clock, no state; any number of threads may work on different trees. docs/omis.md
 * describes the language for users.
 */
#ifndef COMMON_OMIS_OMIS_H
#define COMMON_OMIS_OMIS_H

#include "common/omis/reply/reply.h"
#include "common/omis/services/catalogue.h"
#include "common/omis/services/check.h"
#include "common/omis/text/arena.h"
#include "common/omis/text/request.h"
#include "common/omis/text/status.h"
#include "common/omis/text/token.h"
#include "common/omis/text/value.h"

#endif
