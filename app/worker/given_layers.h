// GivenLayers are the layers that a model gives one by one, in messages that are the parts of one
// answer (app/python/fovea/hosting.py).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "data/source.h"
#include "live/wire_message.h"

namespace fovea {

class GivenLayers {
 public:
  GivenLayers();

  /// Takes the next part, or the end of the answer, which may hold all layers. Messages call the
  /// model `name`. Throws InputError for parts that do not follow each other, and UnavailableError
  /// once all layers together do not fit into memory. Nothing may follow an error.
  void take(WireMessage message, const std::string& name);

  /// Whether the end of the answer is there.
  bool complete() const { return complete_; }
  /// How many layers the model is expected to have; 0 if it does not say.
  Index expected() const { return expected_; }
  /// The layers that are there; the bytes of their tensors are shared, not copied. Throws what
  /// source_from_tensors() throws.
  Source source(const std::stop_token& stop = {}) const;

 private:
  void add(NamedTensor tensor);
  void add_same(const Json& content);

  const double allowed_;
  double bytes_ = 0;  // of all messages
  Index parts_ = 0, expected_ = 0;
  bool complete_ = false;
  TensorFile tensors_;
  std::map<std::string, std::size_t> places_;  // of tensors, by their names
  std::shared_ptr<const Picture> picture_;
  std::vector<std::string> notes_;
};

/// A whole number from 0 to a million at this key; 0 if there is none.
Index count_at(const Json& object, const char* name);

}  // namespace fovea
