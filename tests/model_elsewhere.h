// A ModelElsewhere is a model that Fovea does not compute itself, with a stand-in in the place of
// Python that computes in NumPy (tests/python/fake_model.py).
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "data/model_address.h"
#include "io/safetensors_writer.h"
#include "temporary_directory.h"
#include "worker/hosted_model.h"
#include "worker/interpreter.h"

namespace fovea::test {

class ModelElsewhere {
 public:
  /// `behaviour` as in fake_worker.py.
  explicit ModelElsewhere(const std::string& behaviour = "fake") : name_(behaviour) {
    std::filesystem::create_directory(folder());
    scratch_.write(name_ + "/config.json",
                   R"({"model_type": "gpt2", "num_hidden_layers": 3, "num_attention_heads": 2})");
    write_safetensors(folder() + "/model.safetensors", {{"w", {1}, std::vector<float>{0}}}, {});
    scratch_.write("python", "#!/bin/sh\nexec '" FOVEA_PYTHON "' '" FOVEA_TESTS
                             "/worker/fake_worker.py' \"$@\"\n");
    ::chmod(python().c_str(), 0700);
    choose_interpreter({python(), "a test"});
  }
  ~ModelElsewhere() {
    forget_hosted_model();
    choose_interpreter({});
  }

  std::string python() const { return scratch_ / "python"; }
  std::string folder() const { return scratch_ / name_; }
  std::string address(const std::string& text) const {
    return to_text(ModelAddress{.folder = folder(), .text = text});
  }
  /// A model that "waits" gives a layer beyond the first once it may.
  void let(int layer) const { scratch_.write(name_ + "/go" + std::to_string(layer), ""); }

 private:
  TemporaryDirectory scratch_;
  std::string name_;
};

}  // namespace fovea::test
