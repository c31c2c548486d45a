/* SPDX-License-Identifier: Apache-2.0 */
/* Counters, integrators, and events of library calls with filters. */
#include "common/omis/services/services.h"

#define COUNTERS P_TOKENS("counter_list", 'k')
#define INTEGRATORS P_TOKENS("integrator_list", 'i')

static const struct omis_service pa[] = {
	{ EXT_SERVICE("pa", "pa_counter_delete", MANIP, 'a', EACH, OBSERVE, DONE),
	  .param = { COUNTERS }, .help = "Deletes counters." },
	{ EXT_SERVICE("pa", "pa_counter_global_create", MANIP, 'p', TOP, OBSERVE, DONE),
	  .param = { PROCS }, .result = "counter",
	  .help = "Makes one counter that all these processes count in." },
	{ EXT_SERVICE("pa", "pa_counter_global_increment", MANIP, 'a', RANK, OBSERVE, DONE),
	  .param = { P_TOKEN("counter", 'k'), P_INT("n") }, .help = "Adds n to a global counter." },
	{ EXT_SERVICE("pa", "pa_counter_local_create", MANIP, 'p', TOP, OBSERVE, DONE),
	  .param = { PROCS }, .result = "counter",
	  .help = "Makes a counter in each of these processes, under one token." },
	{ EXT_SERVICE("pa", "pa_counter_local_increment", MANIP, 'a', RANK, OBSERVE, DONE),
	  .param = { P_TOKEN("counter", 'k'), P_INT("n") },
	  .help = "Adds n to the counter of the process that the event happens in." },
	{ EXT_SERVICE("pa", "pa_counter_read", INFO, 'a', NODE, OBSERVE, DONE),
	  .merge = OMIS_MERGE_SUM, .param = { COUNTERS },
	  .result = "of a local one, an entry a process: counter, count; of a global one: count",
	  .help = "Reads counters; a global one is the sum over its processes." },
	{ EXT_SERVICE("pa", "pa_counter_reset", MANIP, 'a', NODE, OBSERVE, DONE),
	  .param = { COUNTERS }, .help = "Sets counters to 0." },
	{ EXT_SERVICE("pa", "pa_integrator_delete", MANIP, 'a', EACH, OBSERVE, DONE),
	  .param = { INTEGRATORS }, .help = "Deletes integrators." },
	{ EXT_SERVICE("pa", "pa_integrator_global_create", MANIP, 'p', TOP, OBSERVE, DONE),
	  .param = { PROCS }, .result = "integrator",
	  .help = "Makes one integrator for all these processes." },
	{ EXT_SERVICE("pa", "pa_integrator_global_increment", MANIP, 'a', RANK, OBSERVE, DONE),
	  .param = { P_TOKEN("integrator", 'i'), P_FLOAT("delta"), P_FLOAT("time") },
	  .help = "Adds delta at `time` to the value that a global integrator integrates." },
	{ EXT_SERVICE("pa", "pa_integrator_local_create", MANIP, 'p', TOP, OBSERVE, DONE),
	  .param = { PROCS }, .result = "integrator",
	  .help = "Makes an integrator in each of these processes, under one token." },
	{ EXT_SERVICE("pa", "pa_integrator_local_increment", MANIP, 'a', RANK, OBSERVE, DONE),
	  .param = { P_TOKEN("integrator", 'i'), P_FLOAT("delta"), P_FLOAT("time") },
	  .help = "With state {I, v, t} of the process: I += v * (time - t), t = time, v += "
		  "delta. An increment that would make v negative is ignored." },
	{ EXT_SERVICE("pa", "pa_integrator_read", INFO, 'a', NODE, OBSERVE, DONE),
	  .merge = OMIS_MERGE_INTEGRATOR, .param = { INTEGRATORS },
	  .result = "of a local one, an entry a process: integrator, I, v, t; of a global one: "
		    "I, v, t",
	  .help = "Reads integrators; I holds at the time t, so that a call that has not ended "
		  "yet counts." },
	{ EXT_SERVICE("pa", "pa_integrator_reset", MANIP, 'a', NODE, OBSERVE, DONE),
	  .param = { INTEGRATORS },
	  .help = "Sets I to 0 from now on; v stays, because what is open stays open." },
};

static const struct omis_service patop[] = {
	{ EXT_SERVICE("patop", "patop_integrator_global_increment", MANIP, 'a', RANK, OBSERVE,
		      DONE),
	  .param = { P_TOKEN("integrator", 'i'), P_FLOAT("delta"), P_FLOAT("time"),
		     P_INT("potential") },
	  .help = "As patop_integrator_local_increment, for a global integrator." },
	{ EXT_SERVICE("patop", "patop_integrator_local_increment", MANIP, 'a', RANK, OBSERVE, DONE),
	  .param = { P_TOKEN("integrator", 'i'), P_FLOAT("delta"), P_FLOAT("time"),
		     P_INT("potential") },
	  .help = "As pa_integrator_local_increment, for calls of which it is known only at their "
		  "end whether they are meant. With potential not 0 ($par2 of "
		  "patop_lib_call_started) the increment is put by, in the place of an older one; "
		  "the next negative one that is not potential lets it count first, from its own "
		  "time." },
	{ EXT_SERVICE("patop", "patop_lib_call_ended", EVENT, 't', NODE, OBSERVE, PARTLY),
	  .param = { THREADS, P_STRING("function"), P_RANKS("partners"),
		     P_ANYS_OR("regions", "[]") },
	  .ecps = "par",
	  .help = "A library call with one of the partners (processes or ranks; [] = any) has "
		  "returned: $par1 = length times matching partners. Code regions are not "
		  "distinguished: regions is []." },
	{ EXT_SERVICE("patop", "patop_lib_call_started", EVENT, 't', NODE, OBSERVE, PARTLY),
	  .param = { THREADS, P_STRING("function"), P_RANKS("partners"),
		     P_ANYS_OR("regions", "[]") },
	  .ecps = "par",
	  .help = "A library call with one of the partners (processes or ranks; [] = any) begins: "
		  "$par1 = length times matching partners, $par2 = 1 when it is not known yet "
		  "whether it is one of them. Code regions are not distinguished: regions is "
		  "[]." },
	{ EXT_SERVICE("patop", "patop_measurement_counter_read", INFO, 'a', NODE, OBSERVE, DONE),
	  .merge = OMIS_MERGE_MEASURE, .param = { COUNTERS, P_INT("mode") },
	  .result =
		  "of a local one, an entry a process: counter, value, from, to; of a global one: "
		  "value, from, to",
	  .help = "What counters gained. Mode: bit 0 since the last such read (the first: as "
		  "without), else since the counter was made or reset; bit 1 divided by the time "
		  "in seconds." },
	{ EXT_SERVICE("patop", "patop_measurement_integrator_read", INFO, 'a', NODE, OBSERVE, DONE),
	  .merge = OMIS_MERGE_MEASURE, .param = { INTEGRATORS, P_INT("mode") },
	  .result = "of a local one, an entry a process: integrator, value, from, to; of a global "
		    "one: value, from, to",
	  .help = "What I of integrators gained, by the same modes; divided by the time it is the "
		  "mean of v. A call that has not ended counts up to now." },
};

const struct omis_services omis_services_pa = SERVICES(pa);
const struct omis_services omis_services_patop = SERVICES(patop);
