# SPDX-License-Identifier: Apache-2.0
# mainsm/history: samples of the jobs that run, kept on disk, and what reads them.
MODULES += mainsm/history
mainsm/history.src := history.c live.c live_add.c sample.c sample_read.c store.c
mainsm/history.uses := common/base common/container common/ring common/omis/text \
		common/omis/services common/omis/reply common/omis common/loop common/net \
		common/route eventlog eventlog/spool tree mainsm/directory mainsm/tool
