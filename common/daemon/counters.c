/* SPDX-License-Identifier: Apache-2.0 */
#include "common/daemon/counters.h"

#include "common/link/link.h"
#include "common/net/identity.h"

void counters_of_certificate(const struct counter_sink *to, const struct identity *self)
{
	if (!self || !self->wall_not_after)
		return;
	to->number(to->arg, "certificate_expires_ns", self->wall_not_after);
	to->number(to->arg, "certificate_life_s",
		   (self->wall_not_after - self->wall_not_before) / NSEC_PER_SEC);
}

void counters_of_process(const struct counter_sink *to, const struct daemon_health *h)
{
	to->number(to->arg, "lag_ns", h->lag_last);
	to->number(to->arg, "lag_max_ns", h->lag_max);
	to->number(to->arg, "rss_bytes", h->rss_bytes);
	to->number(to->arg, "fds", h->fds);
	to->number(to->arg, "fd_limit", h->fd_limit);
}

void counters_of_parent(const struct counter_sink *to, const struct link_stats *l,
			nsec_t time_error)
{
	to->number(to->arg, "parent_connects", l->connects);
	to->number(to->arg, "parent_frames_out", (int64_t)l->frames_out);
	to->number(to->arg, "parent_bytes_out", (int64_t)l->bytes_out);
	to->number(to->arg, "parent_queued_bytes", (int64_t)l->queued);
	to->number(to->arg, "parent_dropped", (int64_t)l->dropped);
	to->number(to->arg, "parent_rtt_ns", l->rtt);
	to->number(to->arg, "time_error_ns", time_error);
}
