#include "input/sort_orders.h"

namespace fovea {

std::vector<HeadOrder> all_head_orders() {
  return {HeadOrder::index, HeadOrder::error, HeadOrder::entropy, HeadOrder::density};
}

std::string to_text(HeadOrder order) {
  switch (order) {
    case HeadOrder::index:
      break;
    case HeadOrder::error:
      return "output error";
    case HeadOrder::entropy:
      return "entropy";
    case HeadOrder::density:
      return "density";
  }
  return "index";
}

}  // namespace fovea
