// What controls leave in the heap when they are gone.
#include <doctest/doctest.h>
#include <malloc.h>

#include <QComboBox>

namespace fovea::test {

TEST_CASE("controls that come and go leave no memory behind, once many windows were shown") {
  for (int i = 0; i < 100; ++i) {
    QWidget window;
    window.show();
  }
  const auto draw_some = [] {
    for (int i = 0; i < 100; ++i) {
      QComboBox box;
      box.setPalette(QPalette(Qt::lightGray));  // another one each time, as of each window
      box.addItem("hyper");
      box.grab();
    }
  };
  const auto allocated = [] { return double(mallinfo2().uordblks); };
  draw_some();
  draw_some();
  const double before = allocated();
  for (int round = 0; round < 10; ++round) draw_some();
  // With a cache of 2 MiB these 1000 controls left 928 KiB, with Qt's own of 10 MiB 11,007, and
  // without one 2.
  CHECK(allocated() - before < 64 * 1024);
}

}  // namespace fovea::test
