// A Contender is a variant in one precision with the settings of its paper: what the benchmark of
// the kernels measures.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "data/matrix.h"

namespace fovea::bench {

struct Contender {
  std::string id, precision;
  std::vector<std::pair<std::string, std::string>> settings;
};

/// Precisions of the back end. In fp32-split only exact attention is measured, and tc in fp32
/// alone, as its kernels are the same in all.
const std::vector<std::string>& precisions();

std::vector<Contender> contenders(Index n, bool causal);

/// The kernels by which a contender, or "maps", may be computed, under their names in profiles
/// (Timeline::Stage::by). `wgmma`: the device has products of warpgroups, which exact attention
/// and its maps are then to use; the others have them where their query tiles are tall enough.
std::vector<std::string> kernels_for(const std::string& what, const std::string& precision,
                                     bool wgmma);

/// The settings: "block=16".
std::string describe(const Contender& c);

/// The least time that an H200 could take for all heads of width d, in ms; 0 if not known.
double floor_of(const std::string& what, const std::string& precision, bool causal, Index n,
                Index heads, Index d);

}  // namespace fovea::bench
