// Programs that are linked with this file have the toy variant in their table, from the start.
#include "toy/toy_variant.h"

namespace fovea::test {
namespace {

[[maybe_unused]] const bool added = [] {
  add_variant(toy_variant());
  add_laws(toy_laws());
  return true;
}();

}  // namespace
}  // namespace fovea::test
