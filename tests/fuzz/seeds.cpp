#include "fuzz/seeds.h"

#include <QBuffer>
#include <QImage>
#include <QImageWriter>
#include <QPainter>
#include <QPdfWriter>

#include "figure/pages.h"
#include "figure/recipe.h"
#include "figure/recipe_in_pdf.h"
#include "fuzz/file_parsers.h"
#include "input/session_file.h"
#include "io/fit_file.h"
#include "io/npy.h"
#include "io/safetensors.h"
#include "io/structure_file.h"
#include "live/wire_reader.h"
#include "session/session.h"
#include "temporary_directory.h"
#include "variants/tree_tensors.h"
#include "views/views.h"

namespace fovea::test {
namespace {

/// Tensors of float32 one after another, with a header that begins with `metadata`.
class Blob {
 public:
  explicit Blob(std::string metadata = {}) : header_(std::move(metadata)) {}

  Blob& add(const std::string& name, const std::string& dtype, const std::string& shape,
            const std::string& data) {
    header_ +=
        (header_.empty() ? "" : ",") + entry(name, dtype, shape,
                                             "[" + std::to_string(data_.size()) + "," +
                                                 std::to_string(data_.size() + data.size()) + "]");
    data_ += data;
    return *this;
  }
  Blob& qkv(const std::string& prefix) {
    for (const char* name : {"q", "k", "v"}) add(prefix + name, "F32", "[1,2,3]", floats(6));
    return *this;
  }
  std::string bytes() const { return safetensors_bytes("{" + header_ + "}", data_); }

