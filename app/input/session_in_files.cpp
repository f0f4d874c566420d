// Sessions in files of their own, and in figures and reports.
#include <QFileInfo>
#include <algorithm>
#include <ostream>
#include <span>

#include "data/error.h"
#include "data/synthetic.h"
#include "figure/recipe.h"
#include "input/session_file.h"
#include "io/atomic_file.h"
#include "io/file_bytes.h"

namespace fovea {
namespace {

constexpr Index largest_session = 16 << 20;
constexpr Index largest_figure = Index{1} << 30;

bool is_named(const std::string& path, const char* ending) {
  return QString::fromStdString(path).endsWith(ending, Qt::CaseInsensitive);
}

bool is_figure_or_report(const std::string& path) {
  return is_named(path, ".png") || is_named(path, ".svg") || is_named(path, ".pdf") ||
         is_named(path, ".html") || is_named(path, ".htm");
}

/// Nothing: it is no figure or report of Fovea.
std::optional<Recipe> recipe_of(const FileBytes& file) {
  if (file.size() > largest_figure) return {};
  const std::string bytes = file.text();
  return recipe_in(QByteArray::fromRawData(bytes.data(), static_cast<qsizetype>(bytes.size())));
}

std::string head_of(const FileBytes& file) {
  std::string head(static_cast<std::size_t>(std::min<Index>(file.size(), 1024)), '\0');
  file.read(0, std::as_writable_bytes(std::span(head)));
  return head;
}

SessionFile session_of_figure(const FileBytes& file) {
  const std::string& path = file.path();
  const auto recipe = recipe_of(file);
  if (!recipe) throw InputError(path, "is no figure or report of Fovea, or is cut off");
  if (recipe->session.empty())
    throw InputError(path, recipe->command.empty()
                               ? "carries no session: it was written without one, or another "
                                 "program has changed it; open its source instead"
                               : "carries no session; this command makes it: " + recipe->command);
  if (std::ssize(recipe->session) > largest_session)
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
  const FileBytes file(path);
  if (is_figure_or_report(path)) return session_of_figure(file);
  if (file.size() > largest_session)
    throw InputError(
        path, std::to_string(file.size()) + " bytes; expected a session file of at most 16 MiB");
  return session_from(path, file.text());
}

bool is_session_file(const std::string& path) {
  if (!is_figure_or_report(path) && !is_named(path, ".json")) return false;
  try {
    const FileBytes file(path);
    if (is_figure_or_report(path))  // a damaged report too: reading it says so
      return is_report(head_of(file)) || recipe_of(file).has_value();
    // Our own writing sorts names; a session carries this one somewhere, tokens would not as a key.
    std::string begin(static_cast<std::size_t>(std::min(file.size(), largest_session)), '\0');
    file.read(0, std::as_writable_bytes(std::span(begin)));
    return begin.find("\"fovea_session\"") != std::string::npos;
  } catch (const Error&) {  // opening it says why
    return false;
  }
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
