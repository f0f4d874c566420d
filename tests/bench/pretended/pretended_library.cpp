// A pretended benchmark library for tests of torch_peers.py: exact attention on the host behind
// bench/library.h, and contenders that are inaccurate, late, absent or lost later.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "bench/library.h"

namespace {
constexpr int most = 128;  // columns
std::string message;
}  // namespace

struct fovea_bench {
  std::string id;
  long long n, heads, d;
  bool causal;
  std::vector<float> q, k, v;
  int runs = 0;

  void attend(float* z) const;
};

void fovea_bench::attend(float* z) const {
  for (long long row = 0; row < heads * n; ++row, z += d) {
    const long long first = row / n * n, last = causal ? row + 1 : first + n;
    double sum[most] = {}, total = 0;
    const float* const query = q.data() + row * d;
    for (long long j = first; j < last; ++j) {
      const float *const key = k.data() + j * d, *const value = v.data() + j * d;
      double logit = 0;
      for (int c = 0; c < d; ++c) logit += double{query[c]} * double{key[c]};
      const double weight = std::exp(logit / std::sqrt(static_cast<double>(d)));
      total += weight;
      for (int c = 0; c < d; ++c) sum[c] += weight * double{value[c]};
    }
    for (int c = 0; c < d; ++c) z[c] = static_cast<float>(sum[c] / total);
  }
}

const char* fovea_bench_message() {
  return message.c_str();
}
const char* fovea_bench_device() {
  return "pretended";
}
const char* fovea_bench_contenders(long long, int) {
  return "exact fp32\nhyper bf16\nwrong fp32\nlate fp32\nabsent fp32\nlost fp32\n";
}
fovea_bench* fovea_bench_open(const char* id, const char*, long long n, long long heads,
                              long long d, int causal, const float* q, const float* k,
                              const float* v) {
  message = "absent is not on this device";
  if (std::string(id) == "absent") return nullptr;
  const auto all = [&](const float* x) { return std::vector<float>(x, x + heads * n * d); };
  return new fovea_bench{id, n, heads, d, causal != 0, all(q), all(k), all(v)};
}
void fovea_bench_close(fovea_bench* entry) {
  delete entry;
}
const char* fovea_bench_settings(const fovea_bench*) {
  return "block=16";
}
const char* fovea_bench_kernel(const fovea_bench*) {
  return "pretended kernel";
}
double fovea_bench_floor(const fovea_bench* entry) {
  return entry->id == "exact" ? 0.5 : 0;
}
int fovea_bench_gate(fovea_bench* entry, double* errors) {
  const double peaked = entry->id == "wrong" ? 3e-2 : 1e-7;
  const double found[4] = {1e-7, 1e-7, peaked, 1e-7};
  std::memcpy(errors, found, sizeof found);
  return entry->id != "wrong";
}
int fovea_bench_run(fovea_bench* entry, double* times, float* z) {
  const int run = entry->runs++;
  if (entry->id == "lost" && run == 3) {
    message = "computed by mma; expected wgmma";
    return -1;
  }
  times[0] = 2 + run % 3;
  times[1] = entry->id == "late" && run % 2 == 0 ? 1 : 0;
  if (z) entry->attend(z);
  return 0;
}
double fovea_bench_end_to_end(fovea_bench*) {
  return 8;
}
