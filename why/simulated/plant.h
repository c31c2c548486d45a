/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of a plant on the figures of a rank. */
#ifndef WHY_SIMULATED_PLANT_H
#define WHY_SIMULATED_PLANT_H

#include "why/simulated/simulated.h"

/* The class of calls in which ranks meet. */
enum why_class plant_class(enum simulated_plant p);

/* True if rank i is late by the plant in this block. */
bool plant_is_late(const struct simulated *s, size_t i);

/* Returns the excess of rank i in this block, in seconds an iteration. */
double plant_excess(const struct simulated *s, size_t i);

/* Adds `seconds` of excess to the figures of a late rank, by the reason that is planted. */
void plant_explain(const struct simulated *s, struct why_rank *r, double seconds);

/* Returns the seconds of an iteration that all ranks spend in MPI, whatever their work. */
double plant_operation(const struct simulated *s);

#endif
