// Programs that are linked with this file have the toy view in their table, from the start.
#include "toy/toy_view.h"
#include "views/views.h"

namespace fovea::test {
namespace {

[[maybe_unused]] const bool view_added = [] {
  add_view(toy_view());
  return true;
}();

}  // namespace
}  // namespace fovea::test
