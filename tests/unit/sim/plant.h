/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults that are planted into the daemons of a test, to see whether the oracles find them.
 * Functions of the daemons are wrapped when they are linked for the test; their code is as it is.
 */
#ifndef TESTS_UNIT_SIM_PLANT_H
#define TESTS_UNIT_SIM_PLANT_H

enum plant {
	PLANT_NONE,
	PLANT_LOST_WAKE_UP, /* a timer is not armed, now and then */
	PLANT_DOUBLED_ACTION, /* a signal is sent twice */
	/* a process that a tool has stopped is not released when the tool leaves */
	PLANT_FORGOTTEN_RELEASE,
	PLANT_MISSORTED_TIME, /* two calls are reported in the wrong order */
	PLANT_LEAKED_CSR, /* a conditional request that is taken back stays armed */
	PLANT_FORGOTTEN_SYNC, /* the file of tokens is reported as synced, and is in memory only */
	PLANT_BOLD_CLOCK, /* all daemons report a tenth of their clock's bound */
	PLANT_LEAKED_REPLY, /* an answer is not freed, now and then */
	PLANT_UNBOUNDED_QUEUE, /* without a cap for a slow reader */
	PLANT_GULLIBLE_SM, /* an sm believes any host's report about another */
	PLANT_COUNTED_TWICE, /* the lost events of a program are reported twice */
	PLANT_KEPT_CSR, /* conditional requests of a tool that has left stay in the sm */
	/* a new version of a conditional request takes effect before the old one ends */
	PLANT_NEW_BEFORE_OLD,
	PLANT_EMPTY_CONTRIBUTOR, /* an object without a value counts as a contributor */
	PLANT_DOUBLED_BATCH, /* a repeated batch counts twice */
	PLANT_LATE_CONTRIBUTOR, /* a host that is late with a read contributes to the next one */
	PLANT_COUNT
};

/* From now on; how often it could have shown itself counts from 0 again. */
void plant_set(enum plant p);

/* True when the fault shows this time: one in n. */
int plant_shows(enum plant p, unsigned n);

#endif
