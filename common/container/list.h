/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intrusive doubly linked ring. The list owns nothing. A link that is not in a list points to
 * itself after list_init() or list_del(). So a second list_del() has no effect.
 */
#ifndef COMMON_CONTAINER_LIST_H
#define COMMON_CONTAINER_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next, *prev;
};

#define LIST_INIT(name)          \
	{                        \
		&(name), &(name) \
	}

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool list_is_empty(const struct list *l)
{
	return l->next == l;
}

static inline void list_insert_between(struct list *item, struct list *prev, struct list *next)
{
	item->prev = prev;
	item->next = next;
	prev->next = item;
	next->prev = item;
}

/* Appends an item that is in no list. */
static inline void list_push_back(struct list *head, struct list *item)
{
	list_insert_between(item, head->prev, head);
}

static inline void list_push_front(struct list *head, struct list *item)
{
	list_insert_between(item, head, head->next);
}

static inline void list_del(struct list *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	list_init(item);
}

/* Returns NULL if the list is empty. */
static inline struct list *list_first(const struct list *head)
{
	return list_is_empty(head) ? NULL : head->next;
}

static inline struct list *list_pop_front(struct list *head)
{
	struct list *item = list_first(head);

	if (item)
		list_del(item);
	return item;
}

/* Moves all of `from` to the end of `to`. */
static inline void list_splice_back(struct list *to, struct list *from)
{
	if (list_is_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_init(from);
}

#define list_entry(item, type, member) ((type *)((char *)(item)-offsetof(type, member)))

/*
 * Walk through a list; `item` is a struct list *. list_each_safe() permits list_del(item) in its
 * body.
 */
#define list_each(item, head) \
	for (struct list *item = (head)->next; item != (head); item = item->next)
#define list_each_safe(item, head)                                                        \
	for (struct list *item = (head)->next, *item##_next = item->next; item != (head); \
	     item = item##_next, item##_next = item->next)

#endif
