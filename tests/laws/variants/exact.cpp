#include "laws/formulas.h"

namespace fovea::test {

VariantLaws exact_laws() {
  return laws_from("exact",
                   [](auto real, const Instance& x) {
                     return weighted<decltype(real)>(x.problem, [](Index, Index) { return 1; });
                   },
                   {{.settings = {}}});
}

}  // namespace fovea::test
