// Opening a source in a Study: its hash, other patches of an image, and undo of them.
#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "input/content_hash.h"
#include "input/model_place.h"
#include "input/open_source.h"
#include "io/file_bytes.h"
#include "io/safetensors_writer.h"
#include "messages.h"
#include "study/event_loop.h"
#include "study/session_editor.h"
#include "study/source_opening.h"
#include "temporary_directory.h"
#include "tiny_text_model.h"
#include "views/views.h"
#include "window/backend.h"

namespace fovea::test {
namespace {

/// A picture of 400 x 400 pixels: in patches of 1 it has too many tokens.
std::string write_picture(const TemporaryDirectory& folder) {
  std::string bytes = "P5 400 400 255\n";
  for (int i = 0; i < 400 * 400; ++i) bytes.push_back(static_cast<char>(i % 251));
  return folder.write("picture.pgm", bytes);
}

std::string write_head(const TemporaryDirectory& folder, float value) {
  std::vector<OutTensor> tensors;
  for (const char* name : {"q", "k", "v"})
    tensors.push_back({name, {6, 2}, std::vector<float>(12, value)});
  write_safetensors(folder / "head.safetensors", tensors, {});
  return folder / "head.safetensors";
}

/// A picture that is open in patches of 8, and its editor.
struct OpenPicture {
  TemporaryDirectory folder;
  Study study{std::make_unique<CpuLike>()};
  SessionEditor editor{study};

  OpenPicture() {
    study.open("content:" + write_picture(folder));
    REQUIRE(wait_until([&] { return study.length() == 2500; }));
    editor.start();
  }
  bool ends() {
    return wait_until([&] { return !study.opening(); });
  }
};

}  // namespace

TEST_CASE("an empty canvas says what is being opened, and a full one keeps what it shows") {
  const std::string longer = "synthetic:needle?n=131072&d=128&heads=4&seed=1";  // seconds
  Study study(std::make_unique<CpuLike>());
  std::vector<std::string> said;
  QObject::connect(&study, &Study::model_changed, &study,
                   [&](const auto& model) { said.push_back(model->opening); });
  const auto last_is = [&](const std::string& name) {
    return wait_until([&] { return !said.empty() && said.back() == name; });
  };
  study.open(longer);
  REQUIRE(last_is(longer));
  study.cancel_opening();
  CHECK(last_is(""));
  study.open("synthetic:golden");
  REQUIRE(wait_until([&] { return study.source() && study.settled(); }));
  REQUIRE(last_is(""));

  study.open(longer);
  said.clear();
  study.set_dark(!study.model()->dark);  // another model while it is opened
  REQUIRE(wait_until([&] { return !said.empty(); }));
  REQUIRE(study.opening());
  CHECK(said.back().empty());
  study.cancel_opening();
}

TEST_CASE("a large file is hashed while other requests are answered, and until it is closed") {
  const TemporaryDirectory folder;
  auto source = std::make_shared<Source>();
  source->path = folder.write("large.bin", "");
  std::filesystem::resize_file(source->path, 512 << 20);  // a second of hashing, or more
  source->files = {std::make_shared<const FileBytes>(source->path)};
  Requests requests(std::make_unique<CpuLike>(), std::make_shared<Background>());
  SourceOpening opening(requests);
  Subject subject;
  subject.source = source;
  opening.find_hash(subject);
  REQUIRE(wait_until([&] { return requests.status().runs(RequestKind::hash); }));
  bool answered = false;
  requests.start_pieces(
      {RequestKind::pair}, 0, [](const Backend&, Run&) { return false; },
      [&](const std::string&) { answered = true; });
  REQUIRE(wait_until([&] { return answered; }));
  CHECK(opening.content_hash().empty());  // there is still more to hash
  CHECK(requests.is_pending({RequestKind::hash}));
  requests.cancel_all();
  CHECK(wait_until([&] { return !requests.status().busy(); }));
  CHECK(opening.content_hash().empty());
}

TEST_CASE("the expected hash of a session is kept until another is found") {
  const TemporaryDirectory folder;
  Study study(std::make_unique<CpuLike>());
  // Before the hash is requested the engine gets work of a higher priority.
  QObject::connect(&study, &Study::opened, &study, [&] {
    study.requests().start_pieces(
        {RequestKind::sweep}, 0,
        [](const Backend&, Run& run) {
          while (!run.stop.stop_requested())
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          return false;
        },
        [](const std::string&) {});
  });
  const std::string path = write_head(folder, 1);
  study.open(path, standard_session(path, 6), "0123abc");
  REQUIRE(wait_until([&] { return study.length() > 0; }));
  CHECK(study.content_hash() == "0123abc");
  run_events(20);
  CHECK(study.content_hash() == "0123abc");
  study.requests().cancel({RequestKind::sweep});
  CHECK(wait_until([&] { return study.content_hash().size() == 64; }));
}

TEST_CASE("the window keeps the hash of what it shows, or none where the file was overwritten") {
  const TemporaryDirectory folder, other_folder;
  const std::string path = write_head(folder, 1), other = write_head(other_folder, 2);
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(1));
  const std::string shown = content_hash_of(open_source(path).files).text();
  Study study(std::make_unique<CpuLike>());
  std::string said;
  QObject::connect(&study, &Study::reported, &study,
                   [&](const QString& text) { said += text.toStdString(); });
  bool replaced = false;
  QObject::connect(&study, &Study::opened, &study, [&] {  // before the hash is requested
    if (replaced) std::filesystem::rename(other, path);
    if (!replaced) write_bytes(path, read_bytes(other));
  });
  SUBCASE("overwritten") {
    study.open(path, standard_session(path, 6), shown);
    REQUIRE(wait_until([&] { return study.settled() && !said.empty(); }));
    CHECK(study.content_hash().empty());
    check_says(said, {"head.safetensors", "was changed after it was opened",
                      "has no hash of its content"});
  }
  SUBCASE("replaced") {
    replaced = true;
    study.open(path);
    REQUIRE(wait_until([&] { return !study.content_hash().empty(); }));
    CHECK(study.content_hash() == shown);
    CHECK(said.empty());
  }
}

