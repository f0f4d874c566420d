// Where a model is that somebody names: a folder, a file of it, a .gguf file, or a name in the
// cache of Hugging Face's hub.
#include "input/model_place.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <optional>

#include "data/error.h"
#include "fake_model_cache.h"
#include "gguf_bytes.h"
#include "input/model_cache.h"
#include "input/model_facts.h"
#include "input/open_source.h"
#include "input/session_file.h"
#include "io/json.h"
#include "messages.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;

namespace {

namespace fs = std::filesystem;

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = ::getenv(name)) before_ = before;
    if (value)
      ::setenv(name, value, 1);
    else
      ::unsetenv(name);
  }
  ~Variable() {
    if (before_)
      ::setenv(name_, before_->c_str(), 1);
    else
      ::unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

std::vector<std::string> names_of(const std::vector<CachedModel>& models) {
  std::vector<std::string> out;
  for (const CachedModel& model : models) out.push_back(model.name);
  return out;
}

void set_time(const std::string& path, int seconds) {
  const struct timespec times[] = {{seconds, 0}, {seconds, 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

}  // namespace

TEST_CASE("the cache is found by the variables of huggingface_hub, in its order") {
  const Variable home("HOME", "/home/someone"), xdg("XDG_CACHE_HOME", nullptr),
      hf("HF_HOME", nullptr), old("HUGGINGFACE_HUB_CACHE", nullptr), hub("HF_HUB_CACHE", nullptr);
  CHECK(model_cache() == "/home/someone/.cache/huggingface/hub");
  const Variable some_xdg("XDG_CACHE_HOME", "/caches");
  CHECK(model_cache() == "/caches/huggingface/hub");
  const Variable some_hf("HF_HOME", "~/hf");
  CHECK(model_cache() == "/home/someone/hf/hub");
  const Variable some_old("HUGGINGFACE_HUB_CACHE", "/old");
  CHECK(model_cache() == "/old");
  const Variable disk("FOVEA_TEST_DISK", "/disk"),
      some_hub("HF_HUB_CACHE", "${FOVEA_TEST_DISK}/$FOVEA_TEST_NOTHING/hub");
  CHECK(model_cache() == "/disk/$FOVEA_TEST_NOTHING/hub");
}

TEST_CASE("a model of the cache opens by its name, and is called by it, never by a hash") {
  const FakeModelCache cache;
  cache.add_model("some-org--tiny-bert");
  const ModelPlace place = find_model("some-org/tiny-bert");
  CHECK(place.path == cache.snapshot("some-org--tiny-bert", "abc123"));
  CHECK(place.name == "tiny-bert");
  CHECK(find_model("tiny-bert").path == place.path);  // as no other is called so
  CHECK(find_model(place.path).name == "tiny-bert");
  CHECK(find_model(cache.folder("some-org--tiny-bert")).path == place.path);
  for (const char* named : {"some-org/tiny-bert", "tiny-bert"}) {
    const std::string address = to_text(ModelAddress{.folder = named, .text = "the cat"});
    const Source source = open_source(address);
    CHECK(source.name == "tiny-bert: “the cat”");
    CHECK(source.path == address);
    CHECK(source.sequence.tokens.size() == 4);
    CHECK(is_source_there(address));
  }
  cache.add_model("other--tiny-bert");
  CHECK_SAYS(find_model("tiny-bert"), "several models of the cache", "other/tiny-bert",
             "some-org/tiny-bert");
  CHECK_THROWS_WITH_AS(open_source("some-org/tiny-bert"),
                       doctest::Contains("is a model: say what it reads with --text"), UsageError);
}

TEST_CASE(
    "a revision is a ref, or the hash of a snapshot, and without refs/main the newest counts") {
  const FakeModelCache cache;
  cache.add_model("o--m", "aaa");
  cache.add_model("o--m", "bbb");  // refs/main leads here now
  cache.add_ref("o--m", "v1", "aaa\n");
  CHECK(find_model("o/m").path == cache.snapshot("o--m", "bbb"));
  CHECK(find_model("o/m@v1").path == cache.snapshot("o--m", "aaa"));
  CHECK(find_model("o/m@aaa").path == cache.snapshot("o--m", "aaa"));
  CHECK_SAYS(find_model("o/m@v2"), "o/m", "no revision 'v2'", "aaa, bbb");
  CHECK_SAYS(find_model("o/m@../../x"), "does not exist");
  fs::remove(cache.folder("o--m") + "/refs/main");
  set_time(cache.snapshot("o--m", "bbb"), 1000);
  CHECK(find_model("o/m").path == cache.snapshot("o--m", "aaa"));
  cache.add_ref("o--m", "main", "../../../../etc");
  CHECK(find_model("o/m").path == cache.snapshot("o--m", "aaa"));
}

TEST_CASE("a path that exists comes before a name in the cache") {
  const FakeModelCache cache;
  cache.add_model("tiny");
  const TinyTextModel model;
  const fs::path before = fs::current_path();
  fs::current_path(fs::path(model.folder()).parent_path());
  const ModelPlace place = find_model("tiny");
  const std::string address = with_absolute_paths("model:tiny?input=words.txt");
  fs::current_path(before);
  CHECK(place.path == "tiny");
  CHECK(address == to_text({.folder = model.folder(),
                            .input = fs::path(model.folder()).parent_path() / "words.txt"}));
  CHECK(find_model("tiny").path == cache.snapshot("tiny", "abc123"));
  CHECK(with_absolute_paths("model:tiny?text=a") == "model:tiny?text=a");  // a name of the cache
}

TEST_CASE("a session holds the absolute folder of its model") {
  const TinyTextModel model;
  SessionFile file;
  file.session.source = "model:tiny?text=a";
  file.session.columns = {{.variant = "exact", .held = HeldHead{.source = "model:tiny?text=b"}}};
  file.session.views = {find_view("heatmap")};
  const fs::path before = fs::current_path();
  fs::current_path(fs::path(model.folder()).parent_path());
  const std::string text = text_of(file);
  fs::current_path(before);
  const SessionFile read = session_from("s.fovea.json", text);
  CHECK(read.session.source == model.address("a"));
  CHECK(read.session.columns[0].held->source == model.address("b"));
}

TEST_CASE("a model that has come back meanwhile can still be replaced by the one that was found") {
  const TinyTextModel model;
  CHECK(with_found(model.address("a"), model.folder(), "/found") ==
        to_text(ModelAddress{.folder = "/found", .text = "a"}));
  CHECK(with_found(to_text(ModelAddress{.folder = model.folder(), .input = "/gone"}), "/gone",
                   "/found") == to_text(ModelAddress{.folder = model.folder(), .input = "/found"}));
}

TEST_CASE("a name that is nowhere is answered by near ones, and by how to get it") {
  const FakeModelCache cache;
  CHECK_SAYS(find_model("some-org/tiny"), "neither a file nor in the local cache", cache.path(),
             "no models", "hf download some-org/tiny");
  for (const char* model :
       {"a--apple", "b--bert-tiny", "c--cherry", "d--Tiny-Bert", "e--elm", "f--fig"})
    cache.add_model(model);
  CHECK_SAYS(find_model("x/tiny-bert"), "has d/Tiny-Bert, ", " and 1 more",
             "hf download x/tiny-bert");
  CHECK_SAYS(open_source("x/tiny-bert"), "does not exist");
  CHECK_SAYS(find_model("a name with blanks"), "does not exist; expected the folder of a model");
}

TEST_CASE("an incomplete snapshot says what is missing") {
  const FakeModelCache cache;
  cache.add_file("o--m", "aaa", "tokenizer.json", "{}");
  CHECK_SAYS(find_model("o/m"), "config.json is missing", "hf download o/m");
  cache.add_file("o--m", "aaa", "config.json", R"({"model_type": "llama"})");
  CHECK_SAYS(find_model("o/m"), "its weights, model.safetensors, are missing");
  cache.add_file("o--m", "aaa", "model.safetensors.index.json",
                 R"({"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors",
                                    "c": "model-3.safetensors"}})");
  cache.add_file("o--m", "aaa", "model-1.safetensors", "x");
  write_bytes(cache.folder("o--m") + "/blobs/2.incomplete", "x");
  CHECK_SAYS(find_model("o/m"), "model-2.safetensors and 1 more are missing",
             "a download has not ended");
  cache.add_file("o--m", "aaa", "model-2.safetensors", "x");
  cache.add_file("o--m", "aaa", "model-3.safetensors", "x");
  CHECK(find_model("o/m").name == "m");
  fs::remove(cache.folder("o--m") + "/blobs/aaa-model-3.safetensors");
  CHECK_SAYS(find_model("o/m"), "model-3.safetensors is missing");
  cache.add_file("o--p", "aaa", "config.json", R"({"model_type": "llama"})");
  cache.add_file("o--p", "aaa", "pytorch_model.bin", "PK");
  CHECK_SAYS(find_model("o/p"), "pytorch_model.bin, a pickle", "it is not read",
             "save_pretrained(FOLDER)");
  fs::create_directories(cache.folder("o--q") + "/snapshots");
  CHECK_SAYS(find_model("o/q"), "has no snapshot", "hf download o/q");
}

TEST_CASE("a link that leads out of the cache is refused, one within it is followed") {
  const FakeModelCache cache;
  cache.add_model("o--m");
  const TemporaryDirectory elsewhere;
  const std::string secret = elsewhere.write("secret", "x"),
                    link = cache.snapshot("o--m", "abc123") + "/vocab.txt";
  fs::remove(link);
  fs::create_symlink(secret, link);
  CHECK_SAYS(find_model("o/m"), "vocab.txt", "leads out of the cache", secret);
  CHECK(find_model(cache.snapshot("o--m", "abc123")).name == "m");  // the user's own folder
  fs::remove(link);
  fs::create_directory_symlink(elsewhere.path(), link);
  CHECK_SAYS(find_model("o/m"), "leads out of the cache");
  fs::remove(link);
  CHECK_NOTHROW(find_model("o/m"));
  const TinyTextModel model;
  fs::create_directories(cache.folder("o--n") + "/snapshots");
  fs::create_directory_symlink(model.folder(), cache.snapshot("o--n", "aaa"));
  CHECK_SAYS(find_model("o/n"), "leads out of the cache");
}

TEST_CASE("all models of the cache are listed, the last used first") {
  const FakeModelCache cache;
  CHECK(cached_models().empty());
  cache.add_model("o--old");
  cache.add_model("o--new");
  for (const auto& [model, seconds] : {std::pair{"o--old", 1000}, {"o--new", 2000}})
    for (const auto& entry : fs::directory_iterator(cache.snapshot(model, "abc123")))
      if (entry.path().extension() == ".safetensors") set_time(entry.path(), seconds);
  cache.add_file("o--llama", "aaa", "config.json",
                 R"({"model_type": "llama", "num_hidden_layers": 32, "num_attention_heads": 4})");
  cache.add_file("o--llama", "aaa", "model.safetensors", std::string(1000, 'x'));
  set_time(cache.snapshot("o--llama", "aaa") + "/model.safetensors", 3000);
  for (const char* file : {"a.gguf", "b.gguf"})
    cache.add_file("o--two", "aaa", file, small_gguf().bytes());
  set_time(cache.snapshot("o--two", "aaa") + "/a.gguf", 5000);
  set_time(cache.snapshot("o--two", "aaa") + "/b.gguf", 4000);
  fs::create_directories(cache.path() + "/datasets--o--words/snapshots/aaa");
  const auto models = cached_models();
  REQUIRE(names_of(models) ==
          std::vector<std::string>{"o/two/a.gguf", "o/two/b.gguf", "o/llama", "o/new", "o/old"});
  CHECK(models[0].facts.architecture == "llama");
  CHECK(models[0].facts.layers == 30);
  CHECK_FALSE(models[0].facts.own);
  CHECK(find_model(models[0].name).path == models[0].path);
  CHECK(find_model(models[0].name).name == "Small LM");
  CHECK_SAYS(find_model("o/two"), "has 2 .gguf files", "a.gguf");
  CHECK_SAYS(find_model("o/two/c.gguf"), "is not in the snapshot");
  CHECK(models[2].facts.layers == 32);
  CHECK(models[2].facts.heads == 4);
  CHECK(models[2].facts.bytes == 1000);
  CHECK_FALSE(models[2].facts.own);
  CHECK(models[3].facts.own);
  CHECK(models[3].facts.architecture == "bert");
  CHECK(models[3].facts.layers == 2);
  CHECK(models[3].facts.heads == 2);
  CHECK(models[3].problem.empty());
}

TEST_CASE("law: counts of a model are those of its files, whatever their names") {
  const TemporaryDirectory folder;
  const std::string file = folder.write("small.gguf", small_gguf().bytes());
  const ModelFacts of_file = model_facts(file);
  CHECK(of_file.architecture == "llama");
  CHECK(of_file.name == "Small LM");
  CHECK(of_file.layers == 30);
  CHECK(of_file.heads == 9);
  CHECK(of_file.bytes == small_gguf().bytes().size());
  CHECK_FALSE(of_file.own);
  folder.write("model.safetensors", std::string(1000, 'x'));
  for (const char* layers : {"num_hidden_layers", "n_layer", "n_layers", "num_layers", "depth"})
    for (const char* heads : {"num_attention_heads", "n_head", "n_heads", "num_heads"})
      for (const char* part : {"", "text_config", "vision_config"}) {
        const Json counts{{layers, 5}, {heads, 3}};
        Json config{{"model_type", "other"}};
        if (*part)
          config[part] = counts;
        else
          config.update(counts);
        CAPTURE(config.dump());
        folder.write("config.json", config.dump());
        const ModelFacts facts = model_facts(folder.path());
        CHECK(facts.architecture == "other");
        CHECK(facts.layers == 5);
        CHECK(facts.heads == 3);
        CHECK(facts.bytes == 1000);
      }
}

TEST_CASE("law: a model of another program reads images if it has a processor and no tokenizer") {
  const std::string processors[] = {"", "preprocessor_config.json", "processor_config.json"};
  const std::string tokenizers[] = {
      "",           "tokenizer.json",  "tokenizer_config.json", "vocab.txt",
      "vocab.json", "tokenizer.model", "spiece.model"};
  for (const std::string& processor : processors)
    for (const std::string& tokenizer : tokenizers) {
      const TemporaryDirectory folder;
      folder.write("config.json", R"({"model_type": "other"})");
      for (const std::string& name : {processor, tokenizer})
        if (!name.empty()) folder.write(name, "{}");
      CAPTURE(processor);
      CAPTURE(tokenizer);
      CHECK(model_facts(folder.path()).reads_images == (!processor.empty() && tokenizer.empty()));
    }
}

TEST_CASE("a broken cache is listed as far as it can be read") {
  const FakeModelCache cache;
  cache.add_model("o--good");
  cache.add_file("o--bad", "aaa", "config.json", "{]");
  cache.add_file("o--bad", "aaa", "model.safetensors", "x");
  cache.add_file("o--odd", "aaa", "config.json", R"([1, {"num_hidden_layers": -1}])");
  cache.add_file("o--odd", "aaa", "model.safetensors", "x");
  cache.add_file("o--large", "aaa", "config.json", std::string(5 << 20, ' '));
  cache.add_file("o--large", "aaa", "model.safetensors", "x");
  cache.add_file("o--damaged", "aaa", "m.gguf", "GGUF");
  fs::create_directories(cache.folder("o--empty"));
  write_bytes(cache.path() + "/models--a-file", "x");
  fs::create_symlink("nowhere", cache.path() + "/models--o--dangling");
  fs::create_symlink("models--o--circle", cache.path() + "/models--o--circle");
  const auto models = cached_models();
  CHECK(models.size() == 9);
  for (const CachedModel& model : models) {
    CAPTURE(model.name);
    CHECK(model.problem.empty() == (model.name == "o/good" || model.name == "o/odd"));
  }
}

TEST_CASE("a file of a model stands for the model") {
  const TinyTextModel model;
  for (const char* name :
       {"config.json", "model.safetensors.index.json", "model-00001-of-00002.safetensors"}) {
    CAPTURE(name);
    CHECK(names_model(model.folder() + "/" + name));
    CHECK(find_model(model.folder() + "/" + name).path == model.folder());
    CHECK_THROWS_WITH_AS(open_source(model.folder() + "/" + name),
                         doctest::Contains("is a model: say what it reads"), UsageError);
  }
  model.file("tiny/pytorch_model.bin", "PK");
  CHECK(find_model(model.folder() + "/pytorch_model.bin").path == model.folder());
  // Heads that lie beside a config.json are heads, and words are words.
  fs::copy(FOVEA_ASSETS "/minilm/minilm-l6.safetensors", model.folder() + "/heads.safetensors");
  CHECK_FALSE(names_model(model.folder() + "/heads.safetensors"));
  CHECK_FALSE(names_model(model.folder() + "/vocab.txt"));
  CHECK(open_source(model.folder() + "/heads.safetensors").layers.size() > 1);
}

TEST_CASE("a file of a model that is not read says what to do") {
  const TemporaryDirectory scratch;
  for (const char* name : {"pytorch_model.bin", "m.pt", "m.pth", "m.ckpt"}) {
    CAPTURE(name);
    const std::string path = scratch.write(name, "PK\3\4");
    CHECK(names_model(path));
    CHECK_SAYS(open_source(path), path, "is a pickle", "it is not read", "safetensors");
  }
  CHECK_SAYS(open_source(scratch.write("m.onnx", "x")), "is an ONNX graph", "config.json");
  CHECK_SAYS(open_source(scratch.write("m.h5", "x")), "Flax or TensorFlow", "model.safetensors");
  CHECK_FALSE(names_model(scratch.write("numbers.bin", "x")));
  CHECK_SAYS(open_source(scratch.write("m.gguf", "x")), "m.gguf", "ends too early");
  const std::string gguf = scratch.write("tiny.Q8_0.gguf", small_gguf().bytes());
  CHECK_THROWS_WITH_AS(open_source(gguf), doctest::Contains("is a model: say what it reads"),
                       UsageError);
  CHECK(find_model(gguf).name == "Small LM");
  fs::create_directory(scratch / "only");
  const std::string only = scratch.write("only/m.gguf", small_gguf("").bytes());
  CHECK(find_model(scratch / "only").path == only);
  CHECK(find_model(scratch / "only").name == "m");
}

TEST_CASE("messages name a model and its text as a person reads them") {
  const TinyTextModel model;
  const std::string address = model.address("the cat: 100 %");
  Session session = standard_session(address, 4);
  session.layer = 7;
  CHECK_SAYS(check_session(session, open_source(address)),
             model.folder() + ": “the cat: 100 %”: layer 7 of the session");
  CHECK(readable_source("synthetic:golden") == "synthetic:golden");
  CHECK(readable_source("model:?") == "model:?");
}

TEST_CASE("the short name of a model can be read") {
  const auto name_of = [](const std::string& folder, const std::string& text) {
    return short_name(to_text(ModelAddress{.folder = folder, .text = text}));
  };
  CHECK(name_of("/models/all-MiniLM-L6-v2/", "Größe?") == "all-MiniLM-L6-v2: “Größe?”");
  CHECK(name_of("sentence-transformers/all-MiniLM-L6-v2", "a") == "all-MiniLM-L6-v2: “a”");
  CHECK(name_of("/c/models--o--my-model/snapshots/0123abc", "a") == "my-model: “a”");
  CHECK(name_of("/m/smol.Q8_0.gguf", std::string(40, 'x')) ==
        "smol.Q8_0: “" + std::string(32, 'x') + "…”");
  CHECK(short_name(to_text(ModelAddress{.folder = "/m/vit", .input = "/p/cat.jpg"})) ==
        "vit: cat.jpg");
}
