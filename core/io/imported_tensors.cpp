#include "io/imported_tensors.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "data/error.h"
#include "data/shape.h"
#include "data/text.h"
#include "io/selection_tensors.h"

namespace fovea {
namespace {

constexpr std::string_view result_words[] = {"z", "z_runs", "lse", "p"},
                           gradient_words[] = {"do", "dz", "dq", "dk", "dv"};

bool is_in_lower_case(std::string_view word, std::string_view text) {
  return std::ranges::equal(word, text,
                            [](char a, unsigned char b) { return a == std::tolower(b); });
}

/// The word that a tensor of a result ends in; empty if it is none.
std::string_view word_of(std::string_view end) {
  for (const std::string_view word : result_words)
    if (end == word) return word;
  for (const std::string_view word : gradient_words)
    if (end == word) return word;
  for (const std::string_view word : selection_words)
    if (is_in_lower_case(word, end)) return word;
  return {};
}

class ImportedReader {
 public:
  ImportedReader(const LayerTensors& tensors, const Layer& layer)
      : tensors_(tensors), layer_(layer) {}

  /// By name; those without a name are called `unnamed`.
  std::vector<ImportedTensors> read(const std::string& unnamed = {}) {
    for (const auto& [word, names] : unnamed_)
      if (const NamedTensor* tensor = tensors_.find(names)) found_[{}].emplace(word, *tensor);
    for (const std::string_view& word : selection_words)
      if (const NamedTensor* tensor = tensors_.find({&word, 1})) found_[{}].emplace(word, *tensor);
    for (const std::string_view& word : gradient_words)
      if (const NamedTensor* tensor = tensors_.find({&word, 1})) found_[{}].emplace(word, *tensor);
    if (const NamedTensor* tensor = tensors_.find(hook_names_))
      found_[{}].insert_or_assign("z", heads_first(*tensor));
    for (const auto& [rest, tensor] : tensors_.all()) add_if_named(rest, *tensor);
    std::vector<ImportedTensors> results;
    for (const auto& [name, found] : found_) {
      results.push_back(result_of(name, found));
      if (name.empty()) results.back().name = unnamed;
    }
    return results;
  }

 private:
  /// [.., n, H, d] as [.., H, n, d].
  static NamedTensor heads_first(NamedTensor tensor) {
    const std::size_t rank = tensor.shape.size();
    if (rank >= 3 && tensor.strides.size() == rank) {  // otherwise its type is refused
      std::swap(tensor.shape[rank - 2], tensor.shape[rank - 3]);
      std::swap(tensor.strides[rank - 2], tensor.strides[rank - 3]);
    }
    return tensor;
  }

  // P.NAME.z, unless P.NAME is a layer of its own.
  void add_if_named(std::string_view rest, const NamedTensor& tensor) {
    const std::size_t dot = rest.find('.');
    if (dot == rest.npos || dot == 0) return;
    const std::string_view word = word_of(rest.substr(dot + 1));
    if (word.empty()) return;
    const std::string name(rest.substr(0, dot));
    if (!tensors_.is_layer_within(name, tensor))
      found_[printable(name)].insert_or_assign(word, tensor);
  }

  ImportedTensors result_of(const std::string& name, const TensorsByWord& found) const {
    ImportedTensors result{.name = name};
    const auto read = [&](std::string_view word, HeadTensor& to, auto as) {
      if (const auto tensor = found.find(word); tensor != found.end()) to = as(tensor->second);
    };
    const Index heads = layer_.heads(), queries = layer_.queries();
    if (layer_.has_values()) {  // otherwise there is nothing to compare z with
      read("z", result.z,
           [&](const NamedTensor& tensor) { return output(tensors_.of_batch(tensor, 3)); });
      if (const auto runs = found.find("z_runs"); runs != found.end())
        result.z_runs = outputs_of_runs(runs->second);
      if (!result.z.present() && !result.z_runs.empty()) {
        result.z = result.z_runs.front();
        result.z_runs.erase(result.z_runs.begin());
      }
    }
    read("p", result.p, [&](const NamedTensor& tensor) {
      return tensors_.matrices(tensor, heads, queries, layer_.keys());
    });
    result.gradients = gradients_of(found);
    read("lse", result.lse, [&](const NamedTensor& tensor) { return lists(tensor); });
    std::vector<std::string> prefixes;
    for (const std::string& of : {layer_.name, std::string()}) {
      const std::string before = of.empty() ? "" : of + ".";
      if (!name.empty()) prefixes.push_back(before + name + ".");
      prefixes.push_back(before);
    }
    result.kept = selection_of(found, tensors_, layer_, prefixes);
    return result;
  }

  /// `tensor` has no axis of the batch.
  HeadTensor output(const NamedTensor& tensor) const {
    const Index heads = layer_.heads(), queries = layer_.queries(), dv = layer_.dv();
    const bool tokens_first =
        heads != queries && tensor.shape == std::vector<Index>{queries, heads, dv};
    return tensors_.matrices_of_member(tokens_first ? heads_first(tensor) : tensor, heads, queries,
                                       dv);
  }

