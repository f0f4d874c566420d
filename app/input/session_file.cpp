#include "input/session_file.h"

#include <QByteArray>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <type_traits>
#include <utility>

#include "analysis/measures.h"
#include "data/address.h"
#include "data/error.h"
#include "data/model_address.h"
#include "data/text.h"
#include "data/utf8.h"
#include "drawing/colormap.h"
#include "input/model_place.h"
#include "input/open_source.h"
#include "io/json_place.h"
#include "views/views.h"

namespace fovea {
namespace {

constexpr int version = 1;
constexpr std::size_t most_views = 64;    // a command may name one several times
constexpr std::size_t most_names = 1024;  // of spans, and of what is hidden: people name them

std::string text_of_pool(Pool::Kind kind) {
  return kind == Pool::Kind::mean ? "mean" : "max";
}

constexpr std::string_view file_url = "file://";

// Makes a source absolute, so that the session opens from any directory. JSON holds only UTF-8: a
// path that is not UTF-8 is written as a URL, which can hold any bytes.
std::string absolute(const std::string& source) {
  if (is_model_address(source)) return with_absolute_paths(source);
  std::error_code not_there;
  if (const auto [prefix, inner] = unwrap(source); !prefix.empty())
    return std::string(prefix) + absolute(std::string(inner));
  const bool file = !source.empty() && std::filesystem::exists(source, not_there);
  const std::string path = file ? std::filesystem::absolute(source).string() : source;
  if (!file || is_utf8(path)) return path;
  return std::string(file_url) +
         QByteArray::fromStdString(path).toPercentEncoding("/").toStdString();
}

std::string path_of(const std::string& source) {
  if (const auto [prefix, inner] = unwrap(source); !prefix.empty())
    return std::string(prefix) + path_of(std::string(inner));
  if (!source.starts_with(file_url)) return source;
  return QByteArray::fromPercentEncoding(QByteArray::fromStdString(source.substr(file_url.size())))
      .toStdString();
}

/// Older sessions that name the file of a text or an image mean its content similarity.
std::string source_of(const std::string& written) {
  const std::string path = path_of(written);
  try {
    return is_address(path) || address_of(path) == path ? path : std::string(content_prefix) + path;
  } catch (const Error&) {  // opening it says why
    return path;
  }
}

void put_into_json(const HeadConditions& conditions, Json& json) {
  for_conditions([&](const auto& condition) {
    const auto& value = conditions.*condition.member;
    json[condition.id] = value ? Json(*value) : Json();
  });
}

Json json_of(const Column& column) {
  const Variant& variant = find_variant(column.variant);
  Json parameters = Json::object();
  for (std::size_t f = 0; f < variant.schema.size(); ++f)
    parameters[variant.schema[f].id] = to_text(column.values[f]);
  Json json{{"variant", column.variant}, {"parameters", parameters}, {"seed", column.seed}};
  if (const auto& held = column.held) {
    json["held"] = {
        {"source", absolute(held->source)}, {"layer", held->layer}, {"head", held->head}};
    put_into_json(held->conditions, json["held"]);
  }
  return json;
}

constexpr std::size_t most_tree_bytes = std::size_t{2} << 20;  // of all trees of a session

template <class T>
QByteArray bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          static_cast<qsizetype>(values.size() * sizeof(T))};
}

std::size_t bytes_of(const ColumnTree& tree) {
  std::size_t bytes = 0;
  for (const StructureTensor& tensor : tree.tensors.tensors())
    bytes += static_cast<std::size_t>(tensor.size()) * sizeof(float);
  return bytes;
}

/// Numbers as base64 of 32 bits each, the lowest byte first.
Json json_of(const ColumnTree& tree) {
  Json tensors = Json::array();
  for (const StructureTensor& tensor : tree.tensors.tensors())
    if (const auto* values = std::get_if<std::vector<float>>(&tensor.values))
      tensors.push_back({{"name", tensor.name},
                         {"shape", tensor.shape},
                         {"float32", bytes_of(*values).toBase64().toStdString()}});
  return {{"learned_on", tree.learned_on}, {"tensors", tensors}};
}

Json json_of(const ColourRange& range) {
  return {{"view", to_text(range.view)},
          {"column", range.column},
          {"low", range.low},
          {"high", range.high}};
}

Json json_of(const Value& value) {
  return std::visit([](const auto& one) { return Json(one); }, value);
}

Json json_of(const ViewSettings& s) {
  Json ranges = Json::array();
  for (const ColourRange& range : s.ranges) ranges.push_back(json_of(range));
  Json json{{"norm", to_text(s.norm)},
            {"log_floor", s.log_floor},
            {"pool", text_of_pool(s.pool)},
            {"shared_range", s.shared_range},
            {"colormap", s.colormap},
            {"ranges", ranges},
            {"hidden", s.hidden}};
  for (const auto& [view, field] : view_fields())
    json[field->field.id] = json_of(value_of(s, *field));
  return json;
}

