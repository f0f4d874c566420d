// A TensorField declares one tensor of a variant's structure: its name, type, shape and meaning. A
// plan gives the tensors that its variant declares, and the same ones may be given to a planner
// instead of being derived.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/structure.h"

namespace fovea {

enum class Element { integer, real };

/// A size for each axis, as a symbol: {"depths", "n"}. "n" and "d" are tokens and features of the
/// head, "nq" and "nk" its queries and keys; what other symbols stand for, the tensor's meaning
/// says.
using SymbolicShape = std::vector<std::string>;

struct TensorField {
  std::string name;
  Element element = Element::integer;
  std::vector<SymbolicShape> shapes;  // it has one of these
  std::string meaning;
  bool minus_infinity = false;  // of reals: -inf is allowed, for what is not there
};

/// What symbols stand for, as far as it is known.
using Sizes = std::vector<std::pair<std::string, Index>>;

/// "[depths,n]".
std::string shape_text(const SymbolicShape& shape);

/// Throws InputError, with the shapes found and expected, unless the tensor fits one of the shapes:
/// every axis whose size is known has it, and equal symbols have equal sizes. A tensor with another
/// number of axes fits by its number of values alone (files may hold flat lists).
void check_shape(const StructureTensor& tensor, const std::vector<SymbolicShape>& shapes,
                 const Sizes& sizes);

/// Checks every given tensor that is declared: its type, and its shape as far as `sizes` go. Throws
/// InputError.
void check_given(const Structure& given, const std::vector<TensorField>& fields,
                 const Sizes& sizes);

}  // namespace fovea
