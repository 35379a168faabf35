#include "tools/worker/client/call_message.hpp"

#include <fmt/format.h>

#include <span>

#include "impls/scaling_fields.hpp"
#include "tools/worker/protocol/wire.hpp"

namespace rope::worker {
namespace {

class Text {
 public:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
  }
  void name(std::string_view key, wire::Names names, std::int32_t value) {
    put(",\"{}\":", key);
    wire::append_enumerator(buffer_, names, value);
  }
  void number(std::string_view key, double value) {
    put(",\"{}\":", key);
    wire::append_double(buffer_, value);
  }
  void numbers(std::string_view key, std::span<const double> values) {
    put(",\"{}\":[", key);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) put(",");
      wire::append_double(buffer_, values[i]);
    }
    put("]");
  }
  std::string take() { return fmt::to_string(buffer_); }

 private:
  fmt::memory_buffer buffer_;
};

void put_scaling(Text& text, const rope_scaling& scaling, const Call& call) {
  std::string_view separator = ",\"scaling\":{";
  for (const auto& mode : scaling_modes) {
    text.put("{}\"{}\":{}", separator, mode.name, scaling.*mode.member);
    separator = ",";
  }
  text.name("kind", wire::scalings, scaling.kind);
  for (const auto& number : scaling_numbers) {
    if (scaling.*number.member != 0) text.number(number.name, scaling.*number.member);
  }
  for (const auto& [name, values] : lists_of(call.scaling)) text.numbers(name, *values);
  text.put("}}");
}

void put_pages(Text& text, const TensorMapping& placed) {
  if (!placed.is_far()) return;
  std::string_view separator = ",\"pages\":[";
  for (const PageRun& island : placed.islands) {
    text.put("{}[{},{},{}]", separator, island.offset, island.packed, island.length);
    separator = ",";
  }
  text.put("]");
}

void put_attributes(Text& text, const rope_call& bound, const Call& call) {
  text.put("{{\"rotary_dim\":{},\"rotary_offset\":{}", bound.rotary_dim, bound.rotary_offset);
  text.name("pairing", wire::pairings, bound.pairing);
  text.name("direction", wire::directions, bound.direction);
  text.name("source", wire::sources, bound.angle_source);
  text.number("attention_factor", bound.attention_factor);
  text.number("base", bound.base);
  text.put(",\"axes\":{},\"offset\":{},\"sequence_length\":{},\"in_place\":{}", bound.positions.axes,
           bound.positions.offset, bound.sequence_length, call.in_place);
  text.name("device", wire::devices, bound.device);
  text.put(",\"device_index\":{}", bound.device_index);
  put_scaling(text, bound.scaling, call);
  text.put("}}");
}

// "attrs":{..},"t":[..]
void put_call(Text& text, const rope_call& bound, const Call& call, const CallLayout& layout, bool beside) {
  text.put("\"attrs\":");
  put_attributes(text, bound, call);
  text.put(",\"t\":[");
  std::string_view separator;
  const TensorMapping* before = nullptr;
  for (const TensorMapping& placed : layout.tensors) {
    if (placed.beside != beside) continue;
    text.put("{}{{\"name\":\"{}\"", separator, placed.name);
    text.name("dtype", wire::dtypes, static_cast<std::int32_t>(placed.tensor->dtype));
    text.put(",\"shape\":[{}],\"strides\":[{}],\"map\":[{},{}],\"at\":{},\"ro\":{}{}",
             wire::listed(placed.tensor->shape, ","), wire::listed(placed.tensor->kernel_strides(), ","),
             placed.map_offset, placed.map_length, placed.at(), placed.read_only ? 1 : 0,
             placed.tensor->null ? ",\"null\":true" : "");
    if (placed.shares) text.put(",\"in\":\"{}\"", before->name);
    before = &placed;
    put_pages(text, placed);
    text.put("}}");
    separator = ",";
  }
  text.put("]");
}

}  // namespace

std::string attributes(const BoundCall& call) {
  Text text;
  put_attributes(text, call.bound, call.call);
  return text.take();
}

std::string call_message(const BoundCall& judged, const BoundCall* companion, const CallLayout& layout) {
  Text text;
  put_call(text, judged.bound, judged.call, layout, false);
  if (companion != nullptr) {
    text.put(",\"beside\":{{");
    put_call(text, companion->bound, companion->call, layout, true);
    text.put("}}");
  }
  return text.take();
}

}  // namespace rope::worker
