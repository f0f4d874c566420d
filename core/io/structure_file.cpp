#include "io/structure_file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "data/error.h"
#include "data/problem.h"
#include "data/shape.h"
#include "data/stop.h"
#include "data/text.h"
#include "io/tensor_file.h"
#include "variants/variant.h"

namespace fovea {
namespace {

/// Every tensor that some variant declares; tensors of one name have one type.
std::vector<TensorField> declared_tensors() {
  std::vector<TensorField> all;
  for (const Variant& variant : variants())
    for (const TensorField& field : variant.structure)
      if (std::ranges::find(all, field.name, &TensorField::name) == all.end()) all.push_back(field);
  return all;
}

/// The slice of one head: its shape and bytes.
class Slice {
 public:
  Slice(const TensorFile& file, const NamedTensor& tensor, Index head, Index heads,
        const std::stop_token& stop)
      : file_(file), tensor_(tensor), stop_(stop) {
    if (tensor.shape.size() < 2 || (tensor.shape[0] != heads && tensor.shape[0] != 1))
      throw refusal("has shape " + shape_text(tensor.shape),
                    "[" + std::to_string(heads) + ",...], a slice for each head" +
                        (heads == 1 ? "" : ", or [1,...], one for all heads"));
    shape_.assign(tensor.shape.begin() + 1, tensor.shape.end());
    // An empty tensor may have other sizes of any magnitude, so zeros are refused before
    // multiplying.
    bool countable = std::ranges::find(shape_, 0) == shape_.end();
    for (const Index size : shape_)
      countable = countable && !__builtin_mul_overflow(count_, size, &count_);
    if (!countable) throw refusal("has shape " + shape_text(tensor.shape), "at least one value");
    if (tensor.shape[0] == heads) begin_ = head * count_;
  }

  StructureTensor read(const TensorField& field) const {
    if (field.element == Element::integer)
      return {field.name, shape_, integers(field.minus_one ? -1 : 0)};
    std::vector<float> values = reals();
    require_finite(values, field.minus_infinity);
    return {field.name, shape_, std::move(values)};
  }

 private:
  InputError refusal(const std::string& found, const std::string& expected) const {
    return InputError(file_.path, "'" + tensor_.name + "' " + found + "; expected " + expected);
  }

  std::vector<std::int32_t> integers(int least) const {
    if (tensor_.dtype == "I32") return integers_of<std::int32_t>(least);
    if (tensor_.dtype == "I64") return integers_of<std::int64_t>(least);
    throw refusal("has dtype " + tensor_.dtype, "I32 or I64");
  }

  template <class Word>
  std::vector<std::int32_t> integers_of(int least) const {
    std::vector<Word> words(static_cast<std::size_t>(count_));
    read_in_pieces(*tensor_.bytes, tensor_.begin + begin_ * Index{sizeof(Word)},
                   std::as_writable_bytes(std::span(words)), stop_);
    std::vector<std::int32_t> out;
    for_each_row(count_, stop_, [&](Index i) {
      const Word word = words[i];
      if (word < least || word > std::numeric_limits<std::int32_t>::max())
        throw refusal("holds " + std::to_string(word),
                      "indices from " + std::to_string(least) + " to 2147483647");
      out.push_back(static_cast<std::int32_t>(word));
    });
    return out;
  }

  std::vector<float> reals() const {
    HeadTensor view;
    view.type = require_float(file_, tensor_);
    const Index element = size_of(view.type);
    view.bytes = tensor_.bytes;
    view.begin = tensor_.begin + begin_ * element;
    view.heads = view.rows = 1;
    view.cols = count_;
    view.col_stride = element;
    const Matrix values = view.read(0, stop_);
    return {values.data(), values.data() + count_};
  }

  void require_finite(const std::vector<float>& values, bool minus_infinity) const {
    for_each_row(count_, stop_, [&](Index i) {
      const float x = values[i];
      const bool not_there = std::isinf(x) && x < 0;
      if (!(std::abs(x) <= number_limit) && !(not_there && minus_infinity))
        throw refusal("has NaN, Inf or a number beyond 1e14 at element " + std::to_string(i),
                      "finite numbers up to 1e14");
    });
  }

  const TensorFile& file_;
  const NamedTensor& tensor_;
  const std::stop_token& stop_;
  std::vector<Index> shape_;
  Index begin_ = 0, count_ = 1;
};

/// One tensor of all heads, [heads, ...].
OutTensor joined(const std::vector<Structure>& heads, const StructureTensor& first) {
  OutTensor out{first.name, {static_cast<Index>(heads.size())}, {}};
  out.shape.insert(out.shape.end(), first.shape.begin(), first.shape.end());
  std::visit(
      [&](const auto& of_first) {
        auto values = of_first;
        values.clear();
        for (const Structure& head : heads) {
          const StructureTensor* tensor = head.find(first.name);
          if (!tensor || tensor->shape != first.shape ||
              tensor->values.index() != first.values.index())
            throw Error(1, "'" + first.name + "' has different shapes in different heads");
          const auto& more = std::get<std::decay_t<decltype(of_first)>>(tensor->values);
          values.insert(values.end(), more.begin(), more.end());
        }
        out.values = std::move(values);
      },
      first.values);
  return out;
}

}  // namespace

Structure read_structure(const std::string& path, Index head, Index heads,
                         const std::stop_token& stop) {
  const TensorFile file = read_safetensors(path, stop);
  Structure out;
  std::string expected;
  for (const TensorField& field : declared_tensors()) {
    check_stop(stop);
    add_item(expected, field.name);
    const auto found = std::ranges::find(file.tensors, field.name, &NamedTensor::name);
    if (found != file.tensors.end()) out.set(Slice(file, *found, head, heads, stop).read(field));
  }
  if (out.empty())
    throw InputError(path, "has no tensor of a structure; expected one of " + expected);
  return out;
}

std::vector<OutTensor> structure_tensors(const std::vector<Structure>& heads) {
  std::vector<OutTensor> out;
  if (heads.empty()) return out;
  for (const Structure& head : heads)
    if (head.tensors().size() != heads.front().tensors().size())
      throw Error(1, "the structures of different heads have different tensors");
  for (const StructureTensor& tensor : heads.front().tensors())
    out.push_back(joined(heads, tensor));
  return out;
}

}  // namespace fovea
