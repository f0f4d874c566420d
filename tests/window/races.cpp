// Events that come in an awkward order: the last opening wins, and hashes and timings are found all
// the same.
#include <doctest/doctest.h>

#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QTest>
#include <atomic>
#include <chrono>
#include <thread>

#include "data/error.h"
#include "views/views.h"
#include "window/backend.h"
#include "window/dialogs/sweep_dialog.h"
#include "window/pointer.h"

namespace fovea::test {
namespace {

/// Waits until the engine is idle. Its results are not delivered: no event loop runs here.
void let_engine_finish(const Study& study) {
  for (int ms = 0; study.status().busy() || study.status().waiting > 0; ++ms) {
    REQUIRE(ms < 10000);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Keeps the engine busy after the next opening, so that it hashes nothing until that is cancelled.
void keep_engine_from_hashing(Study& study) {
  QObject::connect(
      &study, &Study::opened, &study,
      [&study] {
        const auto wait = [](const Backend&, Run& run) {
          while (!run.stop.stop_requested())
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          return false;
        };
        study.requests().start_pieces({RequestKind::sweep}, 0, wait, [](const std::string&) {});
      },
      Qt::SingleShotConnection);
}

/// Has no memory for plans that are bound to be timed: for all of them, or those with coarse
/// levels.
class NoMemoryForTiming : public CpuLike {
 public:
  NoMemoryForTiming(const Study& study, bool all) : study_(study), all_(all) {}
  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                 Run& run) const override {
    const auto* tiles = std::get_if<TilePlan>(&plan->form);
    const bool coarse =
        tiles && std::ranges::any_of(tiles->passes, [](const Pass& p) { return p.key_level > 0; });
    if (study_.status().runs(RequestKind::timing) && (all_ || coarse)) {
      ++*refused;
      throw UnavailableError("no memory for another one");
    }
    return CpuLike::bind(std::move(plan), problem, run);
  }
  std::shared_ptr<std::atomic<int>> refused = std::make_shared<std::atomic<int>>(0);

 private:
  const Study& study_;
  bool all_;
};

/// Computes as the CPU does; while `slow`, every operation takes 100 ms longer.
class SlowingDown : public CpuLike {
 public:
  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                 Run& run) const override {
    return std::make_unique<Slow>(CpuLike::bind(std::move(plan), problem, run), slow);
  }
  std::shared_ptr<std::atomic<bool>> slow = std::make_shared<std::atomic<bool>>(false);

 private:
  class Slow : public Operator {
   public:
    Slow(std::unique_ptr<Operator> fast, std::shared_ptr<const std::atomic<bool>> slow)
        : Operator(fast->shared_plan(), fast->problem()),
          fast_(std::move(fast)),
          slow_(std::move(slow)) {}

   private:
    Output do_apply(MatrixView v, Run& run) const override {
      if (*slow_) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      return fast_->apply(v, run);
    }
    Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
      if (*slow_) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      return fast_->tile(rows, cols, pool, run);
    }
    std::unique_ptr<Operator> fast_;
    std::shared_ptr<const std::atomic<bool>> slow_;
  };
};

}  // namespace

TEST_CASE("when the same image is opened twice, the later opening wins") {
  Window window("content:" + assets + "/image/cat.jpg");
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  auto* patch = window->findChild<QSpinBox*>("patch");
  patch->setValue(16);
  let_engine_finish(window.study());  // opened, but not shown yet
  patch->setValue(32);
  REQUIRE(wait_until([&] { return !window.study().opening(); }));
  CHECK(window.study().session().patch == 32);
  CHECK(window.study().length() == 64);
  CHECK(patch->value() == 32);
}

TEST_CASE("a patch size that is undone while it opens does not appear") {
  Window window("content:" + assets + "/image/cat.jpg");
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  auto* patch = window->findChild<QSpinBox*>("patch");
  patch->setValue(16);
  let_engine_finish(window.study());
  patch->setValue(8);
  CHECK(wait_until([&] { return window.study().settled(); }));
  CHECK(window.study().session().patch == 8);
  CHECK(window.study().length() == 1024);
  CHECK(patch->value() == 8);
}

