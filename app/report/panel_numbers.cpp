#include "report/panel_numbers.h"

#include <bit>
#include <cctype>
#include <filesystem>

#include "data/csv_text.h"
#include "data/error.h"
#include "data/number_text.h"
#include "data/pixels.h"
#include "data/stop.h"
#include "io/atomic_file.h"
#include "panels/pooling_text.h"
#include "views/views.h"

namespace fovea {
namespace {

Document range_json(IndexRange range) {
  return {range.begin, range.end};
}

/// Tokens of row or column `part`, of `parts` that split the tokens. [begin, end)
IndexRange tokens_of_part(IndexRange tokens, Index parts, Index part) {
  return pixel_tokens(part, tokens, parts);
}

Document ranges_json(IndexRange tokens, Index parts) {
  Document out = Document::array();
  for (Index p = 0; p < parts; ++p) out.push_back(range_json(tokens_of_part(tokens, parts, p)));
  return out;
}

template <class T>
Document list_json(const std::vector<T>& values) {
  Document out = Document::array();
  for (const T value : values) out.push_back(number_json(double(value)));
  return out;
}

Document pairs_json(const std::vector<std::pair<double, double>>& pairs) {
  Document out = Document::array();
  for (const auto& [x, y] : pairs) out.push_back({number_json(x), number_json(y)});
  return out;
}

Document top_json(const std::vector<std::pair<Index, float>>& top) {
  Document out = Document::array();
  for (const auto& [key, weight] : top) out.push_back({key, number_json(double(weight))});
  return out;
}

struct BodyJson {
  const std::stop_token& stop;

