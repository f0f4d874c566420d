#include "bench/contenders.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>

namespace fovea::bench {
namespace {

/// Floors on an H200 at n = 4096, 16384, 65536, 131072 for 12 heads of d = 64, in ms (0: none
/// known): the design's count of operations and bytes divided by the rates measured there. For
/// exact in fp32 they are of multiply-adds, for the others of memory or of tensor cores in 16 bits.
struct Floor {
  const char* what;
  const char* precision;
  bool causal;
  double ms[4];
};
constexpr Floor floors[] = {
    {"exact", "fp32", false, {.77, 12, 197, 788}},
    {"exact", "fp32", true, {.385, 6, 98.5, 394}},
    {"exact", "fp32-split", false, {.20, 3.1, 50, 200}},
    {"exact", "fp32-split", true, {.10, 1.55, 25, 100}},
    {"exact", "bf16", false, {.065, 1.04, 16.7, 66.8}},
    {"exact", "bf16", true, {.0325, .52, 8.35, 33.4}},
    {"hyper", "", false, {.009, .036, .145, .29}},
    {"hyper", "", true, {.03, .16, .78, 1.7}},
    {"h1d", "", false, {.015, .06, .23, .47}},
    {"strided", "", true, {.009, .035, .14, .33}},
    {"fixed", "", true, {.006, .037, .29, .65}},
    {"tf", "", false, {.009, .035, .14, .28}},
    {"tc", "", false, {.009, .035, .14, .28}},
    {"maps", "bf16", false, {0, 0, 0, 5.6 * 12}},
    {"maps", "fp32", false, {0, 0, 0, 788 + 6}},  // segments written and read: 2.1 GB a head
};

}  // namespace

const std::vector<std::string>& precisions() {
  static const std::vector<std::string> all{"fp32", "fp32-split", "bf16"};
  return all;
}

std::vector<Contender> contenders(Index n, bool causal) {
  const auto text = [](Index i) { return std::to_string(i); };
  const Index log2_n = std::bit_width(static_cast<std::uint64_t>(n)) - 1;
  const Index root = std::max<Index>(2, std::lround(std::sqrt(static_cast<double>(n))));
  const Index block = std::min<Index>(256, n / 4), height = std::max<Index>(1, log2_n - 7);
  std::vector<Contender> out;
  for (const std::string& precision : precisions()) {
    const auto add = [&](const char* id, decltype(Contender::settings) settings) {
      out.push_back({id, precision, std::move(settings)});
    };
    add("exact", {});
    if (precision == "fp32-split") continue;  // the others as in fp32
    add("hyper",
        {{"block", text(block)}, {"samples", text(block)}, {"min_length", causal ? "4096" : "0"}});
    add("h1d", {{"block", "16"}});
    add("strided", {{"stride", text(root)}});
    add("fixed", {{"stride", text(root)}, {"summary", "8"}});
    add("tf", {{"height", text(height)}});
    if (precision == "fp32") add("tc", {{"height", text(height)}});
  }
  return out;
}

std::vector<std::string> kernels_for(const std::string& what, const std::string& precision,
                                     bool wgmma) {
  if (what == "tc") return {"node sums"};
  if (precision == "fp32") return {"fp32"};
  if (precision == "fp32-split") return {"mma of split numbers"};
  if (!wgmma) return {"mma"};
  if (what == "exact" || what == "maps") return {"wgmma"};
  return {"wgmma", "mma"};
}

std::string describe(const Contender& c) {
  std::string text;
  for (const auto& [id, value] : c.settings) text += (text.empty() ? "" : " ") + id + "=" + value;
  return text;
}

double floor_of(const std::string& what, const std::string& precision, bool causal, Index n,
                Index heads, Index d) {
  constexpr Index lengths[] = {4096, 16384, 65536, 131072};
  const auto at = std::ranges::find(lengths, n) - std::begin(lengths);
  if (at == std::ssize(lengths) || d != 64) return 0;
  for (const Floor& f : floors)
    if (f.what == what && f.causal == causal && (*f.precision == 0 || f.precision == precision))
      return f.ms[at] * static_cast<double>(heads) / 12;
  return 0;
}

}  // namespace fovea::bench
