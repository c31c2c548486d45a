/* SPDX-License-Identifier: Apache-2.0 */
/* A gate is memory of another process: what is not valid in it is refused. */
#include "common/gate/gate.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>

static struct gate *gate;

static void add(const char *name)
{
	gate->name[gate->nname++] = gate->ntext;
	memcpy(gate->text + gate->ntext, name, strlen(name) + 1);
	gate->ntext += (uint32_t)strlen(name) + 1;
}

static void set_up(void)
{
	gate = calloc(1, sizeof(*gate));
	ck_assert_ptr_nonnull(gate);
	gate->magic = GATE_MAGIC;
	gate->version = GATE_VERSION;
	add("MPI_Recv");
	add("MPI_Send");
	add("mpi_send_");
}

static void clean_up(void)
{
	free(gate);
}

TEST(names_are_found_by_their_text)
{
	ck_assert(gate_is_valid(gate));
	ck_assert_int_eq(gate_find(gate, "MPI_Recv"), 0);
	ck_assert_int_eq(gate_find(gate, "MPI_Send"), 1);
	ck_assert_int_eq(gate_find(gate, "mpi_send_"), 2);
	ck_assert_int_eq(gate_find(gate, "MPI_Sendrecv"), -1);
	ck_assert_int_eq(gate_find(gate, ""), -1);
	ck_assert_str_eq(gate_name(gate, 1), "MPI_Send");
	ck_assert_ptr_null(gate_name(gate, 3));
}

TEST(numbers_and_texts_beyond_their_limits_are_refused)
{
	gate->nname = GATE_NAMES_MAX + 1;
	ck_assert(!gate_is_valid(gate));
	gate->nname = 3;
	gate->nslot = GATE_SLOTS_MAX + 1;
	ck_assert(!gate_is_valid(gate));
	gate->nslot = 0;
	gate->name[2] = gate->ntext;
	ck_assert(!gate_is_valid(gate));
	gate->name[2] = 0;
	ck_assert(gate_is_valid(gate));
	gate->text[gate->ntext - 1] = 'x';
	ck_assert(!gate_is_valid(gate));
	gate->text[gate->ntext - 1] = 0;
	memset(gate->library, 'x', sizeof(gate->library));
	ck_assert(!gate_is_valid(gate));
}

TEST(another_version_is_refused)
{
	gate->version++;
	ck_assert(!gate_is_valid(gate));
	gate->version--;
	gate->magic++;
	ck_assert(!gate_is_valid(gate));
}

TEST(states_have_names)
{
	ck_assert_str_eq(gate_state_name(GATE_ARMED), "pending");
	ck_assert_str_eq(gate_state_name(GATE_OPEN), "watched");
	ck_assert_str_eq(gate_state_name(GATE_STATES), "?");
}

SUITE_WITH("gate", set_up, clean_up)
