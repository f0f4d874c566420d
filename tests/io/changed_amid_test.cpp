// Files that change while they are read: at whichever read of a file its content is replaced, what
// was read is the whole file as it was, or there is a message. The content is never mixed.
#include <doctest/doctest.h>

#include <QBuffer>
#include <QImage>
#include <chrono>
#include <filesystem>
#include <functional>

#include "batch/batch_items.h"
#include "batch/batch_plan.h"
#include "figure/recipe.h"
#include "input/open_source.h"
#include "input/session_file.h"
#include "io/fit_file.h"
#include "io/npy.h"
#include "io/safetensors_writer.h"
#include "io/structure_file.h"
#include "io/watched_reads.h"
#include "messages.h"
#include "temporary_directory.h"
#include "views/views.h"

namespace fovea::test {
namespace {

namespace fs = std::filesystem;

/// A kind of file that can be opened.
struct Kind {
  std::string name;
  std::string file;  // the one that changes, in the directory
  /// Writes version 0 or 1 of it, and what belongs to it.
  std::function<void(const TemporaryDirectory&, int version)> write;
  /// All that is read of it.
  std::function<std::string(const TemporaryDirectory&)> read;
};

std::string text_of(const Matrix& matrix) {
  const auto size = static_cast<std::size_t>(matrix.rows() * matrix.cols());
  return {reinterpret_cast<const char*>(matrix.data()), size * sizeof(float)};
}

std::string text_of(const Source& source) {
  std::string text = source.scale ? std::to_string(*source.scale) : "";
  for (const std::string& token : source.sequence.tokens) text += token + '\n';
  for (const Layer& layer : source.layers)
    for (const HeadTensor* tensor : {&layer.q, &layer.k, &layer.v})
      if (tensor->present()) text += text_of(tensor->read(0));
  if (source.picture) text.append(source.picture->rgb.begin(), source.picture->rgb.end());
  return text;
}

std::vector<OutTensor> tensors(std::vector<std::string> names, std::vector<Index> shape,
                               int version) {
  std::size_t count = 1;
  for (const Index side : shape) count *= static_cast<std::size_t>(side);
  std::vector<OutTensor> out;
  for (std::string& name : names)
    out.push_back({std::move(name), shape, std::vector<float>(count, float(version + 1))});
  return out;
}

/// What `fovea` opens as a source, and the file of it that changes.
Kind source_kind(const std::string& opened, decltype(Kind::write) write, std::string file = "",
                 const std::string& prefix = "") {
  return {.name = file.empty() ? opened : file,
          .file = file.empty() ? opened : file,
          .write = std::move(write),
          .read = [opened, prefix](const TemporaryDirectory& directory) {
            return text_of(open_source(prefix + (directory / opened)));
          }};
}

Kind picture_kind(const std::string& name) {
  return source_kind(
      name,
      [name](const TemporaryDirectory& directory, int version) {
        QImage image(32, 32, QImage::Format_RGB32);
        image.fill(version == 0 ? qRgb(10, 200, 30) : qRgb(11, 201, 31));
        REQUIRE(image.save(QString::fromStdString(directory / name)));
      },
      "", "content:");
}

std::string session_text(int version) {
  Session session = standard_session("synthetic:golden", 64);
  session.pinned_query = version;
  return fovea::text_of(SessionFile{.session = session, .content_hash = {}, .layout = {}});
}

Kind session_kind(const std::string& name, std::function<std::string(int version)> bytes) {
  return {.name = name,
          .file = name,
          .write = [=](const TemporaryDirectory& directory,
                       int version) { directory.write(name, bytes(version)); },
          .read =
              [name](const TemporaryDirectory& directory) {
                const Session session = read_session(directory / name).session;
                return std::to_string(session.pinned_query.value_or(-1));
              }};
}

std::string figure_bytes(const char* format, int version) {
  const Recipe recipe{.session = session_text(version), .command = {}};
  if (format == std::string("svg"))
    return with_recipe_in_svg("<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>", recipe)
        .toStdString();
  QBuffer png;
  png.open(QIODevice::WriteOnly);
  QImage(8, 8, QImage::Format_RGB32).save(&png, "png");
  return with_recipe_in_png(png.data(), recipe).toStdString();
}

FitFile fit(int version) {
  const auto value = static_cast<float>(version);
  Structure tree;
  tree.set({"tree_weight", {3, 2}, std::vector<float>(6, value)});
  tree.set("tree_bias", std::vector<float>(3, value));
  const std::vector<float> values(9, value);
  return {.about = {{"variant", "tf"}},
          .trees = {tree},
          .states = {{.step = version,
                      .height = 1,
                      .parameters = values,
                      .first = values,
                      .second = values,
                      .best = values,
                      .curve = {{.step = version}}}}};
}

void write_arrays(const TemporaryDirectory& directory, int version) {
  for (const char* name : {"q.npy", "k.npy", "v.npy"})
    directory.write(name, npy_bytes(npy_dict("<f4", "(40, 8)"), floats(320, float(version))));
}

template <auto write_archive>
void write_npz(const TemporaryDirectory& directory, int version) {
  const auto array = [&](float first) {
    return npy_bytes(npy_dict("<f4", "(40, 8)"), floats(320, first + float(version)));
  };
  write_archive(directory / "x.npz",
                {{"q.npy", array(0)}, {"k.npy", array(1)}, {"v.npy", array(2)}});
}

/// Writes one head of four columns, as vLLM-Hook does.
void write_hook(const TemporaryDirectory& directory, int version) {
  write_safetensors(directory / "qk.safetensors", tensors({"a__q", "a__k"}, {1, 8, 4}, version),
                    {});
  const Json layer{{"module_name", "a"}, {"key_q", "a__q"}, {"key_k", "a__k"}};
  const Json config{{"num_attention_heads", 1},
                    {"hidden_size", 4},
                    {"attention_multiplier", version == 0 ? 0.25 : 0.75}};
  directory.write("qk.json",
                  Json{{"config", config}, {"layer_order", Json::array({layer})}}.dump());
}

std::vector<Kind> kinds() {
  const auto text = [](const char* name, const char* first, const char* second) {
    return source_kind(
        name,
        [=](const TemporaryDirectory& directory, int version) {
          directory.write(name, version == 0 ? first : second);
        },
        "", "content:");
  };
  return {
      source_kind("x.safetensors",
                  [](const TemporaryDirectory& directory, int version) {
                    write_safetensors(directory / "x.safetensors",
                                      tensors({"q", "k", "v"}, {40, 8}, version), {});
                  }),
      source_kind("", write_arrays, "q.npy"),
      source_kind("x.npz", write_npz<write_zip>),
      source_kind("x.npz", write_npz<write_deflated>),
      source_kind("qk.safetensors", write_hook),
      source_kind("qk.safetensors", write_hook, "qk.json"),
      text("t.txt", "the cat sat on the mat", "and dogs lie by my rug"),
      text("t.json", R"(["the", "cat", "sat"])", R"(["one", "dog", "lay"])"),
      picture_kind("p.png"),
      picture_kind("p.jpg"),
      picture_kind("p.bmp"),
      session_kind("s.fovea.json", session_text),
      session_kind("f.png", [](int version) { return figure_bytes("png", version); }),
      session_kind("f.svg", [](int version) { return figure_bytes("svg", version); }),
      {.name = "plan",
       .file = "plan.json",
       .write =
           [](const TemporaryDirectory& directory, int version) {
             const Json plan{
                 {"sources", {"synthetic:golden"}}, {"variants", {"exact"}}, {"seeds", {version}}};
             directory.write("plan.json", plan.dump());
           },
       .read =
           [](const TemporaryDirectory& directory) {
             return std::to_string(read_batch_plan(directory / "plan.json").seeds.front());
           }},
      {.name = "structure",
       .file = "fit.safetensors",
       .write = [](const TemporaryDirectory& directory,
                   int version) { write_fit(directory / "fit.safetensors", fit(version)); },
       .read =
           [](const TemporaryDirectory& directory) {
             const Structure structure = read_structure(directory / "fit.safetensors", 0, 1);
             std::string values;
             for (const StructureTensor& tensor : structure.tensors())
               for (const float x : std::get<std::vector<float>>(tensor.values))
                 values += std::to_string(x) + ' ';
             return values;
           }},
      {.name = "fit",
       .file = "fit.safetensors",
       .write = [](const TemporaryDirectory& directory,
                   int version) { write_fit(directory / "fit.safetensors", fit(version)); },
       .read =
           [](const TemporaryDirectory& directory) {
             const TrainerState state = read_fit(directory / "fit.safetensors").states.front();
             return std::to_string(state.step) + ' ' + std::to_string(state.parameters.back()) +
                    ' ' + std::to_string(state.best.back());
           }},
  };
}

/// What was read, or what the error says. The file changes at the given read of it.
struct Outcome {
  bool changed = false;
  std::string content, message;
};

Outcome outcome_of(const Kind& kind, int read,
                   const std::function<void(const std::string& file)>& change) {
  const TemporaryDirectory directory;
  kind.write(directory, 0);
  const std::string file = directory / kind.file;
  // As if written a minute ago: a change within a tick of the file system's clock can be missed.
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::minutes(1));
  interruption = {.file = inode_of(file), .reads = read, .change = [&] { change(file); }};
  Outcome outcome;
  outcome.message = message_of([&] { outcome.content = kind.read(directory); });
  outcome.changed = interruption.done;
  interruption = {};
  return outcome;
}

}  // namespace

