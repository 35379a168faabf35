// An export that takes a fraction of a second, and its answers.
#pragma once

#include <nlohmann/json.hpp>

#include "impls/builtin.hpp"
#include "tests/conformance/requirements.hpp"
#include "tests/unit/command/program.hpp"
#include "tools/judge/case/build_call.hpp"
#include "tools/judge/run/kernel_subject.hpp"
#include "tools/vectors/export.hpp"

namespace rope::test {

// Half-split in f32 from tables, with an offset and k.
inline vectors::ExportOptions small_options(std::vector<std::string> only) {
  vectors::ExportOptions options;
  options.claims = vectors::claims_of_files();
  rope_capabilities& can = options.claims.capabilities;
  can.pairings = ROPE_BIT(ROPE_HALF_SPLIT);
  can.angle_sources = ROPE_BIT(ROPE_TABLES);
  can.features = ROPE_BIT(ROPE_FEATURE_OFFSET) | ROPE_BIT(ROPE_FEATURE_KEY);
  options.selection.dtypes = {DType::f32};
  options.selection.level = Level::quick;
  options.selection.spec.emplace();
  options.selection.spec->head_dim = options.selection.spec->rotary_dim = 8;
  options.selection.only = std::move(only);
  options.version = "0.0.0";
  return options;
}

inline NpyArray read_array(const std::filesystem::path& folder, const vectors::Array& array) {
  return read_npy(folder / array.file);
}

// Writes half_split's results for every exported call, only from the files.
inline void answer(const vectors::Vectors& exported) {
  for (const vectors::CaseRecord& record : exported.cases) {
    for (const vectors::CallRecord& made : record.calls) {
      const auto attrs = nlohmann::json::parse(made.attrs);
      Call call;
      call.rotary_dim = attrs.at("rotary_dim");
      call.position_offset = attrs.at("offset");
      call.sequence_length = attrs.at("sequence_length");
      call.attention_factor = attrs.at("attention_factor");
      for (const vectors::Array& array : made.inputs) {
        Tensor tensor = Tensor::contiguous(array.dtype, array.shape);
        tensor.bytes = read_array(exported.folder, array).bytes;
        if (array.name == "q") call.q = std::move(tensor);
        if (array.name == "k") call.k = std::move(tensor);
        if (array.name == "cos") call.cos = std::move(tensor);
        if (array.name == "sin") call.sin = std::move(tensor);
      }
      call.q_out = call.q;
      call.k_out = call.k;
      if (KernelSubject(half_split_kernel()).apply(call).status != ROPE_OK) throw std::runtime_error(made.id);
      for (const vectors::Array& output : made.outputs) {
        write_npy(exported.folder / output.file, vectors::packed(output.name == "k_out" ? *call.k_out : *call.q_out));
      }
    }
  }
}

}  // namespace rope::test