 private:
  std::string header_, data_;
};

std::string metadata(const std::string& entries) {
  return "\"__metadata__\":{" + entries + "}";
}

std::vector<ZipMember> members() {
  std::vector<ZipMember> out;
  for (const char* name : {"q.npy", "k.npy", "v.npy"})
    out.push_back({name, npy_bytes(npy_dict("<f4", "(2, 3)"), floats(6))});
  return out;
}

QImage small_picture() {
  QImage image(6, 4, QImage::Format_ARGB32);
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      image.setPixelColor(x, y, QColor(40 * x, 60 * y, 99, 255 - 20 * x));
  return image;
}

QByteArray encoded(const char* format) {
  QBuffer buffer;
  QImageWriter(&buffer, format).write(small_picture());
  return buffer.data();
}

QByteArray pdf_with(const Recipe& recipe) {
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  {
    QPdfWriter writer(&buffer);
    attach(writer, recipe);
    QPainter painter(&writer);
    painter.drawRect(10, 10, 20, 20);
  }
  return buffer.data();
}

std::string session_with_everything() {
  SessionFile file{
      .session = standard_session("synthetic:golden", 64), .content_hash = "00", .layout = "AAAA"};
  Session& session = file.session;
  session.conditions.causal = true;
  session.conditions.scale = 0.3;
  session.conditions.window = 12;
  session.conditions.soft_cap = 30.5;
  session.pinned_query = 3;
  session.columns.clear();
  for (const Variant& variant : variants())
    session.columns.push_back(
        {.variant = variant.id, .values = defaults(variant.schema), .seed = 7});
  session.columns[0].held =
      HeldHead{.source = "a.npz", .layer = 1, .head = 2, .conditions = {.causal = false}};
  session.settings.choose_range({find_view("error"), 1, 0.25, 0.5});
  session.settings.hidden = {"exact"};
  session.spans = {{"system", {0, 4}}, {"user", {4, 9}}};
  return text_of(file);
}

}  // namespace

std::vector<std::string> safetensors_seeds() {
  const std::string all = metadata(
      R"("tokens":"[\"a\",\"b\"]","scale":"0.5","image":"{\"grid\":[1,2],\"prefix\":0}","layout":"[H,n,d]",)"
      R"("causal":"true","window":"7","softcap":"30.0","model":"m","l2.causal":"false","l2.tokens":"[\"c\",\"d\"]")");
  return {
      Blob(metadata(R"("scale":"0.5","layout":"[H,n,d]")"))
          .add("q", "F32", "[1,2,3]", floats(6))
          .add("k", "F16", "[1,2,3]", std::string(12, '\1'))
          .add("v", "BF16", "[1,2,3]", std::string(12, '\1'))
          .bytes(),
      Blob(all).qkv("l2.").qkv("l10.").bytes(),
      Blob()
          .qkv("l.")
          .add("l.z", "F64", "[1,2,3]", std::string(48, '\0'))
          .add("l.flash.z", "F32", "[1,2,3]", floats(6))
          .add("l.flash.lse", "F32", "[1,2]", floats(2))
          .add("l.flash.p", "F32", "[1,2,2]", floats(4))
          .add("l.flash.kept", "U8", "[2,2]", std::string(4, '\1'))
          .bytes(),
      Blob(metadata(R"-("l.flex.BLOCK_SIZE":"(1, 2)")-"))
          .qkv("l.")
          .add("l.flex.kv_num_blocks", "I32", "[1,2]", std::string("\1\0\0\0\1\0\0\0", 8))
          .add("l.flex.kv_indices", "I32", "[1,2,1]", std::string(8, '\0'))
          .add("l.flex.full_kv_num_blocks", "I32", "[2]", std::string(8, '\0'))
          .add("l.flex.full_kv_indices", "I32", "[2,1]", std::string(8, '\0'))
          .add("l.top.indices", "I64", "[2,1]", std::string(16, '\xff'))
          .add("l.csr.indptr", "I32", "[3]", std::string("\0\0\0\0\1\0\0\0\1\0\0\0", 12))
          .add("l.csr.indices", "I32", "[1]", std::string(4, '\0'))
          .add("l.fla.block_indices", "I32", "[2,1,1]", std::string(8, '\0'))
          .add("l.fla.block_size", "I32", "[1]", std::string("\2\0\0\0", 4))
          .bytes(),
      Blob()
          .qkv("")
          .add("mask", "BOOL", "[2,2]", std::string(4, '\1'))
          .add("bias", "F32", "[1,2,2]", floats(4))
          .add("alibi", "F32", "[1]", floats(1))
          .add("sinks", "F32", "[1]", floats(1))
          .add("documents", "I64", "[2]", std::string(16, '\0'))
          .bytes(),
      Blob(metadata(R"("recurrence":"delta","l.recurrence":"linear")"))
          .qkv("l.")
          .add("l.beta", "F32", "[1,2]", floats(2))
          .add("l.log_decay", "F32", "[1,2,3]", std::string(24, '\0'))
          .add("l.lambda", "F32", "[1,2,2]", floats(4))
          .bytes(),
      Blob(metadata(R"("window":"1")"))
          .qkv("")
          .add("k_extra", "F32", "[1,1,3]", floats(3))
          .add("v_extra", "F32", "[1,1,3]", floats(3))
          .add("extra_tokens", "I32", "[1,2]", std::string("\0\0\0\0\2\0\0\0", 8))
          .add("extra_indices", "I64", "[2,1]", std::string(8, '\0') + std::string(8, '\xff'))
          .add("p", "F32", "[1,2,3]", floats(6))
          .bytes(),
      Blob().add("attention", "F32", "[1,2,2]", floats(4)).bytes(),
      Blob().add("layer3.qkv", "F32", "[2,3,1,2]", floats(12)).bytes(),
      Blob()
          .add("blocks.0.attn.hook_rot_q", "F32", "[1,2,1,3]", floats(6))
          .add("blocks.0.attn.hook_k", "F32", "[1,2,1,3]", floats(6))
          .add("blocks.0.attn.hook_v", "F32", "[1,2,1,3]", floats(6))
          .add("blocks.0.attn.hook_z", "F32", "[1,2,1,3]", floats(6))
          .bytes(),
  };
}

std::vector<std::string> npz_seeds() {
  std::vector<std::string> seeds;
  for (const auto write : {write_zip, write_deflated}) {
    const TemporaryDirectory directory;
    write(directory / "x.npz", members());
    seeds.push_back(read_bytes(directory / "x.npz"));
  }
  return seeds;
}

std::vector<std::string> npy_seeds() {
  return {npy_bytes(npy_dict("<f8", "(2, 3, 3)", "True"), floats(36)),
          npy_bytes(npy_dict(">f4", "(1, 2, 2)"), floats(4)),
          npy_bytes(npy_dict("<f2", "(2, 2)"), floats(2)),
          npy_bytes(npy_dict("<u2", "(2, 2)"), floats(2)),
          npy_bytes(npy_dict("|V2", "(2, 2)"), floats(2))};
}

std::vector<std::string> vllm_hook_seeds() {
  const std::string config =
      R"({"config":{"num_attention_heads":2,"num_key_value_heads":1,"head_dim":2,"attention_multiplier":0.5},)";
  const std::string layer =
      R"("layer_order":[{"key_q":"a__q","key_k":"a__k","module_name":"a","layer_num":0,"hookq_mode":"all_tokens"}],)";
  return {
      config + layer +
          R"("compact_all_tokens":true,"q_seq_lens":[1,1,1],"k_full_lens":[3,2],"k_prefix_ends":[[1,2],[2]]})",
      config + layer +
          R"("compact_all_tokens":true,"q_seq_lens":[3],"k_full_lens":[5],"k_prefix_ends":[[5]]})"};
}

std::vector<std::string> structure_seeds() {
  Structure structure;
  structure.set("key_order", std::vector{1, 0});
  structure.set("alpha", std::vector{0.5f, 0.5f});
  set_tree(structure,
           {{{2, false, Matrix(2, 1), {0, 0}}, {3, false, Matrix(6, 1), {0, 0, 0, 0, 0, 0}}}});
  const TemporaryDirectory directory;
  write_safetensors(directory / "s.safetensors", structure_tensors({structure}), {});
  return {read_bytes(directory / "s.safetensors")};
}

std::vector<std::string> fit_seeds() {
  Structure tree;
  tree.set({"tree_weight", {3, 2}, std::vector<float>(6, 0.5f)});
  tree.set("tree_bias", std::vector<float>(3, 1));
  FitFile file{.about = {{"variant", "tf"}}, .trees = {tree}, .states = {}};
  file.states = {
      {.step = 7,
       .adam_steps = 5,
       .best_step = 5,
       .height = 1,
       .loss = 0.1,
       .multiplier = 0.3,
       .parameters = {1},
       .first = {1},
       .second = {1},
       .best = {1, 2},
       .curve = {{.step = 0, .loss = 0.3, .error = 0.5, .chi = 0.1, .effective_leaves = 3.5}}}};
  const TemporaryDirectory directory;
  write_fit(directory / "f.safetensors", file);
  return {read_bytes(directory / "f.safetensors")};
}

std::vector<std::string> token_seeds() {
  return {R"({"ids":[1,2],"tokens":["Ġa","é</w>"],"offsets":[[0,1],[1,2]],"attention_mask":[1,1]})",
          R"(["a","▁b","##c","<0x0A>","\u001b[31m"])",
          "[101,7,102]",
          R"({"input_ids":[[1,2,3]]})",
          R"([{"tokens":["a"],"ids":[1]}])",
          R"({"input_ids":[5],"tokens":["Ċ"]})"};
}

std::vector<std::string> text_seeds() {
  return {"Attention is all you need, 3.5 times.\r\nÉtude — 日本語 😀 e\xCC\x81",
          "\xEF\xBB\xBF"
          "one\ntwo\n\nfour",
          "a\tb"};
}

std::vector<std::string> image_seeds() {
  std::vector<std::string> seeds;
  for (const char* format : {"png", "jpg", "bmp", "ppm", "gif", "webp", "xbm", "xpm", "tiff"})
    if (const QByteArray bytes = encoded(format); !bytes.isEmpty())
      seeds.push_back(bytes.toStdString());
  QBuffer progressive;
  QImageWriter writer(&progressive, "jpg");
  writer.setProgressiveScanWrite(true);
  if (writer.write(small_picture())) seeds.push_back(progressive.data().toStdString());
  // A BMP of the oldest kind: 2 x 2 pixels of 24 bits.
  seeds.push_back(std::string("BM\x2a\0\0\0\0\0\0\0\x1a\0\0\0\x0c\0\0\0\2\0\2\0\1\0\x18\0", 26) +
                  std::string(16, 'p'));
  return seeds;
}

std::vector<std::string> figure_seeds() {
  const Recipe recipe{
      text_of(
          {.session = standard_session("synthetic:golden", 64), .content_hash = {}, .layout = {}}),
      "fovea render synthetic:golden"};
  const QByteArray svg =
      "<?xml version=\"1.0\"?>\n<svg width=\"1\" height=\"1\">\n<title>t</title></svg>\n";
  std::vector<std::string> seeds;
  for (const Recipe& one : {recipe, Recipe{"", recipe.command}}) {
    seeds.push_back(with_recipe_in_png(encoded("png"), one).toStdString());
    seeds.push_back(with_recipe_in_svg(svg, one).toStdString());
    seeds.push_back(pdf_with(one).toStdString());
    seeds.push_back(html_of({.title = "t", .blocks = {}, .recipe = one}));
  }
  return seeds;
}

std::vector<std::string> session_seeds() {
  return {session_with_everything(),
          text_of({.session = standard_session("synthetic:gaussian?n=64", 64),
                   .content_hash = {},
                   .layout = {}})};
}

std::vector<std::string> sweep_plan_seeds() {
  return {
      R"({"sources":["synthetic:gaussian?n=64&d=8"],"variants":["exact"]})",
      R"({"sources":["a.npz"],"layers":[2,"layer4"],"heads":[3,0],"variants":["exact","all",{"variant":"hyper",)"
      R"("set":{"block":[64,128],"samples":32}}],"seeds":[7,18446744073709551615],"causal":true,)"
      R"("backend":"cpu","precision":"fp32","threads":2,"rounds":0,"metrics":false})"};
}

std::vector<std::string> sweep_results_seeds() {
  const std::string row =
      R"("plan":"p","error":null,"variant":"exact","source":"s","layer":0,"head":0,"n":64,"seed":1,)"
      R"("runs":3,"median_ms":1.5})";
  return {R"({"item":0,"output_rel_fro":0.25,)" + row + "\n" +
          R"({"item":1,"plan":"p","error":"no, \"none\""})" + "\n" +
          R"({"item":2,"output_rel_fro":"infinite",)" + row + "\n"};
}

