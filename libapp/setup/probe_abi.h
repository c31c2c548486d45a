/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface between libomig and a module with probes (a program, or a library of it). The module's
 * ELF file has a note, owner "OMIG" and type 1. It contains the distance from itself to a struct
 * omig_probes: libomig searches for these notes in MPI_Init. So the module can be linked and run
 * without libomig, and libomig without the module. `omig probes` copies this text into its output;
 * a changed interface requires another version.
 */
#ifndef OMIG_PROBE_ABI
#define OMIG_PROBE_ABI 1

#if defined(__x86_64__)
#define OMIG_PROBE_PAGE 4096
#else
#define OMIG_PROBE_PAGE 65536
#endif

union omig_value {
	long long i; /* for all integer types */
	double f;
};

struct omig_probe {
	const char *name;
	const unsigned char *type; /* of each parameter; the first is the virtual time */
	unsigned nparam;
};

struct omig_probes {
	unsigned version, count; /* OMIG_PROBE_ABI, number of probes */
	const struct omig_probe *probe;
	/* one per probe, 0 = off; on a separate page, over which libomig maps another */
	unsigned *word;
	/* set by libomig: called by active probes; the number of the first probe */
	void (*hit)(unsigned number, unsigned word, const union omig_value *value);
	unsigned first;
};

#endif
