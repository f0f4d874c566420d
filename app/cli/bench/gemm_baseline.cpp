#include "cli/bench/gemm_baseline.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "backend/workers.h"

namespace fovea {
namespace gemm {

void sse2(const float* a, const float* b, float* c, int rows, int size);
void avx2(const float* a, const float* b, float* c, int rows, int size);
void avx512(const float* a, const float* b, float* c, int rows, int size);

}  // namespace gemm

namespace {

using Gemm = void (*)(const float*, const float*, float*, int, int);

Gemm best() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return gemm::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return gemm::avx2;
  return gemm::sse2;
}

}  // namespace

double gemm_rate(int size, int threads, int rounds) {
  const auto entries = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  const std::vector<float> a(entries, 0.5f), b(entries, 0.25f);
  std::vector<float> c(entries);
  const Gemm multiply = best();
  Workers workers(threads);
  std::vector<double> rates;
  for (int round = 0; round <= rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    workers.loop(threads, {}, [&](Index part, int) {
      const auto begin = static_cast<int>(part * size / threads),
                 end = static_cast<int>((part + 1) * size / threads);
      const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(begin) * size;
      multiply(a.data() + offset, b.data(), c.data() + offset, end - begin, size);
    });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (round > 0) rates.push_back(2e-9 * static_cast<double>(entries) * size / took.count());
  }
  std::ranges::sort(rates);
  return rates.empty() ? 0 : rates[rates.size() / 2];
}

}  // namespace fovea