Json json_of(const Span& span) {
  return {{"name", span.name}, {"first", span.tokens.begin}, {"last", span.tokens.end - 1}};
}

// Reads one object of a session file; every message names the file and the entry.
struct Reader {
  const std::string& where;

  JsonPlace at(const Json& object, const char* name) const {
    return JsonPlace(where, object).at(name);
  }
  template <class T>
  T get(const Json& object, const char* name) const {
    return at(object, name).as<T>();
  }
  template <class T>
  T named(const Json& object, const char* name, const std::vector<T>& choices,
          std::string (*text_of)(T) = &to_text) const {
    const auto text = get<std::string>(object, name);
    for (const T choice : choices)
      if (text_of(choice) == text) return choice;
    throw InputError(where, std::string("'") + name + "' is " + fovea::quoted(text) +
                                "; expected one of " + join(choices, text_of));
  }
  std::vector<Json> list(const Json& object, const char* name, std::size_t most) const {
    auto items = get<std::vector<Json>>(object, name);
    if (items.size() > most)
      throw InputError(where, "a session of " + std::to_string(items.size()) + " " + name +
                                  "; expected at most " + std::to_string(most));
    return items;
  }
  View view(const Json& object) const { return named(object, "view", all_views()); }

  std::string colour_map(const Json& json) const {
    auto id = get<std::string>(json, "colormap");
    const auto known = colormap_ids();
    if (std::ranges::find(known, id) == known.end())
      throw InputError(where, "colour map " + fovea::quoted(id) +
                                  " is not known; expected one of " + join(known));
    return id;
  }

  // Older files have none.
  SortOrders orders(const Json& json) const {
    SortOrders orders;
    if (json.contains("comparison_order"))
      orders.comparison = get<std::string>(json, "comparison_order");
    if (json.contains("head_order")) orders.heads = named(json, "head_order", all_head_orders());
    if (json.contains("all_layers")) orders.all_layers = get<bool>(json, "all_layers");
    if (!orders.comparison.empty() &&
        std::ranges::find(measures(), orders.comparison, &Measure::id) == measures().end())
      throw InputError(where, "'comparison_order' is " + fovea::quoted(orders.comparison) +
                                  "; expected the id of a measure, such as output_rel_fro");
    return orders;
  }

  Column column(const Json& json) const {
    Column column{.variant = get<std::string>(json, "variant"),
                  .values = {},
                  .seed = get<std::uint64_t>(json, "seed")};
    try {
      const Variant& variant = find_variant(column.variant);
      column.values = defaults(variant.schema);
      for (const auto& [id, value] : at(json, "parameters").value().items())
        set_value(variant.schema, column.values, id,
                  value.is_string() ? value.get<std::string>() : value.dump());
    } catch (const UsageError& error) {
      throw InputError(where, error.what());
    }
    if (json.contains("held")) column.held = held(json["held"]);
    return column;
  }

  // Older files have not all of them.
  HeadConditions conditions(const Json& json) const {
    HeadConditions conditions;
    for_conditions([&]<class T>(const Condition<T>& condition) {
      if (const auto found = JsonPlace(where, json).find(condition.id))
        conditions.*condition.member = found->template as<T>();
    });
    if (const std::string fault = fault_of(conditions); !fault.empty())
      throw InputError(where, fault);
    return conditions;
  }

  HeldHead held(const Json& json) const {
    HeldHead held{.source = source_of(get<std::string>(json, "source")),
                  .layer = get<Index>(json, "layer"),
                  .head = get<Index>(json, "head"),
                  .conditions = conditions(json)};
    if (held.layer < 0 || held.head < 0)
      throw InputError(where,
                       "a column holds " + excerpt(json) + "; expected a layer and a head from 0");
    return held;
  }