TEST_CASE("a file that changes while it is read is read as it was, or there is a message") {
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    std::string versions[2], bytes[2];
    for (const int version : {0, 1}) {
      const TemporaryDirectory directory;
      kind.write(directory, version);
      versions[version] = kind.read(directory);
      bytes[version] = read_bytes(directory / kind.file);
    }
    REQUIRE(versions[0] != versions[1]);
    const TemporaryDirectory mixed;
    kind.write(mixed, 0);
    write_bytes(mixed / kind.file, bytes[1]);
    const std::string replaced_before = kind.read(mixed);
    const auto shrink = [](const std::string& file) {
      fs::resize_file(file, fs::file_size(file) / 2);
    };
    const auto grow = [](const std::string& file) { std::ofstream(file, std::ios::app) << " "; };
    const auto overwrite = [&](const std::string& file) {
      std::fstream(file, std::ios::in | std::ios::out | std::ios::binary) << bytes[1];
    };
    const auto replace = [&](const std::string& file) {
      write_bytes(file + ".new", bytes[1]);
      fs::rename(file + ".new", file);
    };
    int read = 0;
    for (;; ++read) {
      CAPTURE(read);
      const Outcome replaced = outcome_of(kind, read, replace);
      if (!replaced.changed) break;
      CHECK(replaced.message.empty());
      // Its kind is looked up before it is opened to be read: what replaces it then is read whole.
      CHECK(
          (replaced.content == versions[0] || (read == 0 && replaced.content == replaced_before)));
      for (const auto& change : std::initializer_list<std::function<void(const std::string&)>>{
               shrink, grow, overwrite}) {
        const Outcome outcome = outcome_of(kind, read, change);
        REQUIRE(outcome.changed);
        check_says(outcome.message, {kind.file, "was changed after it was opened", "expected"});
      }
    }
    CHECK(read > 0);
  }
}

TEST_CASE("a source that changes while a sweep opens it is named with what to do") {
  const Kind heads{
      .name = "sweep",
      .file = "heads.safetensors",
      .write =
          [](const TemporaryDirectory& directory, int version) {
            for (const char* name : {"other.safetensors", "heads.safetensors"})
              write_safetensors(directory / name, tensors({"q", "k", "v"}, {1, 8, 4}, version), {});
          },
      .read =
          [](const TemporaryDirectory& directory) {
            const Json plan{
                {"sources", {directory / "other.safetensors", directory / "heads.safetensors"}},
                {"variants", {"exact"}}};
            const BatchItems items(batch_plan_from("p.json", parse_json("p.json", plan.dump())));
            return std::to_string(items.size());
          }};
  const auto shrink = [](const std::string& file) { fs::resize_file(file, 16); };
  const Outcome outcome = outcome_of(heads, 0, shrink);
  REQUIRE(outcome.changed);
  check_says(outcome.message, {"p.json: ", "sources[1]", heads.file,
                               "was changed while it was opened", "run the sweep again"});
  CHECK(outcome.message.find("other.safetensors") == std::string::npos);
  CHECK(outcome.message.find("--retry-failed") == std::string::npos);
}

}  // namespace fovea::test
