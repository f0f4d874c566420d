#include "batch/batch_items.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "data/error.h"
#include "data/fnv1a.h"
#include "data/number_text.h"
#include "input/content_hash.h"
#include "input/open_source.h"
#include "io/file_bytes.h"
#include "session/settings.h"

namespace fovea {
namespace {

template <class Number>
std::optional<Number> number_from(const std::string& text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// What to do about a source that changes before the first item, and about one that changes later.
constexpr const char* advice_before = "run the sweep again";
constexpr const char* advice_later =
    "put it back and run the sweep again with --retry-failed, or sweep into another folder with -o";

std::string place_of(const char* list, std::size_t entry) {
  return std::string(list) + "[" + std::to_string(entry) + "]";
}

/// A layer by its name, or counted from 0.
std::optional<Index> find_layer(const Source& source, const std::string& text) {
  const auto named = std::ranges::find(source.layers, text, &Layer::name);
  if (named != source.layers.end() && !text.empty())
    return static_cast<Index>(named - source.layers.begin());
  const auto index = number_from<Index>(text);
  const auto count = static_cast<Index>(source.layers.size());
  return index && *index >= 0 && *index < count ? index : std::nullopt;
}

}  // namespace

Shard shard_from(const std::string& text) {
  const auto slash = text.find('/');
  const auto number = number_from<std::size_t>(text.substr(0, slash));
  const auto of = slash == std::string::npos ? std::optional<std::size_t>()
                                             : number_from<std::size_t>(text.substr(slash + 1));
  if (!number || !of || *number < 1 || *number > *of)
    throw UsageError("--shard " + text + "; expected I/N with I from 1 to N, such as 1/4");
  return {.number = *number, .of = *of};
}

BatchItems::BatchItems(BatchPlan plan, const std::stop_token& stop) : plan_(std::move(plan)) {
  for (std::size_t source = 0; source < plan_.sources.size(); ++source) add_source(source, stop);
  if (size() == 0)
    throw InputError(
        plan_.path, "no items: none of the variants has a form for a causal mask; expected others");
}

std::vector<Index> BatchItems::layers_of(const Source& source) const {
  std::vector<Index> layers;
  const auto count = static_cast<Index>(source.layers.size());
  if (!plan_.layers) {
    for (Index layer = 0; layer < count; ++layer)
      if (source.layers[layer].has_qk()) layers.push_back(layer);
    if (layers.empty())
      throw InputError(source.path, "holds only attention matrices; expected Q, K and V");
    return layers;
  }
  for (std::size_t entry = 0; entry < plan_.layers->size(); ++entry) {
    const std::string& text = (*plan_.layers)[entry];
    const auto layer = find_layer(source, text);
    const std::string where = place_of("layers", entry) + " is " + text + "; ";
    if (!layer)
      throw InputError(plan_.path, where + source.path + " has the layers 0 to " +
                                       std::to_string(count - 1) + ", " + layer_label(source, 0) +
                                       " and so on");
    if (!source.layers[*layer].has_qk())
      throw InputError(plan_.path, where + "there " + source.path +
                                       " holds only an attention matrix; expected Q, K and V");
    layers.push_back(*layer);
  }
  return layers;
}

void BatchItems::add_source(std::size_t place, const std::stop_token& stop) {
  const Source source = [&] {
    try {
      return open_source(plan_.sources[place], {.threads = plan_.backend.threads, .stop = stop});
    } catch (const Cancelled&) {
      throw;
    } catch (const ChangedError&) {
      throw InputError(plan_.path, place_of("sources", place) + ": " + plan_.sources[place] +
                                       ": was changed while it was opened; " + advice_before);
    } catch (const UnavailableError& error) {
      throw UnavailableError(plan_.path + ": " + place_of("sources", place) + ": " + error.what());
    } catch (const Error& error) {
      throw InputError(plan_.path, place_of("sources", place) + ": " + error.what());
    }
  }();
  SourceFiles& files = files_.emplace_back();
  for (const auto& file : source.files) files.push_back(file->closed());
  for (const Index layer : layers_of(source)) {
    const Layer& of = source.layers[layer];
    BatchHead head{.source = place,
                   .layer = layer,
                   .layer_name = layer_label(source, layer),
                   .n = of.keys(),
                   .d = of.d(),
                   .dv = of.dv(),
                   .causal = plan_.causal.value_or(stated_causal(source, layer).value_or(false))};
    head.settings = settings_for(of.lengths(), head.causal);
    head.items = settings_[head.settings].settings.size() * plan_.seeds.size();
    const Index count = plan_.heads ? static_cast<Index>(plan_.heads->size()) : of.heads();
    for (Index h = 0; h < count; ++h) {
      const auto entry = static_cast<std::size_t>(h);
      head.head = plan_.heads ? (*plan_.heads)[entry] : h;
      if (head.head >= of.heads())
        throw InputError(plan_.path, place_of("heads", entry) + " is " + std::to_string(head.head) +
                                         "; " + head.layer_name + " of " + source.path +
                                         " has the heads 0 to " + std::to_string(of.heads() - 1));
      head.first_item = size();
      heads_.push_back(head);
    }
  }
}

std::size_t BatchItems::settings_for(Lengths lengths, bool causal) {
  for (std::size_t s = 0; s < settings_.size(); ++s)
    if (settings_[s].lengths == lengths && settings_[s].causal == causal) return s;
  SettingList list{.lengths = lengths, .causal = causal, .settings = {}};
  for (const PlannedVariant& planned : plan_.variants) {
    const bool has_form = planned.variant->has_form_of(lengths, causal);
    if (planned.of_group && !has_form) {
      if (std::ranges::find(left_out_, planned.variant) == left_out_.end())
        left_out_.push_back(planned.variant);
      continue;
    }
    for (Values& values : crossed_settings(planned, lengths.keys)) {
      const auto same = [&](const BatchSetting& other) {
        return other.variant == planned.variant && other.values == values;
      };
      const bool known = planned.set.empty() && std::ranges::any_of(list.settings, same);
      if (!known) list.settings.push_back({planned.variant, std::move(values)});
    }
  }
  settings_.push_back(std::move(list));
  return settings_.size() - 1;
}

std::size_t BatchItems::size() const {
  return heads_.empty() ? 0 : heads_.back().first_item + heads_.back().items;
}

BatchItem BatchItems::item(std::size_t number) const {
  const auto after = std::ranges::upper_bound(heads_, number, {}, &BatchHead::first_item);
  const auto head = static_cast<std::size_t>(after - heads_.begin()) - 1;
  const std::size_t within = number - heads_[head].first_item, seeds = plan_.seeds.size();
  return {.number = number,
          .head = head,
          .setting = settings_[heads_[head].settings].settings[within / seeds],
          .seed = plan_.seeds[within % seeds]};
}

std::string BatchItems::text_of(std::size_t number) const {
  const BatchItem it = item(number);
  const BatchHead& head = heads_[it.head];
  const std::string set = assignments_text(*it.setting.variant, it.setting.values);
  return plan_.sources[head.source] + " " + head.layer_name + ", head " +
         std::to_string(head.head) + ": " + it.setting.variant->id + (set.empty() ? "" : " ") +
         set + ", seed " + std::to_string(it.seed);
}

Source BatchItems::open(std::size_t source, const std::stop_token& stop) const {
  Source opened = [&] {
    try {
      return open_source(plan_.sources[source], {.threads = plan_.backend.threads, .stop = stop});
    } catch (const ChangedError&) {
      throw changed(source);
      // That it is another file explains more than what is wrong with it.
    } catch (const InputError&) {
      require_unchanged(source, files_now(source), advice_later);
      throw;
    }
  }();
  require_unchanged(source, opened.files, advice_later);
  return opened;
}

SourceFiles BatchItems::files_now(std::size_t source) const {
  SourceFiles now;
  for (const auto& file : files_[source])
    now.push_back(std::make_shared<const FileBytes>(file->path(), FileBytes::Between::close));
  return now;
}

void BatchItems::require_unchanged(std::size_t source, const SourceFiles& files,
                                   const char* advice) const {
  const SourceFiles& planned = files_[source];
  if (!std::ranges::equal(planned, files, {}, &FileBytes::path, &FileBytes::path))
    throw ChangedError(plan_.sources[source],
                       std::string("holds other files than when the sweep began; ") + advice);
  for (std::size_t file = 0; file < planned.size(); ++file)
    planned[file]->require_same(*files[file], advice);
}

ChangedError BatchItems::changed(std::size_t source) const {
  return change_of(source, advice_later);
}

ChangedError BatchItems::change_of(std::size_t source, const char* advice) const {
  try {
    require_unchanged(source, files_now(source), advice);
  } catch (const ChangedError& found) {
    return found;
  } catch (const InputError&) {  // it cannot be read now either
  }
  return {plan_.sources[source], std::string("was changed while the sweep read it; ") + advice};
}

std::string BatchItems::fingerprint(const std::stop_token& stop) const {
  std::uint64_t hash = fnv1a("fovea sweep 1");
  const auto add = [&](const std::string& text) { hash = fnv1a(text + '\n', hash); };
  for (std::size_t source = 0; source < files_.size(); ++source) {
    try {
      add(plan_.sources[source] + ' ' + content_hash_of(files_[source], stop).text());
    } catch (const ChangedError&) {
      throw change_of(source, advice_before);
    }
  }
  for (const BatchHead& head : heads_) {
    const std::size_t numbers[] = {head.source,
                                   static_cast<std::size_t>(head.layer),
                                   static_cast<std::size_t>(head.head),
                                   static_cast<std::size_t>(head.n),
                                   head.causal,
                                   head.settings};
    std::string text;
    for (const std::size_t number : numbers) text += std::to_string(number) + ' ';
    add(text);
  }
  for (const SettingList& list : settings_) {
    for (const BatchSetting& setting : list.settings)
      add(setting.variant->id + ' ' + assignments_text(*setting.variant, setting.values));
    add("");
  }
  for (const std::uint64_t seed : plan_.seeds) add(std::to_string(seed));
  add(plan_.backend.backend + ' ' + plan_.backend.precision + ' ' +
      std::to_string(plan_.backend.threads) + ' ' + std::to_string(plan_.rounds) +
      (plan_.metrics ? " metrics" : ""));
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace fovea
