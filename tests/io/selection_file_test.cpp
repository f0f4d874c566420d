// The pairs of plans as a file: in each form they are read back as they were, in whole blocks where
// the form has blocks.
#include "io/selection_file.h"

#include <doctest/doctest.h>

#include "analysis/support.h"
#include "harness.h"
#include "io/tensor_source.h"
#include "messages.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr Index tokens = 70, heads = 2;
constexpr Lengths its_block{16, 8};

Plan plan_of(const std::string& pairs, bool causal) {
  const Matrix zeros(tokens, 4);
  const Problem problem = make_problem(zeros, zeros, zeros, 0, causal);
  return *make_plan(*backends().front(), problem, "drawn", {{"pairs", pairs}});
}

/// A source of q, k, v and what the file keeps.
Source source_that_keeps(const TemporaryDirectory& directory, const SelectionFile& file,
                         bool causal) {
  std::vector<OutTensor> tensors;
  for (const char* name : {"q", "k", "v"})
    tensors.push_back(
        {name, {heads, tokens, 4}, std::vector<float>(std::size_t{heads * tokens * 4})});
  tensors.insert(tensors.end(), file.tensors.begin(), file.tensors.end());
  auto metadata = file.metadata;
  metadata["causal"] = causal ? "true" : "false";
  const std::string path = directory / "kept.safetensors";
  write_safetensors(path, tensors, metadata);
  return source_from_tensors(read_safetensors(path));
}

}  // namespace

TEST_CASE("kept pairs of a plan are written in every form, and read back") {
  const TemporaryDirectory directory;
  for (const bool causal : {false, true}) {
    const Plan first = plan_of("0-69/0-15 !16-31/4 33-47/24-31 60/60", causal),
               second = plan_of("all !5-50/0-69", causal);
    for (const SelectionFormKind& kind : selection_forms()) {
      const SelectionForm form = kind.form;
      INFO(kind.id << " causal " << causal);
      const bool one = form == SelectionForm::csr;
      std::vector<const Plan*> plans{&first, &second};
      if (one) {
        CHECK(contains(message_of<UsageError>([&] { selection_file(plans, form, its_block); }),
                       "hold the pairs of one head; found 2 heads"));
        plans.pop_back();
      }
      const SelectionFile file = selection_file(plans, form, its_block);
      const Source source = source_that_keeps(directory, file, causal);
      double added = 0;
      for (std::size_t h = 0; h < plans.size(); ++h) {
        const Selection read = read_selection(source.layers[0].imported.at(0).kept,
                                              static_cast<Index>(h), {tokens, tokens});
        CHECK(read.block == (kind.has_blocks ? its_block : Lengths{1, 1}));
        const auto pairs = pairs_of(read, nullptr);
        const Support support(*plans[h]);
        std::vector<bool> kept(std::size_t{tokens * tokens}), blocks(kept.size());
        for (Index i = 0; i < tokens; ++i)
          support.for_parts(i, {0, tokens}, [&](const Support::Part& part) {
            for (Index j = part.keys.begin; j < part.keys.end; ++j) {
              kept[static_cast<std::size_t>(i * tokens + j)] = true;
              blocks[static_cast<std::size_t>(i / its_block.queries * tokens +
                                              j / its_block.keys)] = true;
            }
          });
        bool same = true;
        for (Index i = 0; i < tokens; ++i)
          for (Index j = 0; j < tokens; ++j) {
            const bool its = kept[static_cast<std::size_t>(i * tokens + j)];
            const bool touched = blocks[static_cast<std::size_t>(i / its_block.queries * tokens +
                                                                 j / its_block.keys)];
            same &= pairs->admits(i, j) == (kind.has_blocks ? touched : its);
            added += touched && !its && is_admissible(*plans[h], i, j);
          }
        CHECK(same);
      }
      CHECK(file.added_pairs == (kind.has_blocks ? added : 0));
      CHECK((!kind.has_blocks || added > 0));
    }
  }
}

TEST_CASE("a block is full for FlexAttention if the plan has all of its pairs") {
  const Plan plan = plan_of("0-31/0-15 32-40/0-7", true);
  const Plan* const plans[] = {&plan};
  const SelectionFile file = selection_file(plans, SelectionForm::flex, its_block);
  const auto tensor = [&](const std::string& name) {
    const auto at = std::ranges::find(file.tensors, name, &OutTensor::name);
    REQUIRE(at != file.tensors.end());
    return std::get<std::vector<std::int32_t>>(at->values);
  };
  // Rows of blocks 0-15, 16-31, 32-47, ...: the first is cut by the causal mask, the third by hand.
  CHECK(tensor("kv_num_blocks") == std::vector<std::int32_t>{2, 0, 1, 0, 0});
  CHECK(tensor("full_kv_num_blocks") == std::vector<std::int32_t>{0, 2, 0, 0, 0});
  CHECK(tensor("full_kv_indices") == std::vector<std::int32_t>{0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
  CHECK(file.metadata.at("block_size") == "16, 8");
}
