// A Recipe is what a figure or a report is made from. The file carries it: PNG in text chunks, SVG
// in its metadata, PDF in attached files, HTML in links.
#pragma once

#include <QByteArray>
#include <optional>
#include <string>
#include <string_view>

namespace fovea {

struct Recipe {
  std::string session;  // JSON, as in a session file; empty if there is none
  std::string command;  // the command line that makes it; empty if none is known

  bool empty() const { return session.empty() && command.empty(); }
};

inline constexpr const char* recipe_session_file = "session.fovea.json";  // attached to a PDF
inline constexpr const char* recipe_command_file = "command.txt";

/// The bytes of a PNG or SVG file with the recipe in them. In SVG, title and description precede
/// it, and characters that XML does not allow are left out.
QByteArray with_recipe_in_png(const QByteArray& png, const Recipe& recipe);
QByteArray with_recipe_in_svg(const QByteArray& svg, const Recipe& recipe,
                              const std::string& title = {}, const std::string& description = {});

/// `bytes` inside a URL.
std::string data_url(const std::string& type, const QByteArray& bytes);

/// The line in the head of an HTML report by which it is recognised.
inline constexpr const char* html_generator = "<meta name=\"generator\" content=\"Fovea\">";

/// Whether a file that begins so is a report as HTML.
bool is_report(std::string_view head);

/// Paragraphs of HTML with the session and the command in links, with which a browser saves them.
/// Empty if there are none.
std::string links_to(const Recipe& recipe);

/// How far from the beginning of a PNG or SVG file, and from the end of a PDF or HTML file, a
/// recipe is searched for, so that files of any size take the same time.
inline constexpr qsizetype recipe_reach = 8 << 20;

/// The recipe in the first and the last `recipe_reach` bytes of a figure or report, whatever its
/// name; both are the whole file if it is shorter. The recipe is empty if Fovea wrote the file
/// without one. Returns nothing if Fovea did not write the file, or if it is damaged.
std::optional<Recipe> recipe_in(const QByteArray& begin, const QByteArray& end);
inline std::optional<Recipe> recipe_in(const QByteArray& file) {
  return recipe_in(file.left(recipe_reach), file.right(recipe_reach));
}

}  // namespace fovea
