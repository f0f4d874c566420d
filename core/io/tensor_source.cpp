#include "io/tensor_source.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <span>
#include <utility>

#include "data/error.h"
#include "data/number_text.h"
#include "data/stop.h"
#include "data/text.h"
#include "io/compressed_tensors.h"
#include "io/condition_tensors.h"
#include "io/imported_tensors.h"
#include "io/layout.h"
#include "io/layout_by_output.h"
#include "io/source_metadata.h"
#include "io/tensor_groups.h"
#include "io/vllm_hook.h"

namespace fovea {
namespace {

/// A tensor and what its axes mean.
struct Reading {
  const NamedTensor* tensor = nullptr;
  ElementType type = ElementType::f32;
  Layout layout;

  AxisExtent operator()(char axis, Index occurrence = 0) const {
    return extent_of(*tensor, layout, axis, occurrence);
  }
  std::optional<Layout> other = {};  // another layout that the shape makes equally likely

  std::string text() const {
    return fovea::quoted(tensor->name) + " " + shape_text(tensor->shape) + " as " + layout.text();
  }
};

std::string list_of(const TensorFile& file) {
  constexpr std::size_t most = 12;
  if (file.tensors.empty()) return "no tensors";
  std::string text =
      join(std::span(file.tensors).first(std::min(most, file.tensors.size())),
           [](const NamedTensor& t) { return fovea::quoted(t.name) + " " + shape_text(t.shape); });
  if (file.tensors.size() > most)
    text += " and " + std::to_string(file.tensors.size() - most) + " more";
  return text;
}

/// Layouts that are considered for a shape if none is stated, most likely first.
std::vector<Layout> usual_layouts(Role role, std::size_t rank) {
  if (role == Role::attention)
    return rank == 2   ? std::vector<Layout>{{"nn"}}
           : rank == 3 ? std::vector<Layout>{{"Hnn"}}
           : rank == 4 ? std::vector<Layout>{{"BHnn"}}
                       : std::vector<Layout>{};
  if (role == Role::qkv)
    return rank == 3   ? std::vector<Layout>{{"n3d"}, {"3nd"}}
           : rank == 4 ? std::vector<Layout>{{"n3Hd"}, {"3Hnd"}}
           : rank == 5 ? std::vector<Layout>{{"Bn3Hd"}, {"3BHnd"}, {"B3Hnd"}}
                       : std::vector<Layout>{};
  return rank == 2   ? std::vector<Layout>{{"nd"}}
         : rank == 3 ? std::vector<Layout>{{"Hnd"}, {"nHd"}}
         : rank == 4 ? std::vector<Layout>{{"BHnd"}, {"BnHd"}}
                     : std::vector<Layout>{};
}

/// Turns a file into a Source, one group at a time; keeps what all groups need.
class SourceReader {
 public:
  SourceReader(const TensorFile& file, std::optional<Layout> stated, const std::stop_token& stop)
      : file_(file), stated_(std::move(stated)), stop_(stop) {}

  Source read();

 private:
  Reading reading_of(const NamedTensor& tensor, Role role);
  Reading usual_reading(Reading reading, Role role);
  void guess(const Reading& reading);
  void guess_together(std::vector<Reading>& readings, const LayerTensors& beside);
  bool gives_output_beside(const std::vector<Reading>& readings, const LayerTensors& beside) const;
  void check(const Reading& reading) const;
  HeadTensor heads_of(const Reading& reading, Index batch, Index part = 0) const;
  HeadTensor matrices_of(const Reading& reading, Index batch) const;
  void add_layers(const TensorGroup& group, const TensorIndex& index);
  void add_groups();
  void note_missing_values();
  void check_layer(const Layer& layer, const std::vector<Reading>& readings) const;