  std::vector<HeadTensor> outputs_of_runs(const NamedTensor& whole) const {
    constexpr Index most_runs = 1024;
    const Index heads = layer_.heads(), queries = layer_.queries(), dv = layer_.dv();
    const bool batched = tensors_.batches() > 1;
    const NamedTensor runs = tensors_.of_batch(whole, 4);
    std::vector<Index> of_one = runs.shape;
    if (!of_one.empty()) of_one.erase(of_one.begin());
    const bool fits = of_one == std::vector{heads, queries, dv} ||
                      of_one == std::vector{queries, heads, dv} ||
                      (heads == 1 && of_one == std::vector{queries, dv});
    // Fewer axes would leave open whether the first one is that of the batch.
    if (!fits || runs.shape[0] > most_runs || (batched && whole.shape.size() != 5))
      tensors_.refuse(whole, std::string(batched ? "[batch, runs, " : "[runs, ") +
                                 std::to_string(heads) + ", " + std::to_string(queries) + ", " +
                                 std::to_string(dv) + "], at most " + std::to_string(most_runs) +
                                 " runs");
    std::vector<HeadTensor> out;
    for (Index run = 0; run < runs.shape[0]; ++run) {
      NamedTensor one = runs;
      one.begin += run * runs.strides[0];
      one.shape.erase(one.shape.begin());
      one.strides.erase(one.strides.begin());
      out.push_back(output(one));
    }
    return out;
  }

  /// A result without dz has that of the layer.
  GradientTensors gradients_of(const TensorsByWord& found) const {
    GradientTensors out;
    if (!layer_.has_values()) return out;
    const auto read = [&](std::string_view word, const TensorsByWord& holder, Index own_heads,
                          Index rows, Index cols) {
      const auto tensor = holder.find(word);
      if (tensor == holder.end()) return HeadTensor{};
      const auto& shape = tensors_.of_batch(tensor->second, 3).shape;
      const bool grouped = shape.size() == 3 && shape[0] == own_heads;
      return tensors_.matrices(tensor->second, grouped ? own_heads : layer_.heads(), rows, cols);
    };
    const Index heads = layer_.heads(), of_keys = layer_.k.heads;
    out.dq = read("dq", found, heads, layer_.queries(), layer_.d());
    out.dk = read("dk", found, of_keys, layer_.keys(), layer_.d());
    out.dv = read("dv", found, of_keys, layer_.keys(), layer_.dv());
    if (!out.dq.present() && !out.dk.present() && !out.dv.present()) return out;
    const auto common = found_.find({});
    for (const TensorsByWord* holder : {&found, common == found_.end() ? &found : &common->second})
      for (const std::string_view word : {"dz", "do"})
        if (!out.dz.present()) out.dz = read(word, *holder, heads, layer_.queries(), layer_.dv());
    return out;
  }

  HeadTensor lists(const NamedTensor& whole) const {
    const NamedTensor tensor = tensors_.of_batch(whole, 2);
    require_float(tensors_.file(), tensor);
    const Index heads = layer_.heads(), queries = layer_.queries();
    const bool one_head = heads == 1 && tensor.shape == std::vector<Index>{queries};
    const std::vector<Index> expected{heads, queries};
    if (!one_head && tensor.shape != expected) tensors_.refuse(whole, shape_text(expected));
    return {.type = *tensor.type,
            .big_endian = tensor.big_endian,
            .bytes = tensor.bytes,
            .begin = tensor.begin,
            .heads = heads,
            .rows = queries,
            .cols = 1,
            .head_stride = one_head ? 0 : tensor.strides[0],
            .row_stride = tensor.strides.back(),
            .col_stride = 0};
  }

  static constexpr std::string_view z_names_[] = {"z", "attn_output"}, lse_names_[] = {"lse"},
                                    p_names_[] = {"p"}, run_names_[] = {"z_runs"},
                                    hook_names_[] = {"hook_z"};
  static constexpr std::pair<std::string_view, Names> unnamed_[] = {
      {"z", z_names_}, {"z_runs", run_names_}, {"lse", lse_names_}, {"p", p_names_}};

  const LayerTensors& tensors_;
  const Layer& layer_;
  std::map<std::string, TensorsByWord> found_;  // by the name of the result
};

}  // namespace

void add_imported_tensors(const LayerTensors& tensors, Layer& layer) {
  std::vector<ImportedTensors> results = ImportedReader(tensors, layer).read();
  // The attention matrix of the layer is a result without a name.
  if (layer.attention.present()) {
    if (results.empty() || !results.front().name.empty())
      results.insert(results.begin(), ImportedTensors{});
    if (!results.front().p.present()) results.front().p = layer.attention;
  }
  std::erase_if(results, [](const ImportedTensors& result) { return !result.present(); });
  layer.imported = std::move(results);
}

void add_results_of(const TensorFile& file, const std::string& unnamed, Source& source) {
  const TensorIndex index(file, {});
  bool any = false;
  for (Layer& layer : source.layers) {
    if (!layer.has_qk()) continue;
    const LayerTensors tensors(index, layer.name, 1);
    std::vector<ImportedTensors> results = ImportedReader(tensors, layer).read(unnamed);
    std::erase_if(results, [](const ImportedTensors& result) { return !result.present(); });
    any |= !results.empty();
    for (const ImportedTensors& known : layer.imported)
      if (std::ranges::find(results, known.name, &ImportedTensors::name) == results.end())
        results.push_back(known);
    layer.imported = std::move(results);
  }
  if (!any)
    throw InputError(file.path,
                     "no mask, list of pairs or result for a layer of the source: found " +
                         join(file.tensors,
                              [](const NamedTensor& t) {
                                return fovea::quoted(t.name) + " " + shape_text(t.shape);
                              }) +
                         "; expected " + join(selection_words) + ", z or p");
  source.files.insert(source.files.end(), file.files.begin(), file.files.end());
}

}  // namespace fovea