TEST_CASE("what is done to the picture of a longer head does not go to the head that was opened") {
  Window window(small);
  Study& study = window.study();
  // The canvas still shows 128 tokens.
  QObject::connect(&study, &Study::opened, &*window, [&window] {
    Canvas& canvas = window->canvas();
    emit canvas.query_pinned(100);
    emit canvas.rectangle_selected({90, 120}, {90, 120});
    emit canvas.viewport_requested({0, 128, 0, 128});
    emit canvas.block_chosen(0, 100, 100);
  });
  window->open("synthetic:clusters?n=64&d=32&seed=1");
  REQUIRE(wait_until([&] { return study.length() == 64; }));
  REQUIRE(window.settle());
  CHECK_FALSE(study.session().pinned_query);
  CHECK_FALSE(study.selection());
  CHECK_FALSE(study.chosen_block());
  CHECK(study.session().viewport == whole({64, 64}));
}

TEST_CASE("a click that began on a longer head pins nothing of the head that was opened") {
  Window window(small);
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  Canvas& canvas = window->canvas();
  const QPoint low = at_pair(window, find_view("heatmap"), 0, 110, 20);
  const auto send = [&](QEvent::Type type, Qt::MouseButtons held) {
    QMouseEvent event(type, low, canvas.mapToGlobal(QPointF(low)), Qt::LeftButton, held, {});
    QCoreApplication::sendEvent(&canvas, &event);
  };
  const auto open_shorter = [&] {
    window->open("synthetic:clusters?n=64&d=32&seed=1");
    REQUIRE(wait_until([&] { return window.study().length() == 64; }));
    REQUIRE(window.settle());
    be_still(window);
  };
  point(window, low);
  SUBCASE("it is released there") {
    send(QEvent::MouseButtonPress, Qt::LeftButton);
    be_still(window);
    open_shorter();
    send(QEvent::MouseButtonRelease, Qt::NoButton);
  }
  SUBCASE("it becomes a double click there, which takes the first click back") {
    window->change("pin", [](Session& s) { s.pinned_query = 100; });
    REQUIRE(window.settle());
    send(QEvent::MouseButtonPress, Qt::LeftButton);
    send(QEvent::MouseButtonRelease, Qt::NoButton);
    be_still(window);
    REQUIRE(window.study().session().pinned_query == 110);
    open_shorter();
    send(QEvent::MouseButtonDblClick, Qt::LeftButton);
    send(QEvent::MouseButtonRelease, Qt::NoButton);
  }
  be_still(window);
  CHECK_FALSE(window.study().session().pinned_query);
}

TEST_CASE("a session of a source that is being opened is restored") {
  Window window(small);
  Session wanted = window.study().session();
  wanted.source = "synthetic:clusters?n=200&d=32&seed=1";
  wanted.viewport = {0, 100, 0, 100};
  wanted.columns.resize(1);
  window.study().open(wanted.source);
  let_engine_finish(window.study());
  window.study().open(wanted.source, wanted);
  REQUIRE(wait_until([&] { return !window.study().opening(); }));
  CHECK(window.study().session() == wanted);
}

TEST_CASE("the hash of the content is computed whatever happens meanwhile") {
  Window window(small);
  Study& study = window.study();
  QStringList said;
  QObject::connect(&study, &Study::reported, &study, [&](const QString& text) { said << text; });
  // Heads: words are hashed as they are opened.
  const std::string heads = (assets + "/minilm/minilm-l6.safetensors").toStdString();
  const auto open_and = [&](const std::function<void()>& then) {
    bool taken_up = false;
    keep_engine_from_hashing(study);
    QObject::connect(
        &study, &Study::opened, &study, [&] { taken_up = true; }, Qt::SingleShotConnection);
    Session session = study.session();
    session.source = heads;
    session.viewport = {};
    session.pinned_query.reset();
    said.clear();
    study.open(heads, session, "0123456789abcdef");
    REQUIRE(wait_until([&] { return taken_up; }));
    CHECK(study.content_hash() == "0123456789abcdef");  // for a session that is saved meanwhile
    then();
    CHECK(wait_until([&] { return study.content_hash().size() == 64; }));
    const auto changed = std::ranges::count_if(
        said, [](const QString& line) { return line.contains("its content has changed"); });
    CHECK(changed == 1);  // the expected hash is remembered
  };
  SUBCASE("cancelled") {
    open_and([&] { study.cancel(); });
  }
  SUBCASE("another back end") {
    open_and([&] { study.use_backend(std::make_unique<CpuLike>()); });
  }
  SUBCASE("another file that cannot be opened") {
    open_and([&] { study.open("/nonesuch/file.safetensors"); });
  }
}