  Document operator()(const Message& message) const {
    return {{"kind", "message"}, {"text", message.text}};
  }
  Document operator()(const Raster& raster) const {
    Document values = Document::array();
    for (Index r = 0; r < raster.values.rows(); ++r) {
      check_stop(stop);
      Document row = Document::array();
      for (Index c = 0; c < raster.values.cols(); ++c)
        row.push_back(number_json(double(raster.values(r, c))));
      values.push_back(std::move(row));
    }
    Document out{{"kind", "matrix"},
                 {"quantity", raster.quantity},
                 {"pooled", pooling_text(raster)},
                 {"queries", range_json(raster.rows)},
                 {"keys", range_json(raster.cols)},
                 {"queries_of_rows", ranges_json(raster.rows, raster.values.rows())},
                 {"keys_of_columns", ranges_json(raster.cols, raster.values.cols())},
                 {"values", std::move(values)}};
    if (!raster.categories.empty()) out["categories"] = raster.categories;
    if (raster.estimated > 0) out["share_of_rows_estimated"] = raster.estimated;
    if (!raster.row_values.empty()) {
      out["row_quantity"] = raster.row_quantity;
      out["row_values"] = list_json(raster.row_values);
    }
    return out;
  }
  Document operator()(const BlockMap& map) const {
    Document blocks = Document::array();
    for (const RankBlock& block : map.map.blocks)
      blocks.push_back({{"queries", range_json(block.rows)},
                        {"keys", range_json(block.cols)},
                        {"level", block.level},
                        {"rank", block.rank},
                        {"singular_values", list_json(block.singular_values)}});
    return {{"kind", "blocks"},
            {"quantity", map.quantity},
            {"stored", number_json(map.stored)},
            {"compression", number_json(map.compression)},
            {"blocks", std::move(blocks)}};
  }
  Document operator()(const LeafSizes& leaves) const {
    Document out{{"kind", "groups"},
                 {"group", leaves.kind},
                 {"together", leaves.together},
                 {"queries", leaves.queries},
                 {"keys", leaves.keys}};
    for (const Diagnostic& figure : leaves.figures) out[figure.id] = number_json(figure.value);
    return out;
  }
  Document operator()(const RowCurve& row) const {
    return {{"kind", "row"},
            {"query", row.query},
            {"keys", range_json(row.keys)},
            {"exact", list_json(row.exact)},
            {"approximate", list_json(row.approximate)},
            {"top_exact", top_json(row.top_exact)},
            {"top_approximate", top_json(row.top_approximate)}};
  }
  Document operator()(const Strip& strip) const {
    Document out = {
        {"kind", "tokens"}, {"quantity", strip.quantity}, {"values", list_json(strip.values)}};
    if (!strip.bounds.empty())
      out["bounds"] = {{"name", strip.bounds_name}, {"values", list_json(strip.bounds)}};
    return out;
  }
  Document operator()(const SeriesPlot& plot) const {
    Document series = Document::array();
    for (const SeriesPlot::Series& one : plot.series) {
      Document points = Document::array();
      for (const SeriesPlot::Point& point : one.points)
        points.push_back({{"x", number_json(point.n)},
                          {"y", number_json(point.value)},
                          {"low", number_json(point.low)},
                          {"high", number_json(point.high)}});
      series.push_back({{"name", one.name}, {"points", std::move(points)}});
    }
    return {{"kind", "series"},
            {"x", plot.x_label},
            {"y", plot.y_label},
            {"series", std::move(series)}};
  }
  Document operator()(const CurvePlot& plot) const {
    Document curves = Document::array();
    for (const CurvePlot::Curve& curve : plot.curves) {
      curves.push_back({{"name", curve.name}, {"points", pairs_json(curve.points)}});
      if (!curve.errors.empty()) curves.back()["standard_errors"] = curve.errors;
    }
    return {{"kind", "curves"},
            {"x", plot.x_label},
            {"y", plot.y_label},
            {"curves", std::move(curves)}};
  }
  Document operator()(const OutputPicture& picture) const {
    return {{"kind", "picture"},
            {"rows", picture.rows},
            {"cols", picture.cols},
            {"rgb", list_json(picture.rgb)}};
  }
  Document operator()(const FigureTable& table) const {
    Document out{{"kind", "table"}, {"rows", Document::array()}};
    for (const auto& [label, value] : table.rows) out["rows"].push_back({label, value});
    return out;
  }
};

/// "4", "4-7", for tokens or leaves.
std::string token_text(IndexRange tokens) {
  const std::string first = std::to_string(tokens.begin);
  return tokens.size() <= 1 ? first : first + "-" + std::to_string(tokens.end - 1);
}

std::string csv_of(const Raster& raster, const std::stop_token& stop) {
  const std::string pooling = pooling_text(raster);
  std::string text = pooling.empty() ? "query\\key" : "query\\key (" + pooling + ")";
  const Index rows = raster.values.rows(), cols = raster.values.cols();
  for (Index c = 0; c < cols; ++c) text += ',' + token_text(tokens_of_part(raster.cols, cols, c));
  text += '\n';
  for (Index r = 0; r < rows; ++r) {
    check_stop(stop);
    text += token_text(tokens_of_part(raster.rows, rows, r));
    for (Index c = 0; c < cols; ++c) text += ',' + format_exactly(raster.values(r, c));
    text += '\n';
  }
  return text;
}

std::string csv_of(const RowCurve& row) {
  std::string text = "key,exact,approximate\n";
  const Index count = std::ssize(row.exact);
  for (Index k = 0; k < count; ++k)
    text += token_text(tokens_of_part(row.keys, count, k)) + ',' + format_exactly(row.exact[k]) +
            ',' + (k < std::ssize(row.approximate) ? format_exactly(row.approximate[k]) : "") +
            '\n';
  return text;
}

std::string csv_of(const Strip& strip) {
  const bool bounded = !strip.bounds.empty();
  std::string text = "token," + csv_cell(strip.quantity) +
                     (bounded ? ',' + csv_cell(strip.bounds_name) : std::string()) + '\n';
  for (std::size_t t = 0; t < strip.values.size(); ++t)
    text += std::to_string(t) + ',' + format_exactly(strip.values[t]) +
            (bounded ? ',' + format_exactly(strip.bounds[t]) : std::string()) + '\n';
  return text;
}

std::string csv_of(const BlockMap& map) {
  std::string text = "query_begin,query_end,key_begin,key_end,level,rank\n";
  for (const RankBlock& b : map.map.blocks) {
    text += std::to_string(b.rows.begin) + ',' + std::to_string(b.rows.end) + ',';
    text += std::to_string(b.cols.begin) + ',' + std::to_string(b.cols.end) + ',';
    text += std::to_string(b.level) + ',' + std::to_string(b.rank) + '\n';
  }
  return text;
}

std::string csv_of(const LeafSizes& leaves) {
  std::string text = csv_cell(leaves.kind) + ",queries,keys\n";
  for (std::size_t l = 0; l < leaves.keys.size(); ++l)
    text += token_text({Index(l) * leaves.together, Index(l + 1) * leaves.together}) + ',' +
            (l < leaves.queries.size() ? std::to_string(leaves.queries[l]) : "") + ',' +
            std::to_string(leaves.keys[l]) + '\n';
  return text;
}

std::string csv_of(const FigureTable& table) {
  std::string text = "what,value\n";
  for (const auto& [label, value] : table.rows)
    text += csv_cell(label) + ',' + csv_cell(value) + '\n';
  return text;
}

template <class Body>
std::string csv_of(const Body&) {
  return {};
}

std::string csv_or_nothing(const Panel& panel, const std::stop_token& stop) {
  if (const auto* raster = std::get_if<Raster>(&panel.body)) return csv_of(*raster, stop);
  return std::visit([](const auto& body) { return csv_of(body); }, panel.body);
}

std::string range_text(IndexRange tokens) {
  return std::to_string(tokens.begin) + " to " + std::to_string(tokens.end - 1);
}

/// Version 1.0 of the format: a dictionary in Python, padded to 64 bytes.
std::string npy_of(const std::string& shape, const std::vector<float>& values) {
  static_assert(std::endian::native == std::endian::little);
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += char(header.size() & 0xFF);
  out += char(header.size() >> 8);
  out += header;
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return out;
}

/// Empty if the panel has no array.
std::string npy_or_nothing(const Panel& panel) {
  if (const auto* strip = std::get_if<Strip>(&panel.body))
    return npy_of(std::to_string(strip->values.size()) + ",", strip->values);
  const auto* raster = std::get_if<Raster>(&panel.body);
  if (!raster) return {};
  const Index rows = raster->values.rows(), cols = raster->values.cols();
  std::vector<float> values;
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) values.push_back(raster->values(r, c));
  return npy_of(std::to_string(rows) + ", " + std::to_string(cols), values);
}

std::string name_of(const Panel& panel) {
  return to_text(panel.view) + (panel.title.empty() ? "" : " of " + panel.title);
}

/// The name of a panel's file: small letters, digits and hyphens.
std::string file_name_of(const Panel& panel, std::size_t number) {
  std::string name = std::to_string(number) + "-" + to_text(panel.view) + "-";
  for (const char c : panel.title) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c));
    if (is_plain)
      name += char(std::tolower(static_cast<unsigned char>(c)));
    else if (name.back() != '-')
      name += '-';
  }
  while (name.back() == '-') name.pop_back();
  return name;
}

