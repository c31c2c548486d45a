/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/online/netpieces.h"

void netpieces_add(struct netpieces *p, const struct network_piece *more)
{
	if (!more->ns && !p->keeps_empty)
		return;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->piece[i].with == more->with && p->piece[i].is_child == more->is_child) {
			p->is_full |=
				__builtin_add_overflow(p->piece[i].ns, more->ns, &p->piece[i].ns);
			return;
		}
	if (p->n == NETWORK_PIECES_MAX)
		p->is_full = true;
	else
		p->piece[p->n++] = *more;
}

static void add_each(struct netpieces *p, const struct network_piece *more, uint32_t n,
		     bool is_child, bool is_beside)
{
	for (uint32_t i = 0; i < n; i++) {
		struct network_piece x = more[i];

		x.is_child |= is_child;
		x.ns = is_beside ? 0 : x.ns;
		netpieces_add(p, &x);
	}
}

void netpieces_add_all(struct netpieces *p, const struct network_piece *more, uint32_t n,
		       bool is_child)
{
	add_each(p, more, n, is_child, false);
}

void netpieces_add_beside(struct netpieces *p, const struct network_piece *more, uint32_t n,
			  bool is_child)
{
	add_each(p, more, n, is_child, true);
}

void netpieces_use(struct netpieces *p, uint64_t objects, bool is_inherited)
{
	struct netpieces was = *p;

	p->n = 0;
	for (uint32_t i = 0; i < was.n; i++) {
		if (is_inherited || !was.piece[i].is_child)
			was.piece[i].with |= objects;
		netpieces_add(p, &was.piece[i]);
	}
}
