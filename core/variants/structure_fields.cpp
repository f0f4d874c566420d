#include "variants/structure_fields.h"

#include <algorithm>
#include <optional>

#include "data/error.h"
#include "data/shape.h"
#include "data/text.h"

namespace fovea {
namespace {

std::optional<Index> size_of(const std::string& symbol, const Sizes& sizes) {
  for (const auto& [known, size] : sizes)
    if (known == symbol) return size;
  return std::nullopt;
}

bool fits_by_axes(const std::vector<Index>& found, const SymbolicShape& shape, Sizes sizes) {
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const auto size = size_of(shape[axis], sizes);
    if (size && *size != found[axis]) return false;
    if (!size) sizes.emplace_back(shape[axis], found[axis]);
  }
  return true;
}

bool fits_by_count(Index count, const SymbolicShape& shape, const Sizes& sizes) {
  Index known = 1;
  bool open = false;  // an axis of unknown size takes what the others leave
  for (const std::string& symbol : shape) {
    const auto size = size_of(symbol, sizes);
    open = open || !size;
    known *= size.value_or(1);
  }
  return open ? count > 0 && known > 0 && count % known == 0 : count == known;
}

bool fits(const StructureTensor& tensor, const SymbolicShape& shape, const Sizes& sizes) {
  return tensor.shape.size() == shape.size() ? fits_by_axes(tensor.shape, shape, sizes)
                                             : fits_by_count(tensor.size(), shape, sizes);
}

/// "[depths,n] = [depths,8]"; without what is known where nothing is.
std::string expected_text(const SymbolicShape& shape, const Sizes& sizes) {
  SymbolicShape known = shape;
  for (std::string& symbol : known)
    if (const auto size = size_of(symbol, sizes)) symbol = std::to_string(*size);
  return shape_text(shape) + (known == shape ? "" : " = " + shape_text(known));
}

}  // namespace

std::string shape_text(const SymbolicShape& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    text += (axis > 0 ? "," : "") + shape[axis];
  return text + "]";
}

void check_shape(const StructureTensor& tensor, const std::vector<SymbolicShape>& shapes,
                 const Sizes& sizes) {
  std::string expected;
  for (const SymbolicShape& shape : shapes) {
    if (fits(tensor, shape, sizes)) return;
    add_item(expected, expected_text(shape, sizes), " or ");
  }
  throw InputError(tensor.name,
                   "shape " + shape_text(tensor.shape) + " found; expected " + expected);
}

void check_given(const Structure& given, const std::vector<TensorField>& fields,
                 const Sizes& sizes) {
  for (const TensorField& field : fields) {
    const StructureTensor* tensor = given.find(field.name);
    if (!tensor) continue;
    const bool real = std::holds_alternative<std::vector<float>>(tensor->values);
    if (real != (field.element == Element::real))
      throw InputError(field.name, real ? "real numbers found; expected integers"
                                        : "integers found; expected real numbers");
    check_shape(*tensor, field.shapes, sizes);
  }
}

}  // namespace fovea
