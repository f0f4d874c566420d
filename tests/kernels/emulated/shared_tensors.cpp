// Operators of one head share what they have of it on the device.
#include "device/shared_tensors.h"

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include "evaluate/computation.h"
#include "harness.h"
#include "kernels/other_backends.h"
#include "laws/operator_cases.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr Index n = 384, d = 64;
constexpr std::size_t tensor_bytes = n * d * sizeof(float);
/// What else two columns may differ by: how a tensor was split.
constexpr std::size_t slack = 256;
/// Lists, orders and weights of a plan of windows, at most.
constexpr std::size_t list_bytes = tensor_bytes / 4;

std::shared_ptr<const Operator> bound(const Backend& backend, const Problem& problem,
                                      const Case& c) {
  const Variant& variant = find_variant(c.id);
  TimedRun timed;
  Profile profile;
  const Run run{profile};
  return plan_and_bind(problem, {.variant = &variant, .values = values_of(variant, c.settings)},
                       backend, run, timed);
}

Matrix applied(const Operator& op) {
  Profile profile;
  Run run{profile};
  return op.apply(run).z;
}

/// The bytes that a column copies to and from the device, from its plan to its Z.
std::size_t copied_for(const Backend& backend, const Problem& problem, const Case& c) {
  const std::size_t before = emulation::copies_so_far().bytes;
  const auto op = bound(backend, problem, c);
  applied(*op);
  return emulation::copies_so_far().bytes - before;
}

}  // namespace

TEST_CASE("q, k and v go to the device once for a column, and not again for the next ones") {
  struct Expected {
    Case column;
    std::size_t planned = 0;          // tensors that both its planner and its kernels read
    std::size_t shared, shared_fp32;  // tensors that it finds beside exact attention
  };
  // In other precisions than fp32 exact attention keeps no values in fp32, of which h1d takes means
  // and tc sums.
  const std::vector<Expected> columns{
      {{.id = "exact"}, 0, 3, 3},
      {{.id = "window"}, 0, 3, 3},
      {{.id = "h1d"}, 0, 2, 3},
      {{.id = "hyper", .settings = {{"block", "32"}, {"samples", "32"}, {"min_length", "0"}}},
       2,
       3,
       3},
      {{.id = "tf"}, 2, 3, 3},
      {{.id = "tc"}, 0, 2, 3},
      {{.id = "moba", .settings = {{"block", "32"}}}, 0, 3, 3}};
  for (const std::string precision : {"fp32", "fp32-split", "bf16"}) {
    const auto backend = on_gpu(precision);
    for (const auto& [c, planned, shared, shared_fp32] : columns)
      for (const bool causal : {false, true}) {
        const std::string where = precision + ", " + describe(c) + (causal ? ", causal" : "");
        CAPTURE(where);
        const Problem problem = make_data(Data::gaussian, n, d, d, causal);
        const std::size_t before = emulation::copies_so_far().bytes;
        make_instance(*backend, problem, c.id, c.settings, {}, 0).apply(problem.v);
        const std::size_t apart = emulation::copies_so_far().bytes - before;
        const std::size_t alone = copied_for(*backend, problem, c);
        const auto exact = bound(*backend, problem, {.id = "exact"});
        applied(*exact);
        const std::size_t beside = copied_for(*backend, problem, c);
        CHECK((apart - alone + slack) / tensor_bytes == planned);
        CHECK((alone - beside + slack) / tensor_bytes ==
              (precision == "fp32" ? shared_fp32 : shared));
      }
  }
}

TEST_CASE("twenty columns of a head have its tensors on the device once") {
  for (const std::string precision : {"fp32", "fp32-split", "bf16"}) {
    CAPTURE(precision);
    const auto backend = on_gpu(precision);
    const Problem problem = make_data(Data::gaussian, n, d, d, true);
    const std::size_t before = emulation::memory_in_use();
    std::vector<std::shared_ptr<const Operator>> columns;
    for (int width = 1; width <= 20; ++width) {
      columns.push_back(bound(*backend, problem,
                              {.id = "window", .settings = {{"width", std::to_string(width)}}}));
      applied(*columns.back());
    }
    // In fp32, and all but the values again in 16 bits, or in two parts of 16 bits.
    const std::size_t forms = precision == "fp32" ? 6 : precision == "bf16" ? 7 : 10;
    const std::size_t in_use = emulation::memory_in_use() - before;
    CHECK(in_use < forms * tensor_bytes / 2 + 20 * list_bytes);
    columns.clear();
    CHECK(emulation::memory_in_use() == before);
  }
}

