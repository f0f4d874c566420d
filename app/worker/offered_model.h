// An OfferedModel is a model in a program of the user's own, which called fovea.look. The program
// listens on a socket in the folder that only its user can enter (live_folder()).
#pragma once

#include <string>

#include "data/model_address.h"
#include "worker/model_line.h"

namespace fovea {

class OfferedModel : public ModelLine {
 public:
  /// `model` is a name for which is_offered_model() holds. Throws UnavailableError if no program of
  /// this user offers the model.
  explicit OfferedModel(const std::string& model);

  MessageChannel& channel() override { return channel_; }
  std::string last_words() override;

 private:
  std::string model_;
  MessageChannel channel_;
};

}  // namespace fovea
