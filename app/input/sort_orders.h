// How lists in the window are sorted.
#pragma once

#include <string>
#include <vector>

namespace fovea {

enum class HeadOrder { index, error, entropy, density };
/// In the order of menus.
std::vector<HeadOrder> all_head_orders();
std::string to_text(HeadOrder order);

struct SortOrders {
  std::string comparison;  // id of the Measure that sorts columns; empty means the canvas
  HeadOrder heads = HeadOrder::index;  // of the gallery
  bool all_layers = false;             // the gallery shows the heads of all layers
  friend bool operator==(const SortOrders&, const SortOrders&) = default;
};

}  // namespace fovea
