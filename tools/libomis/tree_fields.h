/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of fields in omig_tree(). */
#ifndef TOOLS_LIBOMIS_TREE_FIELDS_H
#define TOOLS_LIBOMIS_TREE_FIELDS_H

enum {
	TREE_TOKEN,
	TREE_PARENT,
	TREE_NAME,
	TREE_STATE,
	TREE_PID,
	TREE_RANK,
	TREE_WORLD,
	TREE_JOB,
	TREE_MPI,
	TREE_EXIT, /* the status of wait(); -1 when it is unknown */
	TREE_HOST,
	TREE_AGE, /* of a node: nanoseconds in this state */
};

#endif
