/* SPDX-License-Identifier: Apache-2.0 */
/* A gate is filled for an image, and again after it has failed or was closed. */
#include "common/base/str.h"
#include "tests/suite.h"
#include "tracer/gate/build.h"
#include "tracer/gate/code.h"

#include <stdlib.h>
#include <string.h>

#define BASE UINT64_C(0x7000000)

static struct image *image;
static struct gate *gate;
static struct err err;

static void set_up(void)
{
	image = calloc(1, sizeof(*image));
	gate = calloc(1, sizeof(*gate));
	ck_assert_ptr_nonnull(image);
	ck_assert_ptr_nonnull(gate);
	smap_init(&image->by_name);
}

static void clean_up(void)
{
	image_free(image);
	free(gate);
}

/* In ascending order. */
static void define(const char *name, uint64_t address)
{
	struct image_name *n = &image->name[image->nname++];

	*n = (struct image_name){ name, address };
	ck_assert_int_eq(smap_put(&image->by_name, name, n, NULL), 0);
}

static void forget_names(void)
{
	smap_done(&image->by_name);
	smap_init(&image->by_name);
	image->nname = 0;
}

static void build(void)
{
	const struct build_conf c = { BASE, 77, "/lib/libomig.so", "omig1:lm:0:id", "/run", "h" };

	ck_assert_int_eq(build_gate(image, &c, gate, &err), 0);
	ck_assert(gate_is_valid(gate));
}

TEST(names_lead_to_the_loader)
{
	define("MPI_Recv", 100);
	define("MPI_Send", 200);
	build();
	ck_assert_uint_eq(gate->state, GATE_ARMED);
	ck_assert_uint_eq(gate->nname, 2);
	ck_assert_uint_eq(gate->nslot, 0);
	ck_assert_int_eq(gate_find(gate, "MPI_Send"), 1);
	ck_assert_uint_eq(gate->original[1], 200);
	ck_assert_uint_eq(gate->target[1], code_loader(BASE, 1));
	ck_assert_str_eq(gate->library, "/lib/libomig.so");
}

/* Slots, and pointers that the program has, lead to the entries of these numbers. */
TEST(names_keep_their_numbers)
{
	const struct gate_slot slot = { 4096, 200, 1, 0 };

	define("MPI_Recv", 100);
	define("MPI_Send", 200);
	build();
	ck_assert_int_eq(build_add_slot(gate, &slot), 0);
	gate->state = GATE_FAILED;
	str_copy(gate->why, sizeof(gate->why), "OMIG_DISABLE is set");
	gate->target[1] = gate->original[1];
	forget_names();
	define("MPI_Barrier", 50);
	define("MPI_Send", 300);
	build();
	ck_assert_uint_eq(gate->state, GATE_ARMED);
	ck_assert_str_eq(gate->why, "");
	ck_assert_str_eq(gate_name(gate, 1), "MPI_Send");
	ck_assert_uint_eq(gate->original[1], 300);
	ck_assert_uint_eq(gate->target[1], code_loader(BASE, 1));
	ck_assert_str_eq(gate_name(gate, 0), "MPI_Recv");
	ck_assert_uint_eq(gate->original[0], 100);
	ck_assert_uint_eq(gate->nslot, 1);
	ck_assert_uint_eq(gate->slot[0].address, 4096);
}

TEST(a_long_text_is_refused)
{
	char *path = calloc(1, GATE_PATH_BYTES + 1);
	struct build_conf c = { BASE, 77, path, "", "", "" };

	ck_assert_ptr_nonnull(path);
	memset(path, 'x', GATE_PATH_BYTES);
	ck_assert_int_eq(build_gate(image, &c, gate, &err), -ERR_LIMIT);
	free(path);
}

SUITE_WITH("build", set_up, clean_up)
