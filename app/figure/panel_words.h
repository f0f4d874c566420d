// PanelWords chooses the words above and below the panels of a figure: titles and subtitles in the
// room above their columns, captions as wide as a panel, and the size of the titles.
#pragma once

#include <string>
#include <vector>

#include "drawing/axes.h"
#include "figure/figure.h"
#include "figure/painter_ink.h"

namespace fovea {

/// The names of the tokens on the axes of a column. The figure must outlive them.
drawing::TokenNames names_of(const Figure& figure, std::size_t column);

/// Whether the place of a panel stays white: it holds a message, and the style leaves these out.
bool is_left_out(const Figure& figure, const Panel& panel);

/// Widths in points: of every panel, and above each column.
struct WordRooms {
  double panel = 0;
  std::vector<double> headings;
};

/// Lines of words. A title or a subtitle that the panel above has is empty.
struct CellWords {
  std::vector<std::string> title, subtitle, caption;
};

class PanelWords {
 public:
  /// The figure and the letters must outlive it.
  PanelWords(const Figure& figure, const PaperLettering& letters, WordRooms rooms);

  drawing::Letters title_face() const { return title_face_; }
  drawing::Letters note_face() const { return note_face_; }  // of subtitles and captions
  std::vector<CellWords> of_row(std::size_t r) const;

 private:
  const Panel& panel(std::size_t r, std::size_t c) const { return figure_.rows[r][c]; }
  drawing::Letters choose_title_face() const;
  drawing::Letters choose_note_face() const;
  bool titles_are_whole(drawing::Letters face, int lines, int lines_of_word) const;
  std::string title_of(std::size_t r, std::size_t c) const;
  std::vector<std::string> subtitle_lines(const std::string& subtitle, double room) const;
  bool errors_are_long() const;
  std::vector<std::string> caption_lines(const Panel& shown,
                                         const drawing::TokenNames& names) const;

  const Figure& figure_;
  const PaperLettering& letters_;
  WordRooms rooms_;
  bool short_errors_;  // in subtitles
  drawing::Letters title_face_, note_face_;
};

}  // namespace fovea
