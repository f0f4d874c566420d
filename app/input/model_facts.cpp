#include "input/model_facts.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <set>
#include <vector>

#include "data/error.h"
#include "io/file_bytes.h"
#include "io/folder.h"
#include "io/gguf_header.h"
#include "io/json.h"
#include "model/encoder_shape.h"
#include "model/model_tensors.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

constexpr Index largest_config = 4 << 20;  // bytes; real ones have some thousand
constexpr const char* index_name = "model.safetensors.index.json";

bool has(const std::string& folder, const std::string& name) {
  std::error_code unknown;
  return fs::exists(fs::path(folder) / name, unknown);
}

bool has_any(const std::string& folder, std::initializer_list<const char*> names) {
  return std::ranges::any_of(names, [&](const char* name) { return has(folder, name); });
}

std::string small_text(const std::string& path) {
  const FileBytes file(path, FileBytes::Between::close);
  if (file.size() > largest_config)
    throw InputError(path, "has " + std::to_string(file.size()) +
                               " bytes; expected the description of a model, of at most 4 MiB");
  return file.text();
}

void add_weights(const std::string& path, ModelFacts& facts) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;  // missing files are reported elsewhere
  facts.bytes += static_cast<std::uint64_t>(status.st_size);
  // Listing models reads the headers of .gguf files, which does not count as using them.
  const std::int64_t read = is_gguf(path) ? 0 : status.st_atime;
  facts.used = std::max<std::int64_t>({facts.used, read, status.st_mtime});
}

/// The first of these counts that the object states; 0 if none.
Index count_in(const Json& config, std::initializer_list<const char*> names) {
  constexpr std::uint64_t largest = 1'000'000;
  for (const char* name : names)
    if (const auto found = config.find(name); found != config.end() &&
                                              found->is_number_unsigned() &&
                                              found->get<std::uint64_t>() <= largest)
      return found->get<Index>();
  return 0;
}

/// Reads counts by the names of transformers' configurations. Configurations of models of texts and
/// images have a part for each.
void read_counts(const Json& config, ModelFacts& facts) {
  for (const char* part : {"", "text_config", "vision_config"}) {
    const auto found = *part == '\0' ? config.end() : config.find(part);
    const Json& object = found == config.end() ? config : *found;
    if (!object.is_object()) continue;
    facts.layers =
        count_in(object, {"num_hidden_layers", "n_layer", "n_layers", "num_layers", "depth"});
    facts.heads = count_in(object, {"num_attention_heads", "n_head", "n_heads", "num_heads"});
    if (facts.layers > 0) return;
  }
}

ModelFacts gguf_facts(const std::string& path) {
  const GgufHeader header = read_gguf_header(path);
  ModelFacts facts{.architecture = header.architecture,
                   .name = header.name,
                   .layers = header.layers,
                   .heads = header.heads};
  add_weights(path, facts);
  return facts;
}

/// The first missing shard, and how many more are missing; empty if all are there.
std::string missing_shards(const std::string& folder) {
  std::string first;
  std::size_t more = 0;
  for (const auto& [file, names] :
       parse_shard_index(folder + "/" + index_name, small_text(folder + "/" + index_name))) {
    if (has(folder, file)) continue;
    if (first.empty())
      first = file;
    else
      ++more;
  }
  if (first.empty()) return {};
  return first + (more > 0 ? " and " + std::to_string(more) + " more are" : " is") + " missing";
}

}  // namespace

bool is_gguf(const std::string& path) {
  return path.ends_with(".gguf");
}

std::vector<std::string> gguf_files(const std::string& folder) {
  std::vector<std::string> out = paths_in(folder);
  std::erase_if(out, [](const std::string& path) { return !is_gguf(path); });
  return out;
}

ModelFacts model_facts(const std::string& path) {
  if (is_gguf(path)) return gguf_facts(path);
  const std::string where = path + "/config.json", text = small_text(where);
  const Json config = parse_json(where, text);
  ModelFacts facts;
  if (const auto type = config.find("model_type"); type != config.end() && type->is_string())
    facts.architecture = type->get<std::string>();
  read_counts(config, facts);
  facts.own = describes_encoder(where, text);
  if (facts.own) {
    const EncoderShape shape = parse_encoder_shape(where, text);
    facts.layers = shape.layers;
    facts.heads = shape.heads;
    facts.reads_images = shape.reads_images();
  } else {
    facts.reads_images = has_any(path, {"preprocessor_config.json", "processor_config.json"}) &&
                         !has_any(path, {"tokenizer.json", "tokenizer_config.json", "vocab.txt",
                                         "vocab.json", "tokenizer.model", "spiece.model"});
  }
  for (const std::string& file : paths_in(path))
    if (file.ends_with(".safetensors")) add_weights(file, facts);
  return facts;
}

std::string missing_in_model(const std::string& folder) {
  if (!has(folder, "config.json")) return "config.json is missing";
  if (has(folder, "model.safetensors")) return {};
  if (has(folder, index_name)) return missing_shards(folder);
  std::string pickle;
  for (const std::string& path : paths_in(folder)) {
    const std::string name = fs::path(path).filename();
    if (name.ends_with(".safetensors") && has(folder, name)) return {};
    if (name.ends_with(".bin") || name.ends_with(".pt") || name.ends_with(".pth")) pickle = name;
  }
  if (!pickle.empty())
    return "its weights are in " + pickle +
           ", a pickle, which may run code of its author: it is not read. Expected "
           "model.safetensors; where you trust the file, model.save_pretrained(FOLDER) of "
           "transformers writes one";
  return "its weights, model.safetensors, are missing";
}

}  // namespace fovea