TEST_CASE("a column that cannot be timed is left out, the others are timed") {
  Window window("synthetic:clusters?n=64&d=16&seed=1");
  Study& study = window.study();
  show(window, {find_view("heatmap")}, {"h1d", "exact", "fixed"});
  REQUIRE(window.settle());
  const auto timed = [&] {
    return std::ranges::count_if(study.columns(), [](const auto& c) { return c.time != nullptr; });
  };
  SUBCASE("the first one") {
    study.use_backend(std::make_unique<NoMemoryForTiming>(study, false));
    CHECK(wait_until([&] { return timed() == 2; }));
    QTest::qWait(500);
    CHECK(study.columns()[0].time == nullptr);
    CHECK(timed() == 2);
    CHECK(study.columns()[2].time->total_speed_up);
  }
  SUBCASE("none: and it is not tried for ever") {
    auto backend = std::make_unique<NoMemoryForTiming>(study, true);
    const auto refused = backend->refused;
    study.use_backend(std::move(backend));
    CHECK(wait_until([&] { return *refused == 4; }));  // a round, then each of three by itself
    QTest::qWait(500);
    CHECK(*refused == 4);
    CHECK(timed() == 0);
  }
}

TEST_CASE("times from a slow machine are labelled") {
  Window window("synthetic:clusters?n=64&d=16&seed=1");
  Study& study = window.study();
  show(window, {find_view("heatmap")}, {"exact"});
  REQUIRE(window.settle());
  auto backend = std::make_unique<SlowingDown>();
  const auto slow = backend->slow;
  study.use_backend(std::move(backend));
  const auto timed = [&](std::size_t column) {
    return study.columns().size() > column && study.columns()[column].time;
  };
  REQUIRE(wait_until([&] { return timed(0); }));
  CHECK_FALSE(study.columns()[0].time->slow);
  *slow = true;
  show(window, {find_view("heatmap")}, {"exact", "h1d"});
  REQUIRE(wait_until([&] { return timed(1); }));
  CHECK(study.columns()[1].time->slow);
  CHECK(window.timing_text().contains("processor was slowed down"));
}

TEST_CASE("a sweep is measured again although everything was cancelled") {
  Window window("synthetic:clusters?n=512&d=32&seed=1");
  show(window, {find_view("heatmap")}, {"exact", "h1d"});
  REQUIRE(window.settle());
  QSettings().setValue("sweep/seconds", 10);
  window.trigger("sweep");
  const SweepRun& run = window->sweep()->run();
  const auto some = [&] { return run.sweep().series[0].points.size() >= 2; };
  REQUIRE(wait_until(some));
  window.study().cancel();
  REQUIRE(wait_until([&] { return !run.running(); }));
  window->sweep()->findChild<QPushButton*>("sweep_measure")->click();
  CHECK(run.running());
  CHECK(wait_until(some));
}

TEST_CASE("a long head is first estimated from few rows, then from more") {
  Window window(small);
  Study& study = window.study();
  show(window, {find_view("heatmap")}, {"exact"});
  // The largest entry, since this back end finds mean and largest one after the other.
  window->change("pool", [](Session& s) { s.settings.pool = Pool::Kind::max; });
  REQUIRE(window.settle());
  auto backend = std::make_unique<SlowingDown>();
  *backend->slow = true;
  study.use_backend(std::move(backend));
  window->open("synthetic:clusters?n=24000&d=32&seed=1");
  const auto says = [&](const char* rows) {
    const auto model = study.model();
    if (!model || model->lengths.keys != 24000 || !model->cells[0][0].panel) return false;
    return model->cells[0][0].panel->caption.find(rows) != std::string::npos;
  };
  CHECK(wait_until([&] { return says("estimate from 1 of 128 rows"); }));
  CHECK(wait_until([&] { return says("estimate from 1 of 32 rows"); }));
}

}  // namespace fovea::test
