// Prints what a forward pass of a model takes, and opening it before, beside the most memory that
// the process had:  bench_encoder FOLDER TOKENS_OR_SIDE THREADS RUNS
// A model of texts reads so many tokens; one of images a picture of so many pixels a side. One time
// a line, in milliseconds: tests/bench/encoder_peer.py runs it in turn with PyTorch. With RUNS 0 it
// waits for a line of input before each pass, until there is none.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include "backend/backends.h"
#include "data/error.h"
#include "model/encoder.h"

using namespace fovea;

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

long peak_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

int bench(const std::string& folder, Index size, int threads, int runs) {
  const auto backend = make_cpu_backend({.threads = threads});
  const auto opening = Clock::now();
  const auto encoder = read_encoder(folder);
  std::cerr << "opened in " << ms_since(opening) << " ms\n";
  std::vector<std::int32_t> ids;
  ImagePlanes image;
  if (encoder->shape().reads_images()) {
    image = {.height = size, .width = size};
    for (Index i = 0; i < 3 * size * size; ++i)
      image.values.push_back(static_cast<float>(i % 251) / 125 - 1);
  } else {
    for (Index i = 0; i < size; ++i)
      ids.push_back(static_cast<std::int32_t>(1000 + 37 * i % (encoder->shape().words - 1000)));
  }
  const auto keep_nothing = [](EncodedLayer&&) {};
  std::string line;
  for (int r = 0; runs == 0 ? static_cast<bool>(std::getline(std::cin, line)) : r < runs; ++r) {
    Profile profile;
    Run run{profile};
    const auto begin = Clock::now();
    if (ids.empty())
      encoder->encode(image, *backend, run, keep_nothing);
    else
      encoder->encode(ids, *backend, run, keep_nothing);
    std::cout << ms_since(begin) << std::endl;
  }
  std::cerr << "at most " << peak_megabytes() << " MB\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: bench_encoder FOLDER TOKENS_OR_SIDE THREADS RUNS\n";
    return 2;
  }
  try {
    return bench(argv[1], std::atol(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]));
  } catch (const Error& error) {
    std::cerr << "bench_encoder: " << error.what() << '\n';
    return error.status();
  }
}
