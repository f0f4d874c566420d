// The rank map of a matrix whose entries are given.
#pragma once

#include <string>
#include <vector>

#include "analysis/rank_map.h"
#include "views/parts.h"

namespace fovea::views {

struct RankSettings {
  RankSubject of = RankSubject::attention;
  double tolerance = RankOptions().tolerance;
  Partition partition = Partition::hierarchy;
  Index leaf = RankOptions().leaf;
  RankColour colour = RankColour::rank;

  static std::vector<TypedViewField<RankSettings>> fields() {
    using S = RankSettings;
    TypedViewField<S> colour{
        choice_field<S>("rank_colour", "Colour", &S::colour, {"rank", "storage"},
                        "Whether a rank map's colours show ranks or the "
                        "entries that are stored"),
        "Rank co&lours",
        {{"by rank", "by rank"}, {"by storage", "by storage"}}};
    colour.of_colours = true;
    return {{choice_field<S>("rank_of", "Rank of", &S::of,
                             {"attention", "unnormalised", "logits", "error"},
                             "The matrix whose blocks' ranks are mapped"),
             "Rank &of",
             {{"P", "attention P"},
              {"exp S", "unnormalised attention exp S"},
              {"S", "logits S"},
              {"error", "error P̃ − P"}}},
            {real_field<S>("rank_tolerance", "ε", "", &S::tolerance, 0, 1e30, Axis::log2,
                           "Rank tolerance: the tail of singular values that a block may lose"),
             "Rank &tolerance"},
            {choice_field<S>("rank_partition", "Blocks", &S::partition, {"hierarchy", "uniform"},
                             "How the rank map is divided into blocks"),
             "Rank &blocks",
             {{"hierarchy", "hierarchy"}, {"uniform", "uniform"}}},
            {size_field<S>("rank_leaf", "Leaf", "tokens", &S::leaf, 1, largest_side,
                           "Side of the rank map's smallest blocks, in tokens", sixteenth),
             "Rank leaf si&ze"},
            std::move(colour)};
  }
};

/// The part of a matrix that a rank map covers.
struct RankWindow {
  Lengths lengths;  // of the matrix
  IndexRange rows, cols;
};

struct RankedMatrix {
  RankWindow window;
  bool causal = false;  // the matrix is 0 where its mask is
  Entries entries;
  std::string name;
};

/// The rank map of a window as a body, or why there is none. If lengths are unequal, blocks are
/// uniform.
Body rank_body(const RankedMatrix& matrix, const RankSettings& settings, const Backend& backend,
               std::string& caption, Run& run);

}  // namespace fovea::views
