# SPDX-License-Identifier: Apache-2.0
# sm/shared: an sm that serves many users: tenants, their quotas, and the administration.
# circle: site_admin.c site_admin_services.c: one table over two files
MODULES += sm/shared
sm/shared.src := site_admin.c site_admin_services.c tenant.c tenant_file.c tenants.c
sm/shared.uses := common/base common/store common/omis/services common/omis common/loop common/net \
		common/route common/audit common/link common/member common/daemon \
		common/authority tree eventlog/keep sm/node
