#include "endurance/made_files.h"

#include <QDir>
#include <cmath>
#include <string>
#include <vector>

#include "io/npy.h"
#include "io/safetensors_writer.h"
#include "temporary_directory.h"

namespace fovea::test {
namespace {

/// Numbers that look random, the same in each run.
std::vector<float> waves(Index count, double pace) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i)
    values[std::size_t(i)] = float(std::sin(pace * double(i * i % 9973)));
  return values;
}

std::string npy(const std::vector<float>& values, const std::string& shape) {
  std::string data;
  for (const float value : values) data += bytes_of(value);
  return npy_bytes(npy_dict("<f4", shape), data);
}

std::string tokens_json(int count) {
  std::string text = R"({"tokens": [)";
  for (int i = 0; i < count; ++i)
    text += (i ? ", \"" : "\"") + std::string(i % 7 ? "Ġword" : "[SEP]") + std::to_string(i) + "\"";
  return text + "]}";
}

std::string sentences(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "Sentence " + std::to_string(i) + " says that naïve 日本 words & <b>tags</b> stay.\n";
  return text;
}

void write_heads(const QString& path, Index layers, Index heads, Index n, Index d) {
  std::vector<OutTensor> tensors;
  for (Index layer = 0; layer < layers; ++layer)
    for (const char* name : {"q", "k", "v"})
      tensors.push_back({"layer" + std::to_string(layer) + "." + name,
                         {heads, n, d},
                         waves(heads * n * d, 0.1 + 0.01 * double(layer) + 0.001 * name[0])});
  write_safetensors(path.toStdString(), tensors, {{"causal", "true"}});
}

void write_attention(const QString& path, Index n) {
  std::vector<float> rows = waves(n * n, 0.7);
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (Index j = 0; j < n; ++j)
      sum += rows[std::size_t(i * n + j)] = std::exp(rows[std::size_t(i * n + j)]);
    for (Index j = 0; j < n; ++j) rows[std::size_t(i * n + j)] /= float(sum);
  }
  write_safetensors(path.toStdString(), {{"attention", {1, n, n}, std::move(rows)}}, {});
}

}  // namespace

MadeFiles::MadeFiles(const QString& folder) : folder(folder) {
  const auto add = [&](QStringList& list, const char* name, const std::string& bytes) {
    write_bytes(at(name).toStdString(), bytes);
    list << at(name);
  };
  add(good, "short.txt", "one two");
  add(good, "sentences & <b>.txt", sentences(24));
  add(good, "tokens.json", tokens_json(90));
  QDir(folder).mkdir("arrays");
  for (const char* name : {"q", "k", "v"})
    write_bytes((at("arrays/") + name + ".npy").toStdString(),
                npy(waves(2 * 60 * 8, 0.3 + 0.01 * name[0]), "(2, 60, 8)"));
  good << at("arrays");
  write_zip(at("archive.npz").toStdString(),
            {{.name = "q.npy", .bytes = npy(waves(480, 0.3), "(60, 8)")},
             {.name = "k.npy", .bytes = npy(waves(480, 0.4), "(60, 8)")},
             {.name = "v.npy", .bytes = npy(waves(480, 0.5), "(60, 8)")}});
  good << at("archive.npz");
  write_heads(at("heads.safetensors"), 3, 4, 96, 16);
  write_attention(at("attention.safetensors"), 80);
  good << at("heads.safetensors") << at("attention.safetensors");

  add(bad, "empty.txt", "");
  add(bad, "not-text.txt", "\xff\xfe\xfd");
  add(bad, "cut.safetensors", read_bytes(at("heads.safetensors").toStdString()).substr(0, 1000));
  add(bad, "broken.json", R"({"tokens": [)");
  add(bad, "broken.fovea.json", R"({"fovea_session": 99})");
  add(bad, "not-an-image.png", "no picture");
  QDir(folder).mkdir("nothing");
  bad << at("nothing") << at("missing.safetensors");
}

}  // namespace fovea::test
