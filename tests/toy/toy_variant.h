// The rows of the toy variant: in the table of variants, and in that of the laws.
#pragma once

#include "laws/variant_laws.h"
#include "variants/variant.h"

namespace fovea::test {

Variant toy_variant();
VariantLaws toy_laws();

}  // namespace fovea::test
