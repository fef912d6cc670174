/*
 * list: a doubly linked list through the members' own links.
 *
 * A link that is on no list points at itself, so membership is a question a member can answer and
 * removing twice is harmless. Nothing is allocated; the list does not own its members.
 *
 * Plane: turn.
 */
#ifndef WEIR_CORE_LIST_H
#define WEIR_CORE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next;
	struct list *prev;
};

/* The member of type `type` whose link `field` is at `link`. */
#define list_member(link, type, field) ((type *)((char *)(link)-offsetof(type, field)))

/* Makes an empty list, or a link that is on none. */
static inline void list_init(struct list *list)
{
	list->next = list->prev = list;
}

static inline bool list_empty(const struct list *list)
{
	return list->next == list;
}

/* Whether a link stands on some list. */
static inline bool list_linked(const struct list *link)
{
	return link->next != link;
}

/* Takes a link off its list; nothing happens if it is on none. */
static inline void list_remove(struct list *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	list_init(link);
}

/* Puts a link at the end, taking it off the list it was on. */
static inline void list_push(struct list *list, struct list *link)
{
	list_remove(link);
	link->prev = list->prev;
	link->next = list;
	list->prev->next = link;
	list->prev = link;
}

/* Takes the first link off; NULL when the list is empty. */
static inline struct list *list_pop(struct list *list)
{
	struct list *first = list->next;

	if (first == list)
		return NULL;
	list_remove(first);
	return first;
}

/* Moves all members of `from` to the end of `list`; `from` is empty afterwards. */
static inline void list_splice(struct list *list, struct list *from)
{
	if (list_empty(from))
		return;
	from->next->prev = list->prev;
	list->prev->next = from->next;
	from->prev->next = list;
	list->prev = from->prev;
	list_init(from);
}

#endif
