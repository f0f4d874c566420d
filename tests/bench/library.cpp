#include "bench/library.h"

#include <algorithm>
#include <map>

#include "backend/backends.h"
#include "bench/entry.h"
#include "bench/side_by_side.h"
#include "data/error.h"
#include "device/head_start.h"

using namespace fovea;
using namespace fovea::bench;

namespace {

constexpr double head_start_ms = 2;  // more than launching a stage takes

std::string message;

// What `action` gives, or `failed` with the message.
template <class Result, class Action>
Result attempt(Result failed, Action action) {
  try {
    return action();
  } catch (const std::exception& error) {
    message = error.what();
    return failed;
  }
}

const Backend& backend(const std::string& precision) {
  static std::map<std::string, std::unique_ptr<Backend>> made;
  std::unique_ptr<Backend>& one = made[precision];
  std::string why_not;
  if (!one) one = make_cuda_backend({.precision = precision}, &why_not);
  if (!one) throw UnavailableError(why_not);
  return *one;
}

Contender contender(const std::string& id, const std::string& precision, Index n, bool causal) {
  for (const Contender& each : contenders(n, causal))
    if (each.id == id && each.precision == precision) return each;
  throw UsageError("no contender " + id + " in " + precision);
}

std::vector<Problem> heads_of(Index n, Index heads, Index d, bool causal, const float* q,
                              const float* k, const float* v) {
  std::vector<Problem> out;
  for (Index h = 0; h < heads; ++h) {
    const auto part = [&](const float* of) {
      return Matrix::copy_of(MatrixView{of + h * n * d, n, d, d});
    };
    out.push_back(make_problem(part(q), part(k), part(v), 0, causal, h));
  }
  return out;
}

}  // namespace

struct fovea_bench {
  std::vector<Problem> heads;
  Problem together = side_by_side(heads);
  Contender contender;
  Entry entry{backend(contender.precision), contender, heads, together};
  std::string settings = describe(contender), kernel = {};
};

const char* fovea_bench_message() {
  return message.c_str();
}

const char* fovea_bench_device() {
  static std::string name;
  return attempt<const char*>(nullptr, [] {
    name = backend(precisions().front()).device();
    return name.c_str();
  });
}

const char* fovea_bench_contenders(long long n, int causal) {
  static std::string lines;
  lines.clear();
  for (const Contender& each : contenders(n, causal != 0))
    lines += each.id + " " + each.precision + "\n";
  return lines.c_str();
}

fovea_bench* fovea_bench_open(const char* id, const char* precision, long long n, long long heads,
                              long long d, int causal, const float* q, const float* k,
                              const float* v) {
  return attempt<fovea_bench*>(nullptr, [&] {
    return new fovea_bench{.heads = heads_of(n, heads, d, causal != 0, q, k, v),
                           .contender = contender(id, precision, n, causal != 0)};
  });
}

void fovea_bench_close(fovea_bench* entry) {
  delete entry;
}

const char* fovea_bench_settings(const fovea_bench* entry) {
  return entry->settings.c_str();
}

const char* fovea_bench_kernel(const fovea_bench* entry) {
  return entry->kernel.c_str();
}

double fovea_bench_floor(const fovea_bench* entry) {
  const Problem& head = entry->heads.front();
  return floor_of(entry->contender.id, entry->contender.precision, head.causal, head.n(),
                  std::ssize(entry->heads), head.d());
}

int fovea_bench_gate(fovea_bench* entry, double* errors) {
  return attempt(-1, [&] {
    const cuda::HeadStart ahead(1e-3);  // so that the kernels are named
    const Gate gate = entry->entry.gate(sampled_rows);
    errors[0] = gate.random.ours;
    errors[1] = gate.random.plain;
    errors[2] = gate.peaked.ours;
    errors[3] = gate.peaked.plain;
    message = gate.reason();
    return gate.passed() ? 1 : 0;
  });
}

int fovea_bench_run(fovea_bench* entry, double* times, float* z) {
  return attempt(-1, [&] {
    Output out;
    const cuda::HeadStart ahead(head_start_ms);
    const Times measured = entry->entry.run(&out);
    entry->kernel = measured.kernel;
    times[0] = measured.kernels;
    times[1] = measured.late;
    if (z)
      for (Index i = 0; i < out.z.rows(); ++i)
        std::copy_n(out.z.row(i), out.z.cols(), z + i * out.z.cols());
    return 0;
  });
}

double fovea_bench_end_to_end(fovea_bench* entry) {
  return attempt(-1.0, [&] { return entry->entry.end_to_end().total; });
}
