#include "figure/panel_words.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "drawing/bodies.h"
#include "panels/pooling_text.h"

namespace fovea {

using namespace drawing;

namespace {

// Lines of a caption. Paper has no other place for the rest of a caption: seven panels side by side
// have room for theirs, unless the height is given.
constexpr int most_caption_lines = 16, most_at_given_height = 6;
constexpr int most_title_lines = 4;
constexpr double smallest_in_print = 5;  // points

/// a to z, then aa to az, ba ...
std::string letter_of(std::size_t panel) {
  const std::string last(1, char('a' + panel % 26));
  return panel < 26 ? last : letter_of(panel / 26 - 1) + last;
}

/// The parts that captions and subtitles join.
constexpr std::string_view between_parts = " · ";

/// "error 0.53" for "0.53 relative output error", where the long form has no room; other words
/// stay.
std::string shortened_error(const std::string& error) {
  const std::size_t number = error.find(' ');
  const bool begins_with_number = number != error.npos && error[0] >= '0' && error[0] <= '9';
  return begins_with_number && error.ends_with(" error") ? "error " + error.substr(0, number)
                                                         : error;
}

/// The first statement of a caption that is not about its strip, which has a colour bar.
std::string first_statement(const std::string& caption) {
  for (std::size_t from = 0;;) {
    const std::size_t end = caption.find(between_parts, from);
    const std::string part = caption.substr(from, end == caption.npos ? end : end - from);
    if (!part.starts_with("strip: ")) return part;
    if (end == caption.npos) return {};
    from = end + between_parts.size();
  }
}

/// The words of a subtitle, and the error that ends it if there is one.
std::pair<std::string, std::string> parts_of_subtitle(const std::string& subtitle) {
  const std::size_t end = subtitle.rfind(between_parts);
  if (end == subtitle.npos) return {subtitle, ""};
  return {subtitle.substr(0, end), subtitle.substr(end + between_parts.size())};
}

}  // namespace

TokenNames names_of(const Figure& figure, std::size_t column) {
  if (column < figure.held_sequence.size() && figure.held_sequence[column])
    return {*figure.held_sequence[column], *figure.held_key_sequence[column]};
  if (!figure.sequence) return {};
  return {*figure.sequence, figure.key_sequence ? *figure.key_sequence : *figure.sequence};
}

bool is_left_out(const Figure& figure, const Panel& panel) {
  return !figure.style.empty_panels && std::holds_alternative<Message>(panel.body);
}

PanelWords::PanelWords(const Figure& figure, const PaperLettering& letters, WordRooms rooms)
    : figure_(figure),
      letters_(letters),
      rooms_(std::move(rooms)),
      short_errors_(errors_are_long()),
      title_face_(choose_title_face()),
      note_face_(choose_note_face()) {}

std::vector<CellWords> PanelWords::of_row(std::size_t r) const {
  std::vector<CellWords> row(figure_.rows[r].size());
  for (std::size_t c = 0; c < row.size(); ++c) {
    const Panel& here = panel(r, c);
    const double room = rooms_.headings[c];
    const bool above = r > 0 && c < figure_.rows[r - 1].size();
    row[c].title = letters_.wrapped(title_of(r, c), room, most_title_lines, title_face_);
    if (!above || panel(r - 1, c).subtitle != here.subtitle)
      row[c].subtitle = subtitle_lines(here.subtitle, room);
    if (!is_left_out(figure_, here)) row[c].caption = caption_lines(here, names_of(figure_, c));
  }
  if (figure_.style.captions != Captions::line) return row;
  // Neighbours say the same kind of thing, or nothing.
  for (std::size_t c = 0; c < row.size(); ++c)
    if (!is_left_out(figure_, panel(r, c)) && row[c].caption.empty() &&
        !first_statement(panel(r, c).caption).empty())
      for (CellWords& other : row) other.caption.clear();
  return row;
}

/// From the larger size of the style, if it has two, down to what can be read in print: the
/// largest size at which all titles are broken between words alone; else the largest at which a
/// word has at most two lines; else the largest at which no title is cut.
Letters PanelWords::choose_title_face() const {
  const double small = letters_.size();
  // Whole points, as devices draw no others.
  std::vector<double> sizes;
  if (figure_.style.smaller > 0)
    for (double size = figure_.style.font_size; size > small; --size) sizes.push_back(size);
  sizes.push_back(small);
  const double least = std::max(smallest_in_print, 0.7 * small);
  for (double size = std::ceil(small) - 1; size >= least; --size) sizes.push_back(size);
  for (const int lines_of_word : {1, 2, most_title_lines})
    for (const double size : sizes)
      if (const Letters face{size, true};
          titles_are_whole(face, size > small ? 2 : most_title_lines, lines_of_word))
        return face;
  return {small, true};
}

/// As large as the other letters or as titles, or a point less if the parameters of each column
/// then have one line.
Letters PanelWords::choose_note_face() const {
  const auto have_one_line = [&](Letters face) {
    for (const auto& row : figure_.rows)
      for (std::size_t c = 0; c < row.size(); ++c) {
        const std::string words = parts_of_subtitle(row[c].subtitle).first;
        if (letters_.wrapped(words, rooms_.headings[c], 2, face).size() > 1) return false;
      }
    return true;
  };
  const Letters most{std::min(letters_.size(), title_face_.size)}, less{most.size - 1};
  const bool better = less.size >= smallest_in_print && !have_one_line(most) && have_one_line(less);
  return better ? less : most;
}

/// Whether, in this number of lines, no word of a title is elided or broken by an added hyphen,
/// and no word takes more lines than it may.
bool PanelWords::titles_are_whole(Letters face, int lines, int lines_of_word) const {
  for (std::size_t r = 0; r < figure_.rows.size(); ++r)
    for (std::size_t c = 0; c < figure_.rows[r].size(); ++c) {
      const std::string title = title_of(r, c);
      const double room = rooms_.headings[c];
      if (!drawing::is_whole(letters_.wrapped(title, room, lines, face), title)) return false;
      for (std::size_t begin = 0, end; begin < title.size(); begin = end + 1) {
        end = std::min(title.find(' ', begin), title.size());
        const std::string word = title.substr(begin, end - begin);
        if (std::ssize(letters_.wrapped(word, room, lines, face)) > lines_of_word) return false;
      }
    }
  return true;
}

/// The title, with the letter of the panel if panels have letters. A title is not repeated below
/// itself.
std::string PanelWords::title_of(std::size_t r, std::size_t c) const {
  const bool above = r > 0 && c < figure_.rows[r - 1].size();
  std::string title = above && panel(r - 1, c).title == panel(r, c).title ? "" : panel(r, c).title;
  if (!figure_.style.letters || is_left_out(figure_, panel(r, c))) return title;
  std::size_t before = 0;  // panels that are drawn
  for (std::size_t row = 0; row <= r; ++row) {
    const auto& panels = figure_.rows[row];
    before += std::count_if(panels.begin(), row < r ? panels.end() : panels.begin() + c,
                            [&](const Panel& one) { return !is_left_out(figure_, one); });
  }
  return "(" + letter_of(before) + ")" + (title.empty() ? "" : " ") + title;
}

/// The error stands on a line of its own.
std::vector<std::string> PanelWords::subtitle_lines(const std::string& subtitle,
                                                    double room) const {
  const auto [words, error] = parts_of_subtitle(subtitle);
  const Letters face = note_face();
  std::vector<std::string> lines = letters_.wrapped(words, room, 4, face);
  for (std::string& line :
       letters_.wrapped(short_errors_ ? shortened_error(error) : error, room, 4, face))
    lines.push_back(std::move(line));
  return lines;
}

bool PanelWords::errors_are_long() const {
  for (const auto& row : figure_.rows)
    for (const Panel& shown : row)
      if (letters_.width(parts_of_subtitle(shown.subtitle).second) > rooms_.panel) return true;
  return false;
}

std::vector<std::string> PanelWords::caption_lines(const Panel& shown,
                                                   const TokenNames& names) const {
  constexpr int most_of_statement = 4;
  switch (figure_.style.captions) {
    case Captions::none:
      return {};
    case Captions::full:
      return letters_.wrapped(caption_with_pooling(shown), rooms_.panel,
                              figure_.style.height ? most_at_given_height : most_caption_lines,
                              note_face());
    case Captions::line:
      break;
  }
  // The heading of a wide curve says the same.
  if (const auto* row = std::get_if<RowCurve>(&shown.body);
      row && names_query(*row, rooms_.panel, letters_, names))
    return {};
  const std::string statement = first_statement(shown.caption);
  auto lines = letters_.wrapped(statement, rooms_.panel, most_of_statement, note_face());
  return drawing::is_whole(lines, statement) ? lines : std::vector<std::string>();
}

}  // namespace fovea
