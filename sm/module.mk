# SPDX-License-Identifier: Apache-2.0
# sm: one per site. Splits requests over the lms of its site, answers once for all of them.
MODULES += sm
sm.src  :=
sm.uses := common/base common/omis common/loop proto common/net common/route common/daemon
