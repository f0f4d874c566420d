// A FakeModelCache is a cache as huggingface_hub makes it: snapshots are links to blobs. While it
// lives it is the cache of this process.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "temporary_directory.h"
#include "tiny_text_model.h"

namespace fovea::test {

class FakeModelCache {
 public:
  FakeModelCache() { ::setenv("HF_HUB_CACHE", path().c_str(), 1); }
  ~FakeModelCache() { ::unsetenv("HF_HUB_CACHE"); }

  std::string path() const { return scratch_.path() + "/hub"; }
  /// "ORG--NAME": the folder of a model.
  std::string folder(const std::string& model) const { return path() + "/models--" + model; }
  std::string snapshot(const std::string& model, const std::string& hash) const {
    return folder(model) + "/snapshots/" + hash;
  }

  /// A file of a snapshot, as a link to its blob.
  void add_file(const std::string& model, const std::string& hash, const std::string& name,
                const std::string& bytes) const {
    namespace fs = std::filesystem;
    fs::create_directories(folder(model) + "/blobs");
    fs::create_directories(snapshot(model, hash));
    const std::string blob = hash + "-" + name;
    write_bytes(folder(model) + "/blobs/" + blob, bytes);
    fs::create_symlink("../../blobs/" + blob, snapshot(model, hash) + "/" + name);
  }
  void add_ref(const std::string& model, const std::string& ref, const std::string& hash) const {
    std::filesystem::create_directories(folder(model) + "/refs");
    write_bytes(folder(model) + "/refs/" + ref, hash);
  }
  /// A whole one, which Fovea's own encoder computes.
  void add_model(const std::string& model, const std::string& hash = "abc123") const {
    const TinyTextModel tiny;
    for (const auto& entry : std::filesystem::directory_iterator(tiny.folder()))
      add_file(model, hash, entry.path().filename(), read_bytes(entry.path()));
    add_ref(model, "main", hash);
  }

 private:
  TemporaryDirectory scratch_;
};

}  // namespace fovea::test