TEST_CASE("a tensor that has changed or has no owner is not taken for the one before it") {
  const auto backend = on_gpu("fp32");
  const auto numbers = std::make_shared<Matrix>(gaussian(3 * n, d, 1));
  const auto head = [&](std::shared_ptr<const void> owner) {
    const MatrixView all = *numbers;
    return Problem{.q = all.slice({0, n}),
                   .k = all.slice({n, 2 * n}),
                   .v = all.slice({2 * n, 3 * n}),
                   .scale = 0.125,
                   .owner = std::move(owner)};
  };
  const auto change = [&](Index tensor) {
    for (Index i = tensor * n; i < (tensor + 1) * n; ++i)
      for (Index c = 0; c < d; ++c) (*numbers)(i, c) = -(*numbers)(i, c);
  };
  const auto cpu = make_cpu_backend();
  for (const char* id : {"exact", "hyper", "tc"}) {
    CAPTURE(id);
    const Case c{.id = id};
    const auto right = [&](const Problem& problem) {
      const Matrix expected = applied(*bound(*cpu, problem, c)),
                   found = applied(*bound(*backend, problem, c));
      return distance(found, expected, n, d) < 1e-5;  // a few roundings of weights below 1
    };
    for (const Index tensor : {0, 1, 2}) {
      CAPTURE(tensor);
      const auto owned = std::make_shared<int>();
      auto op = bound(*backend, head(owned), c);
      applied(*op);
      CHECK(right(head(owned)));
      op.reset();
      change(tensor);  // which the owner may do when nobody computes with it
      CHECK(right(head(owned)));

      op = bound(*backend, head(nullptr), c);
      applied(*op);
      change(tensor);
      CHECK(right(head(nullptr)));
    }
  }
}

TEST_CASE("a timed run copies the whole head, whatever other columns have on the device") {
  const auto backend = on_gpu("fp32");
  const Problem problem = make_data(Data::gaussian, n, d, d, true);
  const auto exact = bound(*backend, problem, {.id = "exact"});
  applied(*exact);
  for (const char* id : {"exact", "hyper", "h1d", "performer"}) {
    CAPTURE(id);
    const std::size_t before = emulation::copies_so_far().bytes;
    const Variant& variant = find_variant(id);
    Profile profile;
    time_run(problem, {.variant = &variant, .values = values_of(variant, {})}, *backend,
             Run{profile});
    CHECK(emulation::copies_so_far().bytes - before >= 4 * tensor_bytes);
  }
}

TEST_CASE("forms of a tensor live as long as somebody keeps them") {
  const auto device = std::make_shared<const cuda::Device>();
  cuda::SharedTensors tensors(device);
  const Problem head = make_data(Data::gaussian, n, d, d, false);
  const cuda::Tensor q{head.q, head.owner};
  const auto uploads = [&] { return emulation::copies_so_far().count; };
  const long before = uploads();
  {
    const auto first = tensors.uploaded(q), second = tensors.uploaded(q);
    CHECK(first == second);
    CHECK(uploads() == before + 1);
    CHECK(tensors.uploaded({head.q}) != first);  // without an owner
    CHECK(tensors.uploaded({head.k, head.owner}) != first);
    CHECK(tensors.uploaded({head.q.slice({0, n / 2}), head.owner}) != first);
    CHECK(tensors.has(q, {}));
    CHECK(!tensors.has(q, {.top = 1}));
    CHECK(!tensors.has({head.k, head.owner}, {}));
  }
  CHECK(!tensors.has(q, {}));
  CHECK(tensors.tensor_of(head.q).owner == nullptr);
  {
    const auto held = tensors.hold(head);
    CHECK(tensors.tensor_of(head.q).owner == head.owner);
    CHECK(tensors.tensor_of(head.q.slice({0, n / 2})).owner == nullptr);
    const long so_far = uploads();
    tensors.uploaded(tensors.tensor_of(head.q));
    tensors.uploaded(tensors.tensor_of(head.q));
    CHECK(uploads() == so_far + 1);
  }
  CHECK(!tensors.has(q, {}));
  device->wait();
}
