// Each loader that may take long ends with Cancelled where a stop was asked for.
#include <doctest/doctest.h>

#include <QImage>
#include <QTemporaryDir>
#include <fstream>

#include "data/synthetic.h"
#include "input/image_file.h"
#include "input/text_file.h"
#include "io/tensor_file.h"
#include "io/token_file.h"

namespace fovea::test {

TEST_CASE("each loader ends where a stop was asked for") {
  const QTemporaryDir folder;
  const auto path = [&](const char* name) { return folder.filePath(name).toStdString(); };
  std::ofstream(path("words.txt")) << "some words of a text";
  std::ofstream(path("tokens.json")) << R"(["some", "tokens"])";
  QImage image(32, 32, QImage::Format_RGB32);
  image.fill(Qt::red);
  REQUIRE(image.save(folder.filePath("red.png")));

  std::stop_source stop;
  const auto token = stop.get_token();
  CHECK(read_text(FileBytes(path("words.txt")), false, token).size() == 5);
  CHECK(read_token_json(FileBytes(path("tokens.json")), token).tokens.size() == 2);
  const std::string tensors = FOVEA_ASSETS "/minilm/minilm-l6.safetensors";
  CHECK_NOTHROW(read_safetensors(tensors, token));
  CHECK_NOTHROW(read_image(FileBytes(path("red.png")), 8, 0, token));
  CHECK_NOTHROW(make_synthetic("needle?n=64", token));
  stop.request_stop();
  CHECK_THROWS_AS(read_text(FileBytes(path("words.txt")), false, token), Cancelled);
  CHECK_THROWS_AS(read_token_json(FileBytes(path("tokens.json")), token), Cancelled);
  CHECK_THROWS_AS(read_safetensors(tensors, token), Cancelled);
  CHECK_THROWS_AS(read_image(FileBytes(path("red.png")), 8, 0, token), Cancelled);
  for (const char* kind : {"needle", "smooth", "gaussian", "clusters"})
    CHECK_THROWS_AS(make_synthetic(std::string(kind) + "?n=64", token), Cancelled);
}

}  // namespace fovea::test
