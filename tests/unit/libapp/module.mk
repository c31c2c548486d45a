# SPDX-License-Identifier: Apache-2.0
# libapp finds MPI by name at run time: the program shows the names of its fake.
libapp.test_src  := fake_mpi.c rank.c
libapp.test_libs := -rdynamic
