// Microbenchmark: finding the connection of a segment among 100 to 100,000 established ones.
//
// busy: segments come for 64 of them, the others are idle; what the table itself costs as it grows.
// all: segments come for any of them in random order; what the caches add is told, too.

#include "tests/bench/demux.h"

#include <benchmark/benchmark.h>

namespace
{

const uint32_t kBusy = 64;
const uint32_t kTurn = 1000; // look-ups of an iteration

void Find(benchmark::State &state, bool all)
{
	const uint32_t count = static_cast<uint32_t>(state.range(0));

	if (!bench_demux_open(count)) {
		state.SkipWithError("a connection was refused");
		return;
	}
	for (auto _ : state)
		if (!bench_demux_find(all ? count : kBusy, kTurn))
			state.SkipWithError("a connection was not found");
	state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * kTurn);
}

} // namespace

BENCHMARK_CAPTURE(Find, busy, false)->RangeMultiplier(10)->Range(100, 100000);
BENCHMARK_CAPTURE(Find, all, true)->RangeMultiplier(10)->Range(100, 100000);

BENCHMARK_MAIN();
