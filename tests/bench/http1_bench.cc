// Microbenchmarks: heads of HTTP/1.1 beside Debian's http-parser, frames, lengths, routes.
//
// Each reports the allocations of one parse or batch, counted at malloc. Those of heads report ns, the
// time of one parse, and times_as_fast, the ratio of http-parser's time to it: the two work in short
// turns within the same iterations.

#include "tests/bench/codecs.h"
#include "tests/bench/routes.h"

#include <benchmark/benchmark.h>

#include <string>
#include <time.h>

namespace
{

const char simple_get[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const char complex_post[] = "POST /api/todos HTTP/1.1\r\n"
			    "Host: localhost:8080\r\n"
			    "Content-Type: application/json\r\n"
			    "Authorization: Bearer abc123\r\n"
			    "Accept: application/json\r\n"
			    "Accept-Encoding: gzip, deflate\r\n"
			    "User-Agent: benchmark/1.0\r\n"
			    "Content-Length: 27\r\n"
			    "\r\n"
			    "{\"title\":\"Benchmark this\"}";

const int kTurn = 1000; // parses of one and of the other side, in turns

// The thread's CPU time, which others on the same CPU do not lengthen.
double ThreadSeconds()
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double SecondsOf(bool (*parse)(const char *, size_t), const char *text, size_t bytes)
{
	const double begin = ThreadSeconds();

	for (int i = 0; i < kTurn; i++)
		benchmark::DoNotOptimize(parse(text, bytes));
	return ThreadSeconds() - begin;
}

// An iteration is a turn of kTurn parses; http-parser's turn is not in its time.
void Parse(benchmark::State &state, bool (*parse)(const char *, size_t), const char *way,
	   const char *text, size_t bytes)
{
	double ours = 0, theirs = 0;
	uint64_t allocations = 0;

	if (!bench_choose(way) || !parse(text, bytes)) {
		state.SkipWithError("this CPU cannot, or the head was refused");
		return;
	}
	for (auto _ : state) {
		const uint64_t before = bench_allocations();
		const double seconds = SecondsOf(parse, text, bytes);

		allocations += bench_allocations() - before;
		theirs += SecondsOf(bench_http_parser, text, bytes);
		ours += seconds;
		state.SetIterationTime(seconds);
	}
	const double parses = static_cast<double>(state.iterations()) * kTurn;

	state.counters["ns"] = ours / parses * 1e9;
	state.counters["allocations"] = static_cast<double>(allocations) / parses;
	if (bench_has_http_parser())
		state.counters["times_as_fast"] = theirs / ours;
}

// Batches of `messages` of 64 bytes, encoded or decoded.
void Codec(benchmark::State &state, size_t (*work)())
{
	const uint64_t before = bench_allocations();
	size_t bytes = 0;

	for (auto _ : state)
		bytes += work();
	state.counters["allocations"] = static_cast<double>(bench_allocations() - before) /
					static_cast<double>(state.iterations());
	state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * BENCH_MESSAGES);
	state.SetBytesProcessed(static_cast<int64_t>(bytes));
}

// The lookup of one path, which has a route or not.
void Route(benchmark::State &state, std::string path, bool found)
{
	bench_routes_open();
	for (auto _ : state) {
		benchmark::DoNotOptimize(path.data());
		if (bench_route(path.data(), path.size()) != found)
			state.SkipWithError("the wrong route was found");
	}
}

void AddHeads(const char *name, const char *text, size_t bytes)
{
	const struct {
		const char *side, *way;
		bool (*parse)(const char *, size_t);
	} sides[] = {
		{"views/scalar", "scalar", bench_views},
		{"views/sse4.2", "sse4.2", bench_views},
		{"views/avx2", "avx2", bench_views},
		{"owned/avx2", "avx2", bench_owned},
		{"http-parser", "scalar", bench_http_parser},
	};

	for (const auto &side : sides) {
		if (side.parse == bench_http_parser && !bench_has_http_parser())
			continue;
		benchmark::RegisterBenchmark((std::string(name) + "/" + side.side).c_str(), Parse,
					     side.parse, side.way, text, bytes)
			->UseManualTime();
	}
}

} // namespace

int main(int argc, char **argv)
{
	AddHeads("simple_get", simple_get, sizeof(simple_get) - 1);
	AddHeads("complex_post", complex_post, sizeof(complex_post) - 1);
	benchmark::RegisterBenchmark("frame/encode", Codec, bench_frame_encode);
	benchmark::RegisterBenchmark("frame/decode", Codec, bench_frame_decode);
	benchmark::RegisterBenchmark("length/encode", Codec, bench_length_encode);
	benchmark::RegisterBenchmark("length/decode", Codec, bench_length_decode);
	benchmark::RegisterBenchmark("route/root", Route, "/", true);
	benchmark::RegisterBenchmark("route/exact", Route, "/api/todos", true);
	benchmark::RegisterBenchmark("route/prefix", Route, "/api/todos/42", true);
	benchmark::RegisterBenchmark("route/file", Route, "/static/css/site.css", true);
	benchmark::RegisterBenchmark("route/none", Route, "/no/such/path", false);
	benchmark::Initialize(&argc, argv);
	if (benchmark::ReportUnrecognizedArguments(argc, argv))
		return 4;
	benchmark::RunSpecifiedBenchmarks();
	return 0;
}
