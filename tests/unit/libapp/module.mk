# SPDX-License-Identifier: Apache-2.0
# libapp finds MPI by name at run time: the program shows the names of its fake.
libapp.test_src  := fake_mpi.c rank.c
libapp.test_libs := -rdynamic
# But for the processes without MPI.
$(B)/tests/unit/libapp/test_alone: WITHOUT := $(B)/tests/unit/libapp/fake_mpi.o \
		$(B)/tests/unit/libapp/rank.o
