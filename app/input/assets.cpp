#include "input/assets.h"

#include <QFileInfo>
#include <algorithm>
#include <optional>
#include <utility>

#include "data/error.h"
#include "data/model_address.h"
#include "input/bundled_models.h"
#include "input/own_files.h"
#include "io/file_bytes.h"
#include "views/views.h"

namespace fovea {
namespace {

struct FirstHead {
  std::string layer;  // its name
  Index head = 0;
  std::optional<Index> pinned_query = {};
};

/// The head that assets/PROVENANCE.md recommends.
FirstHead recommended_head(const std::string& source) {
  constexpr const char* capture = "minilm-l6.safetensors";
  const auto reads = [&](std::string_view model) {
    return source.starts_with(std::string(model_prefix) + std::string(model) + "?");
  };
  if (reads(bundled_image_model)) return {"layer11", 5, 0};  // the row of the class token
  const bool is_capture = QFileInfo(QString::fromStdString(source)).fileName() == capture;
  return is_capture || reads(bundled_text_model) ? FirstHead{"layer4", 10} : FirstHead{};
}

std::pair<Index, Index> first_head(const Source& source) {
  const FirstHead first = recommended_head(source.path);
  const auto layer = std::ranges::find(source.layers, first.layer, &Layer::name);
  if (first.layer.empty() || layer == source.layers.end() || first.head >= layer->heads())
    return {0, 0};
  return {layer - source.layers.begin(), first.head};
}

/// The columns that a layer of recurrences has at first: its own attention, and beside it SSD,
/// which lacks what the delta rule erases and level weights.
std::vector<Column> columns_of(const RecurrenceTensors& recurrence, Index n) {
  std::vector<Column> columns{{.variant = reference_variant().id}};
  const bool is_ssd = !recurrence.has_delta_rule() && !recurrence.level_weights.present();
  const Variant& ssd = find_variant("ssd");
  if (!is_ssd) columns.push_back({.variant = ssd.id, .values = values_for_length(ssd, n)});
  return columns;
}

/// The columns that a layer with compressed entries has at first: exact attention, and beside it a
/// selection of single keys, as most variants take all keys for tokens.
std::vector<Column> columns_beside_entries(Index keys) {
  const Variant& selection = find_variant("dsa");
  return {{.variant = reference_variant().id},
          {.variant = selection.id, .values = values_for_length(selection, keys)}};
}

/// The folder of the program, even if it was started by a link. Qt knows it only once it has
/// started.
QString program_folder() {
  return QFileInfo(QFileInfo("/proc/self/exe").symLinkTarget()).path();
}

std::string folder_if_there(const QString& path) {
  const QFileInfo folder(path);
  return folder.isDir() ? folder.canonicalFilePath().toStdString() : std::string();
}

/// The folder that holds `known`: beside the program, in its installation, or, as `in_sources`, in
/// the tree of the sources, a few folders above a build tree. Empty if there is none.
std::string data_folder(const QString& installed, const QString& in_sources, const QString& known) {
  const QString here = program_folder();
  QStringList candidates{here + "/" + installed,
                         here + "/" FOVEA_DATA_FROM_PROGRAM "/" + installed};
  QString up = here;
  for (int level = 0; level < 5; ++level) candidates << (up += "/..") + "/" + in_sources;
  for (const QString& candidate : candidates)
    if (QFileInfo::exists(candidate + "/" + known))
      return QFileInfo(candidate).canonicalFilePath().toStdString();
  return {};
}

}  // namespace

std::string assets_directory() {
  return data_folder("assets", "assets", "minilm");
}

std::string python_package_directory() {
  std::string found = data_folder("python", "app/python", "fovea/worker.py");
  if (found.empty())
    throw UnavailableError("the Python package that computes other models is not beside " +
                           own_program() + "; install Fovea again");
  return found;
}

std::string own_fonts_directory() {
  return folder_if_there(program_folder() + "/" FOVEA_DATA_FROM_PROGRAM "/fonts");
}

std::string own_plugins_directory() {
  return folder_if_there(program_folder() +
                         "/../lib/fovea/plugins");  // as app/install/bundle.cmake
}

Session first_session(const Source& source) {
  const auto [layer, head] = first_head(source);
  const Layer& its = source.layers[static_cast<std::size_t>(layer)];
  Session session = standard_session(source.path, its.keys());
  session.viewport = whole(its.lengths());
  if (const RecurrenceTensors& recurrence = its.conditions.recurrence; recurrence.present())
    session.columns = columns_of(recurrence, its.keys());
  if (its.conditions.compressed) session.columns = columns_beside_entries(its.keys());
  const bool causal = stated_causal(source, layer).value_or(false);
  std::erase_if(session.columns, [&](const Column& column) {
    return !find_variant(column.variant).has_form_of(its.lengths(), causal);
  });
  // Results that were opened to be looked at stand beside exact. A capture holds the model's own
  // output, which is not a column at first.
  if (!source.metadata.contains("model")) {
    auto at = std::ranges::find_if_not(
        session.columns, [](const Column& column) { return is_reference(column.variant); });
    for (const ImportedTensors& result : its.imported)
      at = session.columns.insert(at, {.variant = imported_variant().id, .values = {result.name}}) +
           1;
  }
  session.layer = layer;
  session.head = head;
  session.pinned_query = recommended_head(source.path).pinned_query;
  if (!its.has_qk()) {
    std::erase_if(session.columns, [](const Column& c) { return !is_reference(c.variant); });
    session.views = views_of_matrix();
  }
  return session;
}

std::string standard_example() {
  const std::string assets = assets_directory();
  const std::string text = assets + "/text/fovea.txt";
  if (!QFileInfo::exists(QString::fromStdString(text)) ||
      !QFileInfo::exists(QString::fromStdString(assets + "/models")))
    return captured_example();
  return to_text(
      ModelAddress{.folder = std::string(bundled_text_model), .text = FileBytes(text).text()});
}

std::string captured_example() {
  const std::string assets = assets_directory();
  return assets.empty() ? "synthetic:clusters?n=256&d=32&seed=1"
                        : assets + "/minilm/minilm-l6.safetensors";
}

}  // namespace fovea
