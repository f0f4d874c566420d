// SharedTensors are the tensors of heads on the device, each in the forms that kernels read. A form
// is made once and shared by all who ask for it while one of them keeps it: the columns of a head
// have its queries, keys and values on the device once. Their planners share them, too.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "data/problem.h"
#include "device/device_matrix.h"
#include "device/precision.h"

namespace fovea::cuda {

/// A tensor of a head on the host, or some of its columns. What has an owner does not change. Forms
/// are shared by tensors of the same owner; those without an owner share nothing.
struct Tensor {
  MatrixView rows;
  std::shared_ptr<const void> owner = {};
};

/// How a tensor lies on the device.
struct Form {
  Precision precision = Precision::fp32;
  int top = 0;  // with the means of clusters up to this level (tiles/pyramid.h)
  /// What its numbers were multiplied by before they were rounded to bf16 or fp16.
  float factor = 1;
};

/// Values are on the device in slices of at most this many columns, and tiles take fewer at a time.
inline constexpr Index columns_of_slice = 256;

class SharedTensors {
 public:
  explicit SharedTensors(std::shared_ptr<const Device> device) : device_(std::move(device)) {}

  const Device& device() const { return *device_; }

  /// In fp32 and without means. Uploads it if nobody keeps it.
  std::shared_ptr<const DeviceMatrix> uploaded(const Tensor& tensor);

  /// A form of the tensor, which `make` makes as a T if nobody keeps it. Callers give the same T
  /// for the same form.
  template <class T>
  std::shared_ptr<const T> form(const Tensor& tensor, const Form& form,
                                const std::function<T()>& make) {
    struct Made {
      std::shared_ptr<const void> owner;  // kept, so that no other tensor gets this address
      T form;
    };
    if (const auto known = find(key_of(tensor, form)))
      return std::static_pointer_cast<const T>(known);
    const auto made = std::make_shared<const Made>(Made{tensor.owner, make()});
    const std::shared_ptr<const T> its_form(made, &made->form);
    if (tensor.owner) add(key_of(tensor, form), its_form);
    return its_form;
  }

  /// Whether somebody keeps this form of the tensor. Its factor does not matter.
  bool has(const Tensor& tensor, const Form& form) const;

  /// What is uploaded of q, k and v of this head stays on the device while the result lives.
  std::shared_ptr<const void> hold(const Problem& head);
  /// The tensor of a held head with these rows, or a tensor without an owner.
  Tensor tensor_of(MatrixView rows) const;

 private:
  using Key = std::tuple<const void*, const float*, Index, Index, Index, Precision, int, float>;
  struct Held {
    Problem head;
    std::vector<std::shared_ptr<const void>> uploaded;
  };

  static Key key_of(const Tensor& tensor, const Form& form);
  std::shared_ptr<const void> find(const Key& key) const;
  void add(const Key& key, std::weak_ptr<const void> form);

  std::shared_ptr<const Device> device_;
  std::map<Key, std::weak_ptr<const void>> forms_;
  std::weak_ptr<Held> held_;  // the last head that was held
};

}  // namespace fovea::cuda
