#include "tools/vectors/call_record.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <nlohmann/json.hpp>

#include "golden/sha256.hpp"
#include "tools/judge/case/build_call.hpp"

namespace rope {
namespace {

using vectors::Array;
using vectors::DescribedCall;

DescribedCall described(const Case& c) {
  Oracles oracles;
  Call call = build_call(c, oracles);
  return vectors::describe(call);
}

Case small_case() {
  Case c;
  c.spec.head_dim = c.spec.rotary_dim = 8;
  c.batch = 2;
  c.key_heads = 1;
  c.form = PositionForm::shared;
  return c;
}

TEST_CASE("call record: a file holds the elements in C order, whatever the strides") {
  const DescribedCall plain = described(small_case());
  for (const Layout layout : {Layout::strided, Layout::seq_last, Layout::reversed}) {
    Case c = small_case();
    c.layout = layout;
    const DescribedCall other = described(c);
    REQUIRE(other.contents.size() == plain.contents.size());
    for (std::size_t i = 0; i < plain.contents.size(); ++i) {
      CAPTURE(plain.record.inputs[i].name);
      CHECK(other.contents[i].bytes == plain.contents[i].bytes);
    }
  }
  const NpyArray q = parse_npy(plain.contents.at(0).bytes, "q");
  CHECK(q.shape == std::vector<std::int64_t>{2, 4, 2, 8});
  CHECK(q.type == NpyType::f4);
}

TEST_CASE("call record: shared positions are one row") {
  const DescribedCall call = described(small_case());
  const Array& positions = call.record.inputs.at(2);
  CHECK(positions.name == "positions");
  CHECK(positions.shape == std::vector<std::int64_t>{1, 1, 4});
  const NpyArray array = parse_npy(call.contents.at(2).bytes, "positions");
  std::int64_t values[4];
  std::memcpy(values, array.bytes.data(), sizeof values);
  CHECK(std::vector(values, values + 4) == std::vector<std::int64_t>{0, 1, 2, 3});
}

TEST_CASE("call record: it equals the call") {
  Case c = small_case();
  c.dtype = DType::bf16;
  const DescribedCall call = described(c);
  std::vector<std::string> inputs, outputs;
  for (const Array& array : call.record.inputs) inputs.push_back(array.name);
  for (const Array& array : call.record.outputs) outputs.push_back(array.name);
  CHECK(inputs == std::vector<std::string>{"q", "k", "positions", "cos", "sin"});
  CHECK(outputs == std::vector<std::string>{"q_out", "k_out"});
  CHECK(parse_npy(call.contents.at(0).bytes, "q").type == NpyType::u2);
  CHECK(call.record.outputs[0].dtype == DType::f32);
  const auto attrs = nlohmann::json::parse(call.record.attrs);
  CHECK(attrs.at("rotary_dim") == 8);
  CHECK(attrs.at("pairing") == "half_split");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CHECK(call.record.inputs[i].file == call.contents[i].file);
    CHECK(call.record.inputs[i].sha256 == sha256(call.contents[i].bytes));
    CHECK(call.record.inputs[i].file == "arrays/" + call.record.inputs[i].sha256.substr(0, 24) + ".npy");
  }
}

TEST_CASE("call record: equal calls have one digest, and every difference changes it") {
  const std::string plain = described(small_case()).record.digest;
  CHECK(described(small_case()).record.digest == plain);
  const auto changed = [&](const auto& change) {
    Case c = small_case();
    change(c);
    return described(c).record.digest;
  };
  CHECK(changed([](Case& c) { c.seed = 2; }) != plain);
  CHECK(changed([](Case& c) { c.start = 1; }) != plain);
  CHECK(changed([](Case& c) { c.out_dtype = DType::f64; }) != plain);
  CHECK(changed([](Case& c) { c.spec.pairing = Pairing::interleaved; }) != plain);
  CHECK(changed([](Case& c) { c.direction = Direction::backward; }) != plain);
  CHECK(changed([](Case& c) { c.sequence_length = 77; }) != plain);
  CHECK(changed([](Case& c) { c.key_heads = 0; }) != plain);
  CHECK(changed([](Case& c) { c.spec.attention_factor = 2; }) != plain);
  Oracles oracles;
  Call call = build_call(small_case(), oracles);
  call.q.bytes[0] ^= std::byte{1};
  CHECK(vectors::describe(call).record.digest != plain);
}

TEST_CASE("call record: a name gives the outputs their files") {
  vectors::CallRecord record = described(small_case()).record;
  vectors::name_call(record, "ROT-01.0001.1");
  CHECK(record.outputs.at(0).file == "responses/ROT-01.0001.1.q_out.npy");
  CHECK(record.outputs.at(1).file == "responses/ROT-01.0001.1.k_out.npy");
}

TEST_CASE("call record: a tensor without elements is a file without data") {
  Case c = small_case();
  c.batch = 0;
  const DescribedCall call = described(c);
  const NpyArray q = parse_npy(call.contents.at(0).bytes, "q");
  CHECK(q.shape.at(0) == 0);
  CHECK(q.bytes.empty());
}

}  // namespace
}  // namespace rope
