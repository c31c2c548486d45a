/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loaded objects of a running process, by its loader's own list: which of their slots lead to
 * MPI functions, and where these are. Everything is read from outside while the process runs, and
 * nothing is believed: sizes are bounded, and a list that changes meanwhile is an error to retry.
 */
#ifndef TRACER_GATE_IMAGE_H
#define TRACER_GATE_IMAGE_H

#include "common/base/err.h"
#include "common/container/map.h"
#include "common/gate/gate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_OBJECTS_MAX 4096 /* large Python programs load some hundred */
#define IMAGE_TABLE_MAX_BYTES (64u * 1024 * 1024) /* a symbol table of the largest programs */
#define IMAGE_OBJECT_NAME_BYTES 256 /* of a path, its end */

/* One object, with the tables that its loader uses. */
struct image_object {
	uint64_t link; /* its struct link_map */
	uint64_t bias, dynamic; /* as there */
	uint64_t start, end; /* extent in memory */
	char name[IMAGE_OBJECT_NAME_BYTES];
	uint64_t symtab, strtab, strsz, hash;
	uint64_t rela, relasz, jmprel, pltrelsz;
	uint8_t *symbols; /* owned: the symbol table, */
	char *strings; /* and its strings, ended by a 0 */
	size_t nsymbol;
};

struct image_name {
	const char *text; /* of its object */
	uint64_t address;
};

struct image_slot {
	uint64_t address, value;
	uint32_t name;
};

struct image {
	int32_t pid;
	uint64_t debug; /* the loader's struct r_debug */
	uint64_t dlopen, dlsym, dlerror, errno_location;
	uint64_t gate; /* its base; 0: none */
	struct image_object *object;
	size_t nobject, object_cap;
	struct smap by_name; /* struct image_name */
	struct image_name name[GATE_NAMES_MAX];
	size_t nname;
	struct image_slot slot[GATE_SLOTS_MAX];
	/* nskipped: that lead to another tool, or beyond GATE_SLOTS_MAX; to the gate: neither */
	size_t nslot, nskipped;
	bool has_libomig;
};

/*
 * gate: the base of the process's gate; 0: none. -ERR_UNSUPPORTED, in words: a static program, one
 * of another C library or architecture, without MPI, or with it inside. -ERR_AGAIN: it is loading
 * an object. -ERR_DENIED: the kernel refuses. -ERR_NOTFOUND: it has ended.
 */
int image_read(int32_t pid, uint64_t gate, struct image **out, struct err *e);
void image_free(struct image *m);

/* True if no object has come or gone since it was read. Of a frozen process: until it continues. */
bool image_is_current(const struct image *m);

/* --- image_objects.c */
/* Exactly n bytes. -ERR_NOTFOUND: not mapped, or it has ended. -ERR_DENIED. */
int image_peek(int32_t pid, uint64_t addr, void *out, size_t n, struct err *e);
/* `size` bytes at each of n places, one after the other to out. False: some cannot be read. */
bool image_peek_each(int32_t pid, const uint64_t *addr, size_t n, size_t size, void *out);
/* Fills debug and the objects. */
int image_read_objects(struct image *m, struct err *e);
/* The part of a path behind the last slash. */
const char *image_base_name(const struct image_object *o);

#endif