TEST_CASE("the hash of words and pictures is there with them, so that what is saved has it") {
  const TemporaryDirectory folder;
  const std::string text = folder.write("t.txt", "the cat sat on the mat"),
                    picture = write_picture(folder);
  for (const std::string& path :
       {"content:" + text, "content:" + picture, address_of(text), address_of(picture)}) {
    Study study(std::make_unique<CpuLike>());
    std::string hash, said;
    QObject::connect(&study, &Study::opened, &study, [&] { hash = study.content_hash(); });
    QObject::connect(&study, &Study::reported, &study,
                     [&](const QString& text) { said = text.toStdString(); });
    study.open(path, standard_session(path, 6), std::string(64, '0'));
    REQUIRE(wait_until([&] { return !hash.empty(); }));
    CHECK(hash == content_hash_of(open_source(path).files).text());
    check_says(said, {readable_source(path), "content has changed", hash.substr(0, 12)});
  }
}

TEST_CASE("a model computes on a CPU of its own, so that heads are the same on all back ends") {
  class Counting : public CpuLike {
   public:
    Counting(std::string id, std::atomic<int>& products)
        : id_(std::move(id)), products_(products) {}
    std::string id() const override { return id_; }
    Matrix product(MatrixView a, MatrixView b, Run& run) const override {
      ++products_;
      return CpuLike::product(a, b, run);
    }

   private:
    std::string id_;
    std::atomic<int>& products_;
  };
  const TinyTextModel model;
  for (const std::string id : {"cpu", "cuda"}) {
    CAPTURE(id);
    std::atomic<int> products = 0;
    std::optional<int> when_opened;  // before columns are computed
    Study study(std::make_unique<Counting>(id, products));
    QObject::connect(&study, &Study::opened, &study, [&] { when_opened = products; });
    study.open(model.address("the cat"));
    REQUIRE(wait_until([&] { return when_opened.has_value(); }));
    CHECK(*when_opened == 0);
  }
}

