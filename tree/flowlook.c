/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/flowlook.h"

void flowlook_node(const struct flow *f, uint32_t measurement, uint32_t number, enum flow_kind kind,
		   struct omis_writer *w)
{
	struct flow_look l;

	if (flow_look(f, measurement, number, &l))
		return;
	omis_write_list(w);
	omis_write_int(w, number);
	omis_write_string(w, flow_kind_name(kind));
	omis_write_int(w, (int64_t)l.count.in);
	omis_write_int(w, (int64_t)l.count.out);
	omis_write_int(w, (int64_t)l.count.late);
	omis_write_int(w, (int64_t)l.count.doubles);
	omis_write_int(w, (int64_t)l.count.unmatched);
	omis_write_int(w, (int64_t)l.count.incomplete);
	omis_write_int(w, (int64_t)l.count.overflow);
	omis_write_int(w, l.open);
	omis_write_int(w, l.window);
	omis_write_list_end(w);
}

void flowlook_way(const char *way, uint64_t frames, uint64_t bytes, struct omis_writer *w)
{
	omis_write_list(w);
	omis_write_string(w, way);
	omis_write_int(w, (int64_t)frames);
	omis_write_int(w, (int64_t)bytes);
	omis_write_list_end(w);
}
