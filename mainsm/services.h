/* SPDX-License-Identifier: Apache-2.0 */
/* All families of services that mainsm executes itself. */
#ifndef MAINSM_SERVICES_H
#define MAINSM_SERVICES_H

#include "mainsm/service/services.h"

/* Ends with NULL. */
extern const struct service *const mainsm_services[];

#endif
