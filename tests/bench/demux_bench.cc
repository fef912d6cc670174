// Microbenchmark: finding the connection of a segment among 100 to 100,000 established ones, alone
// and as a part of taking the segment in. Times are of 1,024; items_per_second counts one.
//
// busy: segments come for 64 of them, the others are idle; what the table itself costs as it grows.
// all: segments come for any of them in random order; what the caches add is told, too.
//
// What a look-up costs depends on who shares a bucket, which a secret decides; so the mean over
// kSecrets of them is told, each at its best of a few rounds.

#include "tests/bench/demux.h"

#include <benchmark/benchmark.h>

namespace
{

const uint32_t kBusy = 64;
const uint32_t kSecrets = 32;
const unsigned kRounds = 20;

// With the next secret.
double FindOnce(uint32_t number, uint32_t among)
{
	double best = 1;

	if (!bench_demux_reseed(number))
		return -1;
	for (unsigned i = 0; i < kRounds; i++) {
		const double seconds = bench_demux_find(among);

		if (seconds < 0)
			return seconds;
		best = seconds < best ? seconds : best;
	}
	return best;
}

void Find(benchmark::State &state, bool all)
{
	const uint32_t count = static_cast<uint32_t>(state.range(0));
	uint32_t number = 0;

	if (!bench_demux_open(count)) {
		state.SkipWithError("a connection was refused");
		return;
	}
	for (auto _ : state) {
		const double seconds = FindOnce(number++, all ? count : kBusy);

		if (seconds < 0)
			state.SkipWithError("a connection was not found");
		state.SetIterationTime(seconds);
	}
	state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * BENCH_DEMUX_SEGMENTS);
}

// A segment's whole way in.
void Input(benchmark::State &state, bool all)
{
	const uint32_t count = static_cast<uint32_t>(state.range(0));

	if (!bench_demux_open(count)) {
		state.SkipWithError("a connection was refused");
		return;
	}
	for (auto _ : state) {
		const double seconds = bench_demux_input(all ? count : kBusy);

		if (seconds < 0)
			state.SkipWithError("a segment was not taken");
		state.SetIterationTime(seconds);
	}
	state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * BENCH_DEMUX_SEGMENTS);
}

} // namespace

BENCHMARK_CAPTURE(Find, busy, false)
	->RangeMultiplier(10)
	->Range(100, 100000)
	->Iterations(kSecrets)
	->UseManualTime();
BENCHMARK_CAPTURE(Find, all, true)
	->RangeMultiplier(10)
	->Range(100, 100000)
	->Iterations(kSecrets)
	->UseManualTime();
BENCHMARK_CAPTURE(Input, busy, false)
	->RangeMultiplier(10)
	->Range(100, 100000)
	->Iterations(1000)
	->UseManualTime();
BENCHMARK_CAPTURE(Input, all, true)
	->RangeMultiplier(10)
	->Range(100, 100000)
	->Iterations(1000)
	->UseManualTime();

BENCHMARK_MAIN();