std::vector<std::string> results_folder_seeds() {
  const std::string plan = R"({"plan":"p","items":8,"from":"p.json","version":"0"})";
  const std::string rows = sweep_results_seeds().front();
  const std::string others = R"({"item":5,"plan":"p","error":"no"})"
                             "\n"
                             R"({"item":6,"pl)";
  return {plan + between_files + rows, plan + between_files + rows + between_files + others,
          plan + between_files + between_files + others + between_files + "item\n0\n", plan};
}

std::vector<std::string> wire_seeds() {
  std::vector<std::string> seeds;
  for (const char* said : {R"("stream":"loss","step":"3")", R"("step":"0")"}) {
    const std::string blob = Blob(metadata(said)).qkv("l0.").bytes();
    seeds.push_back(wire_greeting("token") + wire_length(blob.size()) + blob +
                    wire_length(blob.size()) + blob);
  }
  return seeds;
}

std::vector<std::string> given_layers_seeds() {
  const auto frame = [](const std::string& content, const std::string& others,
                        const std::vector<const char*>& layers, bool bias = false) {
    Blob blob(metadata("\"message\":\"{" + content + "}\"" + others));
    for (const char* layer : layers) blob.qkv(std::string(layer) + ".");
    if (bias) blob.add("layer0.bias", "F32", "[2,2]", floats(4));
    const std::string bytes = blob.bytes();
    return wire_length(bytes.size()) + bytes;
  };
  const std::string tokens = R"(,"tokens":"[\"a\",\"b\"]")";
  const std::string said = R"(,"causal":"true","layout":"[H,n,d]")" + tokens;
  return {frame(R"(\"part\":0,\"of\":2)", said, {"layer0"}) +
              frame(R"(\"part\":1)", "", {"layer1"}) +
              frame(R"(\"parts\":2,\"notes\":[\"a note\"])", said, {}),
          frame(R"(\"notes\":[])", tokens, {"layer0", "cross.layer0"}),
          frame(R"(\"part\":0)", "", {"layer0"}, true) +
              frame(R"(\"part\":1,\"same\":{\"layer1.bias\":\"layer0.bias\"})", "", {"layer1"}) +
              frame(R"(\"parts\":2)", "", {"layer2"})};
}

std::vector<std::string> model_address_seeds() {
  return {
      "/a/b",    "c?text=the%20cat%3F",        "d%25?input=x.txt&max_tokens=16", "e?max_tokens=1",
      "f?text=", "g?text=a&decoder_text=b%20c"};
}

std::vector<std::string> synthetic_seeds() {
  return {"gaussian?n=8&d=4&seed=7&heads=2&dv=3",
          "clusters?n=9&d=4",
          "smooth?n=8&d=4",
          "needle?n=8&d=4",
          "golden",
          "hmatrix?n=8"};
}

std::vector<std::string> setting_seeds() {
  std::vector<std::string> seeds{"[B,n,H,d]"};
  for (const Variant& variant : variants()) {
    const Values values = defaults(variant.schema);
    for (std::size_t f = 0; f < values.size(); ++f)
      seeds.push_back(variant.id + "." + variant.schema[f].id + "=" + to_text(values[f]));
  }
  return seeds;
}

}  // namespace fovea::test
