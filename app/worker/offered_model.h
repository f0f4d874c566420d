// An OfferedModel is a model in a program of the user's own, which called fovea.look. The program
// listens on a socket in the folder that only its user can enter (live_folder()).
#pragma once

#include <string>
#include <string_view>

#include "worker/model_line.h"

namespace fovea {

/// What names such a model where a folder would: "look:SmolLM2-135M.1234".
inline constexpr std::string_view offered_prefix = "look:";

inline bool is_offered(std::string_view model) {
  return model.starts_with(offered_prefix);
}

class OfferedModel : public ModelLine {
 public:
  /// Throws UnavailableError where no program of this user offers the model.
  explicit OfferedModel(const std::string& model);

  MessageChannel& channel() override { return channel_; }
  std::string last_words() override;

 private:
  std::string model_;
  MessageChannel channel_;
};

}  // namespace fovea