  StructureTensor tensor(const Json& json) const {
    StructureTensor out{.name = get<std::string>(json, "name"),
                        .shape = get<std::vector<Index>>(json, "shape"),
                        .values = {}};
    const auto text = QByteArray::fromStdString(get<std::string>(json, "float32"));
    const auto decoded =
        QByteArray::fromBase64Encoding(text, QByteArray::AbortOnBase64DecodingErrors);
    const QByteArray& bytes = *decoded;
    std::vector<float> values(static_cast<std::size_t>(bytes.size()) / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    Index size = 1;
    for (const Index side : out.shape) {
      if (side < 0 || (side > 0 && size > std::ssize(values) / side)) size = -1;
      if (size >= 0) size *= side;
    }
    const bool finite = std::ranges::all_of(values, [](float x) { return std::isfinite(x); });
    const bool whole = decoded && bytes.size() % qsizetype{sizeof(float)} == 0;
    if (!whole || size != std::ssize(values) || !finite)
      throw InputError(where, "the tensor " + fovea::quoted(out.name) +
                                  " of a tree does not hold what its shape says; expected finite "
                                  "float32 numbers as base64");
    out.values = std::move(values);
    return out;
  }

  // Older files have none.
  void read_tree(const Json& column, std::size_t place, std::vector<ColumnTree>& trees) const {
    if (!column.contains("tree")) return;
    const Json& json = at(column, "tree").value();
    ColumnTree tree{
        .column = place, .learned_on = get<std::string>(json, "learned_on"), .tensors = {}};
    for (const Json& one : list(json, "tensors", 8)) tree.tensors.set(tensor(one));
    trees.push_back(std::move(tree));
  }

  ColourRange range(const Json& json) const {
    const ColourRange range{view(json), get<int>(json, "column"), get<double>(json, "low"),
                            get<double>(json, "high")};
    if (range.column < -1 || !(range.low < range.high))
      throw InputError(where, "a range of colours is " + excerpt(json) +
                                  ": expected a column from -1 and low < high");
    return range;
  }

  std::vector<Span> spans(const Json& json) const {
    std::vector<Span> spans;
    for (const Json& one : list(json, "spans", most_names)) {
      const auto first = token(one, "first"), last = token(one, "last");
      spans.push_back({get<std::string>(one, "name"), {first, last + 1}});
    }
    if (const std::string fault = fault_of(spans); !fault.empty())
      throw InputError(where, "'spans': " + fault + "; expected named ranges of different tokens");
    return spans;
  }

  Index token(const Json& json, const char* name) const {
    constexpr Index most = Index{1} << 40;  // sums of two do not overflow
    return at(json, name).whole(0, most, "a token counted from 0");
  }

  Viewport viewport(const Json& json) const {
    const auto part = get<std::vector<double>>(json, "viewport");
    if (part.size() != 4 || !(part[0] < part[1] && part[2] < part[3]) || part[0] < 0 || part[2] < 0)
      throw InputError(
          where, "'viewport' is " + excerpt(json["viewport"]) +
                     "; expected [row begin, row end, column begin, column end], begin < end");
    return {part[0], part[1], part[2], part[3]};
  }

  /// Files that are older than a setting do not have it.
  void read_field(const Json& json, const ViewField& field, ViewSettings& settings) const {
    const char* id = field.field.id.c_str();
    if (!json.contains(id)) return;
    const auto read = [&](const auto& standard) {
      return Value(get<std::decay_t<decltype(standard)>>(json, id));
    };
    try {
      set_value(settings, field, std::visit(read, field.field.standard));
    } catch (const UsageError& error) {
      throw InputError(where, error.what());
    }
  }

  ViewSettings settings(const Json& json) const {
    ViewSettings s;
    s.norm = named(json, "norm", all_norms());
    s.log_floor = get<double>(json, "log_floor");
    s.pool = named<Pool::Kind>(json, "pool", {Pool::Kind::max, Pool::Kind::mean}, text_of_pool);
    for (const auto& [view, field] : view_fields()) read_field(json, *field, s);
    s.shared_range = get<bool>(json, "shared_range");
    s.colormap = colour_map(json);
    // Older files have none of these either. Each view has a range of its own in each column, and
    // one for all columns.
    const std::size_t most_ranges = all_views().size() * (most_session_columns + 1);
    if (json.contains("ranges"))
      for (const Json& one : list(json, "ranges", most_ranges)) s.choose_range(range(one));
    if (json.contains("hidden")) {
      list(json, "hidden", most_names);
      s.hidden = get<std::vector<std::string>>(json, "hidden");
    }
    const auto require = [&](bool holds, const char* name, const std::string& expected) {
      if (!holds)
        throw InputError(where, std::string("'") + name + "' is " + excerpt(json[name]) +
                                    "; expected a number " + expected);
    };
    require(s.log_floor > 0 && s.log_floor < 1, "log_floor", "between 0 and 1");
    return s;
  }
};

}  // namespace

