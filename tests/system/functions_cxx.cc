// SPDX-License-Identifier: Apache-2.0
// functions_cxx GO END: as functions.c, with exceptions and overloads of C++.
#include <cstdio>
#include <mpi.h>
#include <stdexcept>
#include <unistd.h>
#include <utility>

#define STAY __attribute__((noinline, noclone))

static volatile double sink;

namespace flux
{
struct field {
	double *at;
	explicit field(int n) : at(new double[n]) {}
	~field() { delete[] at; }
};

STAY double compute(int n)
{
	field f(n + 1);

	for (int i = 0; i < n; i++)
		f.at[i] = i * 0.5 + sink;
	if (n % 3 == 0)
		throw std::runtime_error("a third");
	return f.at[n / 2];
}

STAY double compute(double x)
{
	sink = sink + x;
	return sink * 2 + (x > 3 ? x : 0);
}

template <class T> STAY T mean(T a, T b)
{
	sink = sink + a;
	return (a + b) / 2;
}

// More functions of one name than a list of them has.
template <int N> STAY double among(double x)
{
	sink = sink + x;
	return sink * N;
}
template <int... N> double among_all(std::integer_sequence<int, N...>)
{
	return (among<N>(1.0) + ...);
}

struct made {
	int n;
	explicit made(int m);
};
STAY made::made(int m) : n(m)
{
	sink = sink + m;
	sink = sink / 2;
}
} // namespace flux

static void wait_for(const char *file)
{
	while (access(file, F_OK))
		usleep(10000);
}

int main(int argc, char **argv)
{
	int caught = 0, rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	wait_for(argv[1]);
	for (int i = 0; i < 3000; i++)
		try {
			sink = flux::compute(i);
		} catch (const std::runtime_error &) {
			caught++;
		}
	for (int i = 0; i < 70; i++)
		sink = flux::compute(i * 0.5);
	for (int i = 0; i < 90; i++)
		sink = flux::mean(i, 4) + flux::mean(i * 0.5, 4.0);
	for (int i = 0; i < 60; i++)
		sink = flux::made(i).n;
	sink = flux::among_all(std::make_integer_sequence<int, 203>());
	std::printf("rank %d int 3000 double 70 mean 90 made 60 caught %d\n", rank, caught);
	std::fflush(stdout);
	wait_for(argv[2]);
	MPI_Finalize();
	return 0;
}
