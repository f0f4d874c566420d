// The back end under test: CUDA's, on a device or on the emulated one; and how many of the laws'
// cases it runs: all on a device, fewer where each thread of a block is emulated.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "backend/backends.h"
#include "kernels/query_tile_shapes.h"

namespace fovea::test {
namespace {

/// A case of each variant; of one that is named again the next.
[[maybe_unused]] std::vector<Case> chosen(const std::vector<std::string>& variants) {
  std::vector<Case> out;
  for (const std::string& id : variants) {
    std::ptrdiff_t skipped = std::ranges::count(out, id, &Case::id);
    for (const Case& c : all_cases())
      if (c.id == id && skipped-- == 0) out.push_back(c);
  }
  return out;
}

}  // namespace

const std::vector<std::unique_ptr<Backend>>& backends() {
  static const auto made = [] {
    std::vector<std::unique_ptr<Backend>> list;
    std::string why_not;
    list.push_back(make_cuda_backend({}, &why_not));
    if (!list.back()) {
      std::fprintf(stderr, "%s\n", why_not.c_str());
      std::abort();
    }
    return list;
  }();
  return made;
}

#if defined(FOVEA_ON_DEVICE)

const std::vector<Case>& cases() {
  return all_cases();
}
const std::vector<Shape>& shapes() {
  // Few, for tools that slow the device down a hundredfold.
  static const std::vector<Shape> few{{1, 3, 5}, {65, 80, 5}, {127, 3, 80}};
  return std::getenv("FOVEA_FEW_SHAPES") ? few : all_shapes();
}
RandomHeads random_heads() {
  return {1000, 300};
}
const std::vector<Shape>& query_tile_shapes() {
  // Query tiles of 128 queries on devices with up to 150 multiprocessors.
  static const std::vector<Shape> list{{150, 1, 1},      {150, 256, 256}, {20000, 64, 64},
                                       {20000, 100, 70}, {40000, 64, 64}, {40000, 128, 33},
                                       {40000, 256, 64}, {300, 17, 300}};
  static const std::vector<Shape> few(list.begin(), list.begin() + 2);
  return std::getenv("FOVEA_FEW_SHAPES") ? few : list;
}

#elif defined(__SANITIZE_THREAD__)

const std::vector<Case>& cases() {
  static const std::vector<Case> list = chosen({"exact", "h1d", "tf", "hyper", "reformer"});
  return list;
}
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> list{{35, 3, 5}};
  return list;
}
RandomHeads random_heads() {
  return {20, 40};
}
const std::vector<Shape>& query_tile_shapes() {
  static const std::vector<Shape> list{{200, 3, 3}, {390, 3, 3}};
  return list;
}

#elif defined(__SANITIZE_ADDRESS__)

const std::vector<Case>& cases() {
  static const std::vector<Case> list =
      chosen({"exact", "h1d", "h1d", "fixed", "strided", "tf", "tc", "hyper", "hyper", "reformer",
              "linformer", "performer"});
  return list;
}
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> list{{1, 3, 5}, {41, 68, 5}};
  return list;
}
RandomHeads random_heads() {
  return {60, 60};
}
const std::vector<Shape>& query_tile_shapes() {
  static const std::vector<Shape> list{{50, 256, 256}, {200, 100, 70}, {390, 65, 33}};
  return list;
}

#else

const std::vector<Case>& cases() {
  return all_cases();
}
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> list{{1, 3, 5},    {2, 1, 1},    {17, 80, 17},
                                       {63, 20, 80}, {64, 64, 64}, {129, 64, 31}};
  return list;
}
RandomHeads random_heads() {
  return {400, 90};  // enough that each variant is drawn
}
const std::vector<Shape>& query_tile_shapes() {
  static const std::vector<Shape> list{{50, 1, 1},    {50, 256, 256}, {33, 17, 300},
                                       {200, 64, 64}, {200, 100, 70}, {200, 5, 200},
                                       {390, 65, 33}, {390, 256, 64}};
  return list;
}

#endif

}  // namespace fovea::test
