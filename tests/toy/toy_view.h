// The row of the toy view in the table of views.
#pragma once

#include "views/view_kind.h"

namespace fovea::test {

ViewKind toy_view();

}  // namespace fovea::test