void write_directory(const std::string& path, const std::vector<std::vector<Panel>>& panels,
                     const std::stop_token& stop) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed) throw UnavailableError(path + ": cannot be made: " + failed.message());
  const Directory folder(path);
  std::size_t number = 0;
  for (const auto& row : panels)
    for (const Panel& panel : row) {
      const std::string name = file_name_of(panel, ++number);
      const std::string csv = csv_or_nothing(panel, stop), npy = npy_or_nothing(panel);
      if (!csv.empty()) write_atomically(folder, name + ".csv", csv, stop);
      if (!npy.empty()) write_atomically(folder, name + ".npy", npy, stop);
      if (csv.empty())
        write_atomically(folder, name + ".json", text_of(numbers_json(panel, stop), 1) + "\n",
                         stop);
    }
}

}  // namespace

Document numbers_json(const Panel& panel, const std::stop_token& stop) {
  Document out{{"view", to_text(panel.view)},
               {"title", panel.title},
               {"subtitle", panel.subtitle},
               {"caption", panel.caption}};
  out.update(std::visit(BodyJson{stop}, panel.body));
  return out;
}

Document numbers_json(const std::vector<std::vector<Panel>>& panels, const std::stop_token& stop) {
  Document out = Document::array();
  for (const auto& row : panels)
    for (const Panel& panel : row) out.push_back(numbers_json(panel, stop));
  return out;
}

std::string numbers_csv(const Panel& panel, const std::stop_token& stop) {
  const std::string csv = csv_or_nothing(panel, stop);
  if (csv.empty())
    throw UsageError("the " + name_of(panel) + " is no table of numbers: write a .json");
  return csv;
}

std::string numbers_npy(const Panel& panel) {
  const std::string npy = npy_or_nothing(panel);
  if (npy.empty()) throw UsageError("the " + name_of(panel) + " is no array: write a .json");
  return npy;
}

std::string words_of_numbers(const Panel& panel) {
  const auto* raster = std::get_if<Raster>(&panel.body);
  if (!raster) return name_of(panel);
  const std::string pooling = pooling_text(*raster);
  return raster->quantity + " of queries " + range_text(raster->rows) + " and keys " +
         range_text(raster->cols) + (pooling.empty() ? "" : ", " + pooling);
}

void check_numbers_name(const std::string& path, std::size_t panels) {
  const bool for_one = path.ends_with(".csv") || path.ends_with(".npy");
  if (for_one && panels > 1)
    throw UsageError(path + ": holds the numbers of one panel, here are " + std::to_string(panels) +
                     "; a .json or a directory holds them all");
  if (for_one || path.ends_with(".json")) return require_writable(path);
  std::error_code unknown;
  if (std::filesystem::path(path).has_extension() && !std::filesystem::is_directory(path, unknown))
    throw UsageError(path + ": expected .csv, .npy, .json or a directory");
}

void write_numbers(const std::string& path, const std::vector<std::vector<Panel>>& panels,
                   const std::stop_token& stop) {
  std::size_t count = 0;
  for (const auto& row : panels) count += row.size();
  check_numbers_name(path, count);
  const auto json = [&] {
    return count == 1 ? numbers_json(panels.front().front(), stop) : numbers_json(panels, stop);
  };
  if (path.ends_with(".json"))
    write_atomically(path, text_of(json()) + "\n", stop);
  else if (path.ends_with(".csv"))
    write_atomically(path, numbers_csv(panels.front().front(), stop), stop);
  else if (path.ends_with(".npy"))
    write_atomically(path, numbers_npy(panels.front().front()), stop);
  else
    write_directory(path, panels, stop);
}

}  // namespace fovea
