// How a frame comes into the window, and what is shown when none can be drawn.
#include "canvas/gl_widget.h"

#include <doctest/doctest.h>

#include <QOpenGLFunctions>
#include <QSignalSpy>
#include <QTest>
#include <stdexcept>

using namespace fovea;

namespace {

// One colour; or, from some frame on, an error.
class Plain : public GlWidget {
 public:
  ~Plain() override {
    release_gl([] { released = true; });
  }
  using GlWidget::request_frame;

  int drawn = 0, fails_after = -1;
  bool initialise_fails = false;
  static inline bool released = false;

 protected:
  void initialise_gl() override {
    if (initialise_fails) throw std::runtime_error("the shader does not link");
  }
  void draw_gl() override {
    if (drawn == fails_after) throw std::runtime_error("no memory for a texture");
    ++drawn;
    QOpenGLFunctions* gl = QOpenGLContext::currentContext()->functions();
    gl->glClearColor(0.2f, 0.4f, 0.6f, 1);
    gl->glClear(GL_COLOR_BUFFER_BIT);
  }
};

constexpr QRgb blue = qRgb(51, 102, 153);

void show(Plain& widget) {
  widget.resize(300, 200);
  widget.show();
  REQUIRE(QTest::qWaitForWindowExposed(&widget));
  QTest::qWait(100);
}

int pixels_of_another_colour(const QImage& image, QRgb colour) {
  int count = 0;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) count += image.pixel(x, y) != colour;
  return count;
}

}  // namespace

TEST_CASE("a software renderer is read back, a graphics card is not" *
          doctest::test_suite("pictures")) {
  for (const char* software :
       {"llvmpipe (LLVM 15.0.6, 256 bits)", "softpipe", "Google SwiftShader",
        "ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (LLVM 10.0.0)))", "Software Rasterizer"}) {
    CAPTURE(software);
    CHECK(composition_for(software, "") == Composition::read_back);
    CHECK(composition_for(software, "native") == Composition::native);
  }
  for (const char* card : {"NVIDIA GeForce RTX 4090/PCIe/SSE2", "AMD Radeon RX 7900 XTX (radeonsi)",
                           "Mesa Intel(R) Iris(R) Xe Graphics (TGL GT2)", "Apple M2"}) {
    CAPTURE(card);
    CHECK(composition_for(card, "") == Composition::native);
    CHECK(composition_for(card, "read-back") == Composition::read_back);
  }
}

TEST_CASE("what is drawn fills the widget, at every size" * doctest::test_suite("pictures")) {
  Plain widget;
  const bool forced = qgetenv("FOVEA_COMPOSITION") == "native";
  CHECK(widget.composition() == (forced ? Composition::native : Composition::read_back));
  show(widget);
  CHECK(pixels_of_another_colour(widget.grab().toImage(), blue) == 0);
  CHECK(widget.last_frame_ms() > 0);
  widget.resize(411, 333);
  QTest::qWait(100);
  const QImage larger = widget.grab().toImage();
  CHECK(larger.size() == QSize(411, 333) * widget.devicePixelRatioF());
  CHECK(pixels_of_another_colour(larger, blue) == 0);
}

TEST_CASE("a request is a frame" * doctest::test_suite("pictures")) {
  Plain widget;
  show(widget);
  QSignalSpy frames(&widget, &GlWidget::frame_painted);
  widget.request_frame();
  CHECK(frames.wait(60000));
}

TEST_CASE("what was made with OpenGL is released with the widget" *
          doctest::test_suite("pictures")) {
  Plain::released = false;
  {
    Plain widget;
    show(widget);
  }
  CHECK(Plain::released);
}

TEST_CASE("an error while drawing is a message, not the end of the program" *
          doctest::test_suite("pictures")) {
  for (const bool at_first : {true, false}) {
    CAPTURE(at_first);
    Plain widget;
    widget.initialise_fails = at_first;
    widget.fails_after = at_first ? -1 : 1;
    show(widget);
    widget.request_frame();
    QTest::qWait(100);
    QSignalSpy frames(&widget, &GlWidget::frame_painted);
    const QImage image = widget.grab().toImage();
    const QRgb ground = image.pixel(0, 0);
    CHECK(ground != blue);
    CHECK(pixels_of_another_colour(image, ground) > 100);  // letters
    CHECK(frames.isEmpty());
    CHECK(widget.drawn == (at_first ? 0 : 1));
  }
}
