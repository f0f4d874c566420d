// Lettering measures text and breaks it into lines. All text is UTF-8.
#pragma once

#include <string>
#include <vector>

namespace fovea::drawing {

/// How a text is written.
struct Letters {
  double size = 0;  // 0 means that of the lettering
  bool bold = false;
};

class Lettering {
 public:
  /// `size` of the letters, in units of the drawing.
  explicit Lettering(double size) : size_(size) {}
  virtual ~Lettering() = default;

  double size(Letters face = {}) const { return face.size > 0 ? face.size : size_; }
  /// Height of a line.
  double line(Letters face = {}) const { return 1.25 * size(face); }
  virtual double width(const std::string& text, Letters face = {}) const = 0;

  /// Shortened with an ellipsis to `room`; empty if not even the ellipsis fits.
  std::string elided(const std::string& text, double room, Letters face = {}) const;
  /// Breaks text into lines at spaces. Words too long for a line are broken at their seams, else
  /// with a hyphen. The last line is elided if `most` lines do not hold everything. Each paragraph
  /// begins a line.
  std::vector<std::string> wrapped(const std::string& text, double room, int most,
                                   Letters face = {}) const;
  /// A token fit to be drawn: white space is named, characters without a glyph appear as U+XXXX.
  std::string readable(const std::string& token) const;

 protected:
  virtual bool has_glyph(char32_t character) const = 0;

 private:
  /// Adds the lines of a paragraph.
  void break_paragraph(const std::string& paragraph, double room, Letters face,
                       std::vector<std::string>& lines) const;

  double size_;
};

/// Whether these lines hold all words of a text, none elided or broken by an added hyphen.
bool is_whole(const std::vector<std::string>& lines, std::string text);

/// Height of a block of lines.
inline double height_of(const std::vector<std::string>& lines, const Lettering& letters,
                        Letters face = {}) {
  return letters.line(face) * lines.size();
}

}  // namespace fovea::drawing
