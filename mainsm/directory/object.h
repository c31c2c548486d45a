/* SPDX-License-Identifier: Apache-2.0 */
/* One object of the directory: creating, changing and reading it. Only directory.c changes it. */
#ifndef MAINSM_DIRECTORY_OBJECT_H
#define MAINSM_DIRECTORY_OBJECT_H

#include "mainsm/directory/directory.h"

/* Creates an object in no list, without parent. Returns NULL without memory. */
struct object *object_new(enum object_kind kind, const struct msg_object *m);
void object_free(struct object *o);

/* Returns 1: something visible changed, 0: nothing did, -ERR_NOMEM (then nothing did). */
int object_update(struct object *o, const struct msg_object *m);

#endif
