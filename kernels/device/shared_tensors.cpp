#include "device/shared_tensors.h"

#include <algorithm>

namespace fovea::cuda {

std::shared_ptr<const DeviceMatrix> SharedTensors::uploaded(const Tensor& tensor) {
  const auto found = form<DeviceMatrix>(tensor, {}, [&] {
    DeviceMatrix out(device(), tensor.rows.rows, tensor.rows.cols);
    out.upload(device(), tensor.rows);
    return out;
  });
  const auto held = held_.lock();
  if (held && tensor.owner && tensor.owner == held->head.owner) held->uploaded.push_back(found);
  return found;
}

bool SharedTensors::has(const Tensor& tensor, const Form& form) const {
  return std::ranges::any_of(forms_, [&](const auto& known) {
    Form with_factor = form;
    with_factor.factor = std::get<float>(known.first);
    return known.first == key_of(tensor, with_factor) && !known.second.expired();
  });
}

std::shared_ptr<const void> SharedTensors::hold(const Problem& head) {
  const auto held = std::make_shared<Held>(Held{head, {}});
  held_ = held;
  return held;
}

Tensor SharedTensors::tensor_of(MatrixView rows) const {
  if (const auto held = held_.lock())
    for (const MatrixView own : {held->head.q, held->head.k, held->head.v})
      if (own.data == rows.data && own.rows == rows.rows && own.cols == rows.cols &&
          own.stride == rows.stride)
        return {rows, held->head.owner};
  return {rows};
}

SharedTensors::Key SharedTensors::key_of(const Tensor& tensor, const Form& form) {
  const MatrixView rows = tensor.rows;
  return {tensor.owner.get(), rows.data,      rows.rows, rows.cols,
          rows.stride,        form.precision, form.top,  form.factor};
}

std::shared_ptr<const void> SharedTensors::find(const Key& key) const {
  const auto known = forms_.find(key);
  return known == forms_.end() ? nullptr : known->second.lock();
}

void SharedTensors::add(const Key& key, std::weak_ptr<const void> form) {
  std::erase_if(forms_, [](const auto& known) { return known.second.expired(); });
  forms_[key] = std::move(form);
}

}  // namespace fovea::cuda