TEST_CASE("patches that are refused leave nothing behind: not in the window, not in undo") {
  OpenPicture picture;
  int changes = 0;
  bool can_undo = true;
  QObject::connect(&picture.study, &Study::session_changed, &picture.study, [&] {
    ++changes;
    can_undo = picture.editor.can_undo();
  });
  picture.editor.choose_patch(1);
  CHECK(picture.editor.can_undo());
  SUBCASE("refused") {
    REQUIRE(picture.ends());
  }
  SUBCASE("cancelled") {
    picture.study.cancel();
    CHECK_FALSE(picture.study.opening());
  }
  CHECK(picture.study.session().patch == 8);
  CHECK(changes > 0);  // so that the window shows the patch again that there is
  CHECK_FALSE(can_undo);
  CHECK_FALSE(picture.editor.can_redo());
}

TEST_CASE("a change while other patches open goes for them, too, and is a step of its own") {
  OpenPicture picture;
  const Session& session = picture.study.session();
  const auto use_map = [&](const char* id) {
    picture.editor.change({}, [id](Session& s) { s.settings.colormap = id; });
  };
  picture.editor.choose_patch(16);
  use_map("magma");
  CHECK(session.settings.colormap == "magma");  // at once
  REQUIRE(picture.ends());
  CHECK(session.patch == 16);
  CHECK(session.settings.colormap == "magma");
  CHECK(session.viewport == Viewport{0, 625, 0, 625});
  picture.editor.undo();
  CHECK_FALSE(picture.study.opening());
  CHECK(session.patch == 16);
  CHECK(session.settings.colormap == "viridis");
  picture.editor.redo();
  CHECK(session.settings.colormap == "magma");
  SUBCASE("and stays where they are refused") {
    picture.editor.choose_patch(1);
    use_map("cividis");
    REQUIRE(picture.ends());
    CHECK(session.patch == 16);
    CHECK(session.settings.colormap == "cividis");
    picture.editor.undo();
    CHECK_FALSE(picture.study.opening());
    CHECK(session.patch == 16);
    CHECK(session.settings.colormap == "magma");
  }
}

TEST_CASE("of the patches that are chosen one after the other the last ones are shown") {
  OpenPicture picture;
  const Session& session = picture.study.session();
  const Viewport part{0, 100, 0, 100};
  picture.editor.change({}, [&](Session& s) { s.viewport = part; });
  picture.editor.choose_patch(16);
  SUBCASE("those that are shown already") {
    picture.editor.choose_patch(8);
    CHECK_FALSE(picture.study.opening());
    CHECK(session.viewport == part);
  }
  SUBCASE("undo, of a change too") {
    picture.editor.change({}, [](Session& s) { s.settings.colormap = "magma"; });
    picture.editor.undo();
    picture.editor.undo();
    CHECK_FALSE(picture.study.opening());
    CHECK(session.settings.colormap == "viridis");
    CHECK(session.viewport == part);
    picture.editor.redo();
    picture.editor.redo();
    REQUIRE(picture.ends());
    CHECK(session.patch == 16);
    CHECK(session.settings.colormap == "magma");
    return;
  }
  REQUIRE(picture.ends());
  CHECK(session.patch == 8);
}

TEST_CASE("each change while other patches open is a step in those patches") {
  OpenPicture picture;
  const Session& session = picture.study.session();
  picture.editor.choose_patch(16);
  for (const char* id : {"magma", "cividis"})
    picture.editor.change({}, [id](Session& s) { s.settings.colormap = id; });
  REQUIRE(picture.ends());
  picture.editor.undo();
  CHECK_FALSE(picture.study.opening());
  CHECK(session.patch == 16);
  CHECK(session.settings.colormap == "magma");
}

TEST_CASE("each column that is added or removed is a step of undo") {
  OpenPicture picture;
  const std::size_t before = picture.study.session().columns.size();
  picture.editor.add_column("h1d");
  picture.editor.add_column("h1d");
  picture.editor.undo();
  CHECK(picture.study.session().columns.size() == before + 1);
  picture.editor.redo();
  picture.editor.remove_column();
  picture.editor.remove_column();
  picture.editor.undo();
  CHECK(picture.study.session().columns.size() == before + 1);
}

}  // namespace fovea::test
