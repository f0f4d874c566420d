// A widget whose GL fails says so.
#include "canvas/gl_widget.h"

#include <stdexcept>

#include "shown.h"

using namespace fovea;

namespace {

class Failing : public GlWidget {
 public:
  explicit Failing(bool at_once) : at_once_(at_once) {}

 protected:
  void initialise_gl() override {
    if (at_once_) throw std::runtime_error("raster shader: 0:1(1): error");
  }
  void draw_gl() override { throw std::runtime_error("raster shader: 0:1(1): error"); }

 private:
  bool at_once_;
};

}  // namespace

TEST_CASE("what cannot be drawn becomes a message, not an exception out of an event handler") {
  for (const bool at_once : {true, false}) {
    CAPTURE(at_once);
    Failing widget(at_once);
    widget.resize(600, 300);
    QSignalSpy frames(&widget, &GlWidget::frame_painted);
    widget.show();
    REQUIRE(QTest::qWaitForWindowExposed(&widget));
    const QImage image = widget.grab().toImage();
    const QRgb ground = image.pixel(0, 0);
    int letters = 0;
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x) letters += image.pixel(x, y) != ground;
    CHECK(letters > 100);
    CHECK(frames.isEmpty());
  }
}
