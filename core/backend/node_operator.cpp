#include "backend/node_operator.h"

namespace fovea {

std::unique_ptr<Operator> make_node_operator(std::shared_ptr<const Plan>, const Problem&,
                                             std::shared_ptr<Workers>, Run&) {
  throw UnavailableError("node plans");
}

}  // namespace fovea
