// Lettering measures text and breaks it into lines. All text is UTF-8.
#pragma once

#include <string>
#include <vector>

namespace fovea::drawing {

class Lettering {
 public:
  /// `size` of the letters, in units of the drawing.
  explicit Lettering(double size) : size_(size) {}
  virtual ~Lettering() = default;

  double size() const { return size_; }
  double line() const { return 1.25 * size_; }
  /// `size` 0: that of the lettering.
  virtual double width(const std::string& text, double size = 0, bool bold = false) const = 0;

  /// Shortened with an ellipsis to `room`; empty when not even that fits.
  std::string elided(const std::string& text, double room, bool bold = false,
                     double size = 0) const;
  /// Lines broken at spaces, and at the seams of words too long for a line; the last one elided
  /// when `most` lines do not hold all. Each paragraph begins a line.
  std::vector<std::string> wrapped(const std::string& text, double room, int most,
                                   bool bold = false, double size = 0) const;
  /// A token fit to be drawn: white space is named, characters without a glyph appear as U+XXXX.
  std::string readable(const std::string& token) const;

 protected:
  virtual bool has_glyph(char32_t character) const = 0;

 private:
  struct Face {
    double room, size;
    bool bold;
  };
  void break_paragraph(const std::string& paragraph, const Face& face,
                       std::vector<std::string>& lines) const;

  double size_;
};

/// Height of a block of lines.
inline double height_of(const std::vector<std::string>& lines, const Lettering& letters) {
  return letters.line() * lines.size();
}

}  // namespace fovea::drawing