std::string text_of(const SessionFile& file) {
  const Session& s = file.session;
  std::error_code not_there;
  Json json{{"fovea_session", version},
            {"source", absolute(s.source)},
            {"source_is_directory", std::filesystem::is_directory(innermost(s.source), not_there)},
            {"content_sha256", file.content_hash},
            {"layout", file.layout},
            {"selected_column", file.selected_column},
            {"comparison_order", file.orders.comparison},
            {"head_order", to_text(file.orders.heads)},
            {"all_layers", file.orders.all_layers},
            {"patch", s.patch},
            {"layer", s.layer},
            {"head", s.head},
            {"columns", Json::array()},
            {"views", Json::array()},
            {"settings", json_of(s.settings)}};
  if (const Viewport& v = s.viewport; v != Viewport())  // an empty one shows everything
    json["viewport"] = {v.row_begin, v.row_end, v.col_begin, v.col_end};
  for (const Column& column : s.columns) json["columns"].push_back(json_of(column));
  std::size_t tree_bytes = 0;
  for (const ColumnTree& tree : file.trees)
    if (tree.column < s.columns.size() && tree_bytes + bytes_of(tree) <= most_tree_bytes) {
      tree_bytes += bytes_of(tree);
      json["columns"][tree.column]["tree"] = json_of(tree);
    }
  for (View view : s.views) json["views"].push_back(to_text(view));
  json["span_choice"] = to_text(s.span_choice);
  json["spans"] = Json::array();
  for (const Span& span : s.spans) json["spans"].push_back(json_of(span));
  json["replaced_heads"] = s.replaced_heads;
  if (!s.validated_on.empty()) json["validated_on"] = absolute(s.validated_on);
  put_into_json(s.conditions, json);
  json["pinned_query"] = s.pinned_query ? Json(*s.pinned_query) : Json();
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string text_for_figure(SessionFile file) {
  file.layout.clear();
  file.session.validated_on.clear();
  return text_of(file);
}

SessionFile session_from(const std::string& path, const std::string& text) {
  const Json json = parse_json(path, text);
  const Reader read{path};
  if (const int found = read.get<int>(json, "fovea_session"); found != version)
    throw InputError(
        path, "session version " + std::to_string(found) + "; expected " + std::to_string(version));
  SessionFile out{
      .session = {}, .content_hash = read.get<std::string>(json, "content_sha256"), .layout = {}};
  // Older files have neither of these.
  if (json.contains("layout")) out.layout = read.get<std::string>(json, "layout");
  if (json.contains("selected_column"))
    out.selected_column = read.get<int>(json, "selected_column");
  out.orders = read.orders(json);
  Session& s = out.session;
  s.source = source_of(read.get<std::string>(json, "source"));
  out.directory = json.contains("source_is_directory")
                      ? read.get<bool>(json, "source_is_directory")
                      : std::filesystem::path(s.source).extension().empty();
  if (json.contains("patch")) s.patch = read.get<int>(json, "patch");  // older files have none
  if (s.patch < 1) throw InputError(path, "'patch' is below 1; expected at least 1 pixel");
  s.layer = read.get<Index>(json, "layer");
  s.head = read.get<Index>(json, "head");
  s.conditions = read.conditions(json);
  if (const auto pinned = JsonPlace(path, json).find("pinned_query"))
    s.pinned_query = pinned->as<Index>();
  if (s.pinned_query && *s.pinned_query < 0)
    throw InputError(path, "'pinned_query' is " + std::to_string(*s.pinned_query) +
                               "; expected a query counted from 0");
  for (const Json& column : read.list(json, "columns", most_session_columns)) {
    s.columns.push_back(read.column(column));
    read.read_tree(column, s.columns.size() - 1, out.trees);
  }
  for (const Json& view : read.list(json, "views", most_views))
    s.views.push_back(read.view({{"view", view}}));
  s.settings = read.settings(read.at(json, "settings").value());
  if (json.contains("span_choice"))  // older files have none
    s.span_choice = read.named(json, "span_choice", all_span_choices());
  if (json.contains("spans")) s.spans = read.spans(json);  // nor these
  if (json.contains("replaced_heads"))
    s.replaced_heads = read.get<std::string>(json, "replaced_heads");
  if (json.contains("validated_on"))
    s.validated_on = path_of(read.get<std::string>(json, "validated_on"));
  if (json.contains("viewport")) s.viewport = read.viewport(json);
  if (s.columns.empty() || s.views.empty())
    throw InputError(path, "no columns or no views; expected at least one of each");
  return out;
}

void check_session(const Session& session, const Source& source) {
  const std::string where = readable_source(session.source);
  if (session.columns.empty() || session.views.empty())
    throw InputError(where, "a session without columns or views; expected at least one of each");
  const auto layers = static_cast<Index>(source.layers.size());
  if (session.layer < 0 || session.layer >= layers)
    throw InputError(where, "layer " + std::to_string(session.layer) + " of the session: " +
                                std::to_string(layers) + " layers are in the file");
  const Index heads = source.layers[session.layer].heads();
  if (session.head < 0 || session.head >= heads)
    throw InputError(where, "head " + std::to_string(session.head) + " of the session: " +
                                std::to_string(heads) + " heads are in the layer");
}

}  // namespace fovea
