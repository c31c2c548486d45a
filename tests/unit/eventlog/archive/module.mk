# SPDX-License-Identifier: Apache-2.0
eventlog/archive.test_src  := ../made.c stored.c each_database.c questions.c server.c
# Where libpq's own header is installed, the prototypes are compared with it.
eventlog/archive.test_pkgs := $(shell $(PKG_CONFIG) --exists libpq 2>/dev/null && echo libpq)
