# SPDX-License-Identifier: Apache-2.0
# sm: one per site. Splits requests over the lms of its site, answers once for all of them.
MODULES     += sm
sm.src      := quota.c objects.c branches.c nodes.c nodes_greet.c nodes_claim.c cells.c tools.c view.c requests.c arms.c arms_fire.c arms_part.c arms_kept.c \
	       uplink.c news.c facts.c sm.c sm_above.c sm_below.c sm_health.c settings.c \
	       tenant.c tenant_file.c tenants.c front.c front_services.c shared.c program.c
sm.src      += kept.c kept_feed.c
sm.src      += flows.c flows_load.c flows_hosts.c flows_read.c
sm.programs := sm
sm.uses     := common/base common/omis common/loop proto common/net common/flow common/route common/daemon tree common/authority eventlog eventlog/spool eventlog/keep
