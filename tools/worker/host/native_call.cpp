#include "tools/worker/host/native_call.hpp"

#include <cstring>
#include <stdexcept>

#include "tools/worker/protocol/handed_call.hpp"

namespace rope::worker {
namespace {

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  T take() {
    if (rest_.size() < sizeof(T)) throw std::runtime_error("a call ends too early");
    T value;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }

  bool is_at_end() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

struct Files {
  int inputs;
  int outputs;
};

void map_tensors(Reader& message, std::uint32_t count, GuardedMemory& memory, const Files& files,
                 std::vector<MappedPages>* mapped) {
  std::vector<HandedPart> parts;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto tensor = message.take<HandedTensor>();
    parts.clear();
    for (std::uint32_t p = 0; p < tensor.parts; ++p) parts.push_back(message.take<HandedPart>());
    const bool writable = tensor.writable != 0;
    std::byte* start = nullptr;
    try {
      start = memory.map({tensor.slot, tensor.room}, writable ? files.outputs : files.inputs, parts, writable);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error("tensor " + std::string(tensor.named()) + ": " + error.what());
    }
    if (mapped == nullptr || tensor.goes_to_device == 0 || parts.empty()) continue;
    mapped->push_back(
        {std::string(tensor.named()), start, parts[0].length, tensor.at, tensor.first, tensor.last, writable});
  }
}

}  // namespace

HandedCalls take_over(std::span<const std::byte> bytes, GuardedMemory& memory, int inputs, int outputs,
                      bool for_device) {
  Reader message(bytes);
  const Files files{inputs, outputs};
  const auto head = message.take<HandedHead>();
  HandedCalls calls;
  calls.id = head.id;
  const auto read = [&](NativeCall& call, std::uint32_t tensors) {
    call.call = message.take<rope_call>();
    map_tensors(message, tensors, memory, files, for_device ? &call.pages : nullptr);
  };
  read(calls.judged, head.tensors);
  if (head.has_companion != 0) read(calls.companion.emplace(), head.companion_tensors);
  if (!message.is_at_end()) throw std::runtime_error("a call goes on behind its end");
  return calls;
}

}  // namespace rope::worker
