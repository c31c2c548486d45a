# SPDX-License-Identifier: Apache-2.0
# common/omis: the request language, whole. Pure: bytes in, tree or position and words out.
MODULES         += common/omis
common/omis.src  :=
common/omis.uses := common/omis/text common/omis/services common/omis/reply
