// The models in the local cache of Hugging Face's hub. Nothing is downloaded.
#pragma once

#include <string>
#include <vector>

#include "input/model_facts.h"

namespace fovea {

/// The folder of the cache, by the same variables as huggingface_hub has it: HF_HUB_CACHE,
/// HUGGINGFACE_HUB_CACHE, HF_HOME, XDG_CACHE_HOME. It may not exist.
std::string model_cache();

struct CachedModel {
  std::string name;     // "sentence-transformers/all-MiniLM-L6-v2", as find_model() takes it
  std::string path;     // of the snapshot, or of a .gguf file in it
  ModelFacts facts;     // what could be found out
  std::string problem;  // why it cannot be opened; empty if it can
};

/// All models of the cache, the last used first. Reads little of each; never throws.
std::vector<CachedModel> cached_models();

/// Whether the folder is that of a model in a cache, with snapshots.
bool is_cached_model_folder(const std::string& folder);
/// The snapshot in such a folder: that of the revision, or of a ref with this name. With an empty
/// revision it is that of refs/main, else the newest. Throws InputError.
std::string snapshot_in(const std::string& folder, const std::string& revision);

/// Whether the cache has a model of this name: "ORG/NAME", or "NAME" if only one model has it,
/// either with "@REVISION", or "ORG/NAME/FILE.gguf".
bool is_in_cache(const std::string& name);
/// The snapshot of that model, or the .gguf file. Throws InputError if it is missing, with the
/// models that are there and how to get others, and if a link leads out of the cache.
std::string find_in_cache(const std::string& name);

/// ". Fovea downloads nothing: ..." if the path is a snapshot of a cache; else empty.
std::string how_to_complete(const std::string& path);

}  // namespace fovea
