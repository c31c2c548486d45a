/* SPDX-License-Identifier: Apache-2.0 */
/* One object of the directory: making, changing and reading it. Used by directory.c alone to
 * change. */
#ifndef MAINSM_DIRECTORY_OBJECT_H
#define MAINSM_DIRECTORY_OBJECT_H

#include "mainsm/directory/directory.h"

/* In no list, without parent. NULL without memory. */
struct object *object_new(enum object_kind kind, const struct msg_object *m);
void object_free(struct object *o);

/* 1: something that can be seen changed, 0: nothing did, -ERR_NOMEM (then nothing did). */
int object_update(struct object *o, const struct msg_object *m);

#endif
