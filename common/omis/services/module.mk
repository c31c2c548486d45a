# SPDX-License-Identifier: Apache-2.0
# common/omis/services: the catalogue of services, and requests checked against it.
MODULES                   += common/omis/services
common/omis/services.src  := added.c added_set.c bind.c catalogue.c catalogue_doc.c check.c \
		services_dfg.c services_job.c services_misc.c services_node.c services_omig.c \
		services_pa.c services_proc.c services_thread.c services_trace.c services_users.c
common/omis/services.uses := common/base common/cli common/omis/text