  const TensorFile& file_;
  std::optional<Layout> stated_;
  const std::stop_token& stop_;
  Source source_;
};

Reading SourceReader::reading_of(const NamedTensor& tensor, Role role) {
  Reading reading{&tensor, require_float(file_, tensor), {}};
  const bool attention = role == Role::attention;
  // A layout for q, k, v says nothing about an attention matrix beside them, and vice versa.
  if (stated_ && stated_->of_attention() == attention) {
    reading.layout = *stated_;
    const bool packed = stated_->count('3') == 1;
    if (stated_->axes.size() != tensor.shape.size() || packed != (role == Role::qkv))
      throw InputError(file_.path, fovea::quoted(tensor.name) + " has shape " +
                                       shape_text(tensor.shape) + ": layout " + stated_->text() +
                                       " does not fit it");
  } else {
    reading = usual_reading(std::move(reading), role);
  }
  check(reading);
  if (source_.layout.empty()) source_.layout = reading.layout.text();
  return reading;
}

Reading SourceReader::usual_reading(Reading reading, Role role) {
  const std::vector<Index>& shape = reading.tensor->shape;
  const bool hook = parse_tensor_name(reading.tensor->name)->hook;
  std::vector<Layout> layouts = hook && shape.size() == 3   ? std::vector<Layout>{{"nHd"}}
                                : hook && shape.size() == 4 ? std::vector<Layout>{{"BnHd"}}
                                                            : usual_layouts(role, shape.size());
  if (role == Role::qkv)
    std::erase_if(layouts, [&](const Layout& layout) { return shape[layout.axes.find('3')] != 3; });
  if (layouts.empty()) {
    const char* expected = role == Role::attention ? "[n,n], [H,n,n] or [B,H,n,n]"
                           : role == Role::qkv     ? "[n,3,d], [n,3,H,d] or [B,n,3,H,d]"
                                                   : "[n,d], [H,n,d] or [B,H,n,d]";
    throw InputError(file_.path, fovea::quoted(reading.tensor->name) + " has shape " +
                                     shape_text(shape) + "; expected " + expected +
                                     ", or another stated with --layout");
  }
  reading.layout = layouts.front();
  const Index heads = reading('H').size, n = reading('n').size;
  if (role == Role::qkv && layouts.size() > 1) {
    reading.other = layouts[1];
  } else if (role != Role::attention && !hook && reading.layout.count('H') && heads >= n &&
             heads > 1) {
    // If there are more heads than tokens, the two may well be swapped.
    Layout other = reading.layout;
    for (char& axis : other.axes) axis = axis == 'H' ? 'n' : axis == 'n' ? 'H' : axis;
    reading.other = other;
  }
  return reading;
}

/// A doubt about q, k or v remains only if all of them can be read in another way, and if z does
/// not decide.
void SourceReader::guess_together(std::vector<Reading>& readings, const LayerTensors& beside) {
  const auto doubted =
      std::ranges::find_if(readings, [](const Reading& r) { return r.other.has_value(); });
  if (doubted == readings.end()) return;
  std::vector<Reading> others = readings;
  for (Reading& other : others) {
    if (other.layout.axes.size() != doubted->layout.axes.size()) return;
    other.layout = *doubted->other;
  }
  const Reading &keys = others[1], &values = others.back();
  const Index key_heads = keys('H').size;
  if (others[0]('H').size % std::max<Index>(1, key_heads) != 0 || values('H').size != key_heads ||
      keys('n').size != values('n').size)
    return;
  const bool first = gives_output_beside(readings, beside),
             second = gives_output_beside(others, beside);
  if (first == second) return guess(*doubted);
  if (second) readings = std::move(others);
  source_.layout = readings[0].layout.text();
  source_.notes.push_back("Read " + readings[0].text() + " (" +
                          std::to_string(readings[0]('H').size) + " heads of " +
                          std::to_string(readings[0]('n').size) +
                          " tokens): with this layout exact attention gives the z of the file.");
}

bool SourceReader::gives_output_beside(const std::vector<Reading>& readings,
                                       const LayerTensors& beside) const {
  static constexpr std::string_view names[] = {"z", "attn_output"};
  const NamedTensor* z = beside.find(names);
  if (!z || readings.size() != 3 || !z->type || !is_float(*z->type) || !z->bytes ||
      z->shape.size() != readings[0].tensor->shape.size())
    return false;
  const auto stated = file_.metadata.find("scale");
  std::optional<double> scale;
  if (double value = 0; stated != file_.metadata.end()) {
    const std::string& text = stated->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && value > 0) scale = value;
  }
  const Reading output{z, *z->type, readings[0].layout};
  return gives_output(heads_of(readings[0], 0), heads_of(readings[1], 0), heads_of(readings[2], 0),
                      heads_of(output, 0), scale, stop_);
}

void SourceReader::guess(const Reading& reading) {
  if (source_.layout_guessed) return;  // one note is enough
  source_.layout_guessed = true;
  source_.notes.push_back("Read " + reading.text() + " (" + std::to_string(reading('H').size) +
                          " heads of " + std::to_string(reading('n').size) +
                          " tokens), which is a guess: if it is wrong, state the layout, as in "
                          "--layout " +
                          reading.other->text() + ".");
}

void SourceReader::check(const Reading& reading) const {
  if (reading.layout.count('3') && reading('3').size != 3)
    throw InputError(file_.path, "read " + reading.text() + ": its axis 3 has size " +
                                     std::to_string(reading('3').size) + "; expected 3");
  if (std::ranges::find(reading.tensor->shape, 0) != reading.tensor->shape.end())
    throw InputError(file_.path,
                     "read " + reading.text() +
                         ": an empty tensor; expected at least one head, token and feature");
}

HeadTensor SourceReader::heads_of(const Reading& reading, Index batch, Index part) const {
  const AxisExtent head = reading('H'), row = reading('n'), col = reading('d');
  return {.type = reading.type,
          .big_endian = reading.tensor->big_endian,
          .bytes = reading.tensor->bytes,
          .begin = reading.tensor->begin + batch * reading('B').stride + part * reading('3').stride,
          .heads = head.size,
          .rows = row.size,
          .cols = col.size,
          .head_stride = head.stride,
          .row_stride = row.stride,
          .col_stride = col.stride};
}

HeadTensor SourceReader::matrices_of(const Reading& reading, Index batch) const {
  HeadTensor out = heads_of(reading, batch);
  out.cols = reading('n', 1).size;
  out.col_stride = reading('n', 1).stride;
  return out;
}

void SourceReader::check_layer(const Layer& layer, const std::vector<Reading>& readings) const {
  const auto require = [&](bool holds, const char* expected) {
    if (!holds)
      throw InputError(file_.path,
                       "read " + join(readings, &Reading::text) + "; expected " + expected);
  };
  for (const Reading& reading : readings)
    require(reading('B').size == readings[0]('B').size, "the same batch");
  if (layer.has_qk()) {
    require(!layer.has_values() || layer.k.rows == layer.v.rows, "as many values as keys");
    require(layer.k.cols == layer.d(), "the same d for q and k");
    require(!layer.has_values() || layer.k.heads == layer.v.heads, "as many key as value heads");
    require(layer.heads() % layer.k.heads == 0, "key heads that divide the query heads");
  }
  if (layer.attention.present()) {
    require(layer.attention.heads == layer.heads(), "as many heads of attention");
    require(layer.attention.rows == layer.queries() && layer.attention.cols == layer.keys(),
            "attention of these queries and keys");
  }
}

void SourceReader::add_layers(const TensorGroup& group, const TensorIndex& index) {
  const bool packed = group[Role::qkv] != nullptr, whole = group.has_qk();
  std::vector<Reading> readings;
  if (packed) readings.push_back(reading_of(*group[Role::qkv], Role::qkv));
  if (whole && !packed)
    for (const Role role : {Role::q, Role::k, Role::v})
      if (group[role]) readings.push_back(reading_of(*group[role], role));
  if (packed && readings[0].other) guess(readings[0]);
  LayerTensors beside(index, group.prefix, packed || whole ? readings[0]('B').size : 1);
  if (whole && !packed) guess_together(readings, beside);
  const bool values = packed || group[Role::v];
  if (const NamedTensor* attention = group[Role::attention])
    readings.push_back(reading_of(*attention, Role::attention));

  const Index batch = readings[0]('B').size;
  for (Index b = 0; b < batch; ++b) {
    check_stop(stop_);
    Layer layer{.name = printable(group.prefix)};
    if (batch > 1) layer.name += (layer.name.empty() ? "batch" : " batch") + std::to_string(b);
    if (whole) {
      layer.q = heads_of(readings[0], b, 0);
      layer.k = heads_of(readings[packed ? 0 : 1], b, packed ? 1 : 0);
      if (values) layer.v = heads_of(readings[packed ? 0 : 2], b, packed ? 2 : 0);
    }
    if (group[Role::attention]) layer.attention = matrices_of(readings.back(), b);
    beside.choose_member(b);
    if (whole && layer.k.cols == layer.d()) add_compressed_tensors(beside, layer);
    if (b == 0) check_layer(layer, readings);  // before any other member of the batch is addressed
    if (whole) {
      add_condition_tensors(beside, layer, stop_);
      add_imported_tensors(beside, layer);
    }
    source_.layers.push_back(std::move(layer));
  }
}

void SourceReader::add_groups() {
  const std::vector<TensorGroup> groups = groups_of(file_);
  if (groups.empty())
    throw InputError(file_.path, "neither q, k, v nor attention: found " + list_of(file_));
  const bool any = std::ranges::any_of(groups, &TensorGroup::usable);
  const TensorIndex index(file_, groups);
  source_.layers.reserve(groups.size());
  for (const TensorGroup& group : groups) {
    if (group.usable()) {
      add_layers(group, index);
    } else if (!any) {
      throw InputError(file_.path, group.complaint() + "; expected q and k, and v for outputs");
    } else {
      source_.notes.push_back("Left out: " + group.complaint() + ".");
    }
  }
}

/// Notes that values are missing, in all layers or in some.
void SourceReader::note_missing_values() {
  const auto without = [](const Layer& layer) { return layer.has_qk() && !layer.has_values(); };
  const auto first = std::ranges::find_if(source_.layers, without);
  if (first == source_.layers.end()) return;
  const auto others = std::ranges::count_if(source_.layers, without) - 1;
  const bool all = others + 1 == std::ssize(source_.layers);
  const std::string where =
      all ? std::string()
          : " in " + first->name + (others > 0 ? " and " + plural(others, "other layer") : "");
  source_.notes.push_back("There are no values v" + where +
                          ": weights are shown, outputs are not known. Costs are without the "
                          "product P V, times with that of one column.");
}

Source SourceReader::read() {
  source_.name = printable(std::filesystem::path(file_.path).stem().string());
  source_.path = file_.path;
  source_.kind = file_.kind;
  source_.metadata = file_.metadata;
  source_.notes = file_.notes;
  source_.files = file_.files;
  if (is_vllm_hook(file_) && !stated_)
    add_vllm_hook_layers(file_, source_, stop_);
  else
    add_groups();
  note_missing_values();
  apply_metadata(source_, stop_);
  return std::move(source_);
}

std::optional<Layout> stated_layout(const TensorFile& file,
                                    const std::optional<std::string>& argument) {
  constexpr const char* expected = "axes B, H, n, d (and 3 for packed q, k, v), as in [B,n,H,d]";
  if (argument) {
    auto layout = parse_layout(*argument);
    if (!layout) throw UsageError("layout " + fovea::quoted(*argument) + "; expected " + expected);
    return layout;
  }
  const auto metadata = file.metadata.find("layout");
  if (metadata == file.metadata.end()) return std::nullopt;
  auto layout = parse_layout(metadata->second);
  if (!layout)
    throw InputError(file.path, "metadata 'layout' is " + fovea::quoted(metadata->second) +
                                    "; expected " + expected);
  return layout;
}

}  // namespace

Source source_from_tensors(const TensorFile& file, const std::optional<std::string>& layout,
                           const std::stop_token& stop) {
  return SourceReader(file, stated_layout(file, layout), stop).read();
}

}  // namespace fovea
