// Sessions in files of their own, and in figures.
#include <QFile>
#include <QFileInfo>
#include <ostream>

#include "data/error.h"
#include "data/synthetic.h"
#include "figure/recipe.h"
#include "input/session_file.h"
#include "io/atomic_file.h"

namespace fovea {
namespace {

constexpr qint64 largest_session = 16 << 20;
constexpr qint64 largest_figure = qint64{1} << 30;

bool is_named(const std::string& path, const char* ending) {
  return QString::fromStdString(path).endsWith(ending, Qt::CaseInsensitive);
}

bool is_figure(const std::string& path) {
  return is_named(path, ".png") || is_named(path, ".svg") || is_named(path, ".pdf");
}

/// Nothing: it cannot be read, or is not a figure of Fovea.
std::optional<Recipe> recipe_of(QFile& file) {
  if (!file.open(QIODevice::ReadOnly) || file.size() > largest_figure) return {};
  return recipe_in(file.readAll());
}

SessionFile session_of_figure(const std::string& path, QFile& file) {
  const auto recipe = recipe_of(file);
  if (!recipe)
    throw InputError(path, file.isOpen()
                               ? "is not a figure that Fovea wrote"
                               : file.errorString().toStdString() + "; expected a figure");
  if (recipe->session.empty())
    throw InputError(path, recipe->command.empty()
                               ? "carries no session: it was written without one, or another "
                                 "program has changed it; open its source instead"
                               : "carries no session; this command makes it: " + recipe->command);
  if (qint64(recipe->session.size()) > largest_session)
    throw InputError(path, "carries a session of " + std::to_string(recipe->session.size()) +
                               " bytes; expected at most 16 MiB");
  return session_from(path, recipe->session);
}

}  // namespace

void write_session(const std::string& path, const SessionFile& file) {
  const std::string text = text_of(file);
  write_atomically(path, [&](std::ostream& out) { out << text; });
}

SessionFile read_session(const std::string& path) {
  QFile file(QString::fromStdString(path));
  if (is_figure(path)) return session_of_figure(path, file);
  if (!file.open(QIODevice::ReadOnly))
    throw InputError(path, file.errorString().toStdString() + "; expected a session file");
  if (file.size() > largest_session)
    throw InputError(
        path, std::to_string(file.size()) + " bytes; expected a session file of at most 16 MiB");
  return session_from(path, file.readAll().toStdString());
}

bool is_session_file(const std::string& path) {
  QFile file(QString::fromStdString(path));
  if (!QFileInfo(file).isFile()) return false;
  if (is_figure(path)) return recipe_of(file).has_value();
  if (!is_named(path, ".json") || !file.open(QIODevice::ReadOnly)) return false;
  // Our own writing sorts names; a session carries this one somewhere, tokens would not as a key.
  return file.read(largest_session).contains("\"fovea_session\"");
}

void require_source(const std::string& path, const SessionFile& file) {
  const std::string& source = file.session.source;
  if (source.starts_with(synthetic_prefix) || QFileInfo::exists(QString::fromStdString(source)))
    return;
  throw InputError(path,
                   "its session's source " + source + " is no longer there; put it back" +
                       (file.content_hash.empty() ? "" : " (SHA-256 " + file.content_hash + ")") +
                       ", or open " + path + " in the window, which asks where it is");
}

}  // namespace fovea
