#include "io/tensor_file.h"

#include "data/error.h"

namespace fovea {

ElementType require_float(const TensorFile& file, const NamedTensor& tensor) {
  if (tensor.type && is_float(*tensor.type)) return *tensor.type;
  std::string message = fovea::quoted(tensor.name) + " has dtype " + tensor.dtype +
                        "; expected F64, F32, F16 or BF16";
  if (tensor.dtype.ends_with("u2") || tensor.dtype.ends_with("V2"))
    message += " (if it holds bfloat16, use --bf16)";
  throw InputError(file.path, message);
}

std::optional<Index> packed_bytes(const std::vector<Index>& shape, Index bits) {
  // An empty tensor is empty whatever its other dimensions are, even if their product overflows.
  for (const Index size : shape)
    if (size == 0) return 0;
  Index total = bits;
  for (const Index size : shape)
    if (size < 0 || __builtin_mul_overflow(total, size, &total)) return std::nullopt;
  return total / 8 + (total % 8 != 0);
}

std::vector<Index> packed_strides(const std::vector<Index>& shape, Index element_bytes) {
  std::vector<Index> strides(shape.size());
  Index stride = element_bytes;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    // No element of an empty tensor is ever addressed, so any stride that does not overflow will
    // do.
    if (__builtin_mul_overflow(stride, shape[axis], &stride)) stride = 0;
  }
  return strides;
}

}  // namespace fovea
