#include "io/structure_origin.h"

#include <algorithm>

#include "data/error.h"
#include "data/text.h"
#include "io/json.h"
#include "io/tensor_file.h"

namespace fovea {
namespace {

Index whole(const Json& value) {
  if (!value.is_number_integer()) throw InputError("its origin", "is no whole number");
  return value.get<Index>();
}

StructureOrigin origin_of_fit(const std::string& path, const Json& fit) {
  StructureOrigin origin{.fitted = true};
  for (const Json& fact : fit.at("about")) {
    const auto name = fact.at(0).get<std::string>(), text = fact.at(1).get<std::string>();
    if (name == "layer") origin.layer = whole(parse_json(path, text));
    if (name == "heads")
      for (const Json& head : parse_json(path, "[" + text + "]"))
        origin.heads.push_back(whole(head));
  }
  return origin;
}

StructureOrigin origin_of_report(const Json& report) {
  StructureOrigin origin{.layer = whole(report.at("layer"))};
  for (const Json& head : report.at("metrics")) origin.heads.push_back(whole(head.at("head")));
  return origin;
}

std::string place_text(Index layer, const std::vector<Index>& heads) {
  std::string text = "layer " + std::to_string(layer) + (heads.size() > 1 ? ", heads " : ", head ");
  const auto count = static_cast<Index>(heads.size());
  const bool is_range =
      count > 1 && std::ranges::is_sorted(heads) && heads.back() - heads.front() == count - 1;
  if (is_range) return text + std::to_string(heads.front()) + " to " + std::to_string(heads.back());
  return text + join(heads, [](Index head) { return std::to_string(head); });
}

}  // namespace

std::optional<StructureOrigin> origin_of_structure(const std::string& path,
                                                   const std::stop_token& stop) {
  const TensorFile file = read_safetensors(path, stop);
  const auto fit = file.metadata.find("fit"), report = file.metadata.find("fovea");
  try {
    StructureOrigin origin;
    if (fit != file.metadata.end())
      origin = origin_of_fit(path, parse_json(path, fit->second, stop));
    else if (report != file.metadata.end())
      origin = origin_of_report(parse_json(path, report->second, stop));
    if (!origin.heads.empty()) return origin;
  } catch (const Json::exception&) {  // written by another program
  } catch (const InputError&) {
  }
  return std::nullopt;
}

std::string note_of_origin(const std::string& path, const StructureOrigin& origin, Index layer,
                           const std::vector<Index>& heads, Index count) {
  const auto made_from = [&](Index head) {
    if (origin.heads.size() == 1) return origin.heads.front();
    const auto slice = static_cast<std::size_t>(head);
    return static_cast<Index>(origin.heads.size()) == count ? origin.heads[slice] : Index{-1};
  };
  if (origin.layer == layer &&
      std::ranges::all_of(heads, [&](Index head) { return made_from(head) == head; }))
    return "";
  return path + " was " + (origin.fitted ? "fitted" : "computed") + " for " +
         place_text(origin.layer, origin.heads) + "; it is applied to " + place_text(layer, heads);
}

}  // namespace fovea
