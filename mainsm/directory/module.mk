# SPDX-License-Identifier: Apache-2.0
# mainsm/directory: the objects of all sites, the daemons below, and numbers that last.
MODULES += mainsm/directory
mainsm/directory.src := added.c directory.c numbers.c object.c sites.c
mainsm/directory.uses := common/base common/container common/store common/omis/text \
		common/omis/services common/omis proto
