#include "tools/worker/client/hello.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tools/worker/client/subject_error.hpp"
#include "tools/worker/protocol/claims_text.hpp"
#include "tools/worker/protocol/wire.hpp"

namespace rope::worker {
namespace {

using nlohmann::json;

std::chrono::milliseconds time_to_compile(double seconds) {
  constexpr double longest = 3600;
  if (!(seconds >= 0 && seconds <= longest)) {
    throw std::invalid_argument(
        fmt::format("first_call_s: {} s; expected 0 to {} s for the first call", seconds, longest));
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

void read_claims(const json& given, Claims& claims) try {
  claims.capabilities = claims_from_json(given, claims.head_dims);
} catch (const std::exception& error) {
  throw SubjectError(fmt::format("the kernel's claims cannot be used: {}", error.what()));
}

}  // namespace

Hello read_hello(const json& words, Claims& claims, WorkerProgram kind) {
  read_claims(words.at("claims"), claims);
  // In a copy of Claims this pointer is still right as long as the subject lives.
  claims.capabilities.head_dims = claims.head_dims.empty() ? nullptr : claims.head_dims.data();
  Hello hello{"", {wire::whole_in(words, "base", std::uint64_t{0}), wire::whole_in(words, "slot", std::uint64_t{0})}};
  const bool on_cpu = claims.capabilities.device == ROPE_CPU;
  if (kind == WorkerProgram::library_host) {
    claims.compiled = claims.packed_tensors = true;
    // On a device tensors are copied, as a whole and for one call.
    claims.concurrent_calls = claims.far_tensors = on_cpu;
    return hello;
  }
  hello.claims_note = wire::printable(words.value("claims_note", ""), 1 << 10);
  hello.first_call = time_to_compile(words.value("first_call_s", 0.0));
  if (kind == WorkerProgram::python) {
    const bool strided = claims.has(ROPE_FEATURE_STRIDED);
    claims.packed_tensors = strided || (claims.capabilities.layouts & ROPE_BIT(ROPE_LAYOUT_PACKED)) != 0;
    claims.far_tensors = strided && on_cpu;
    return hello;
  }
  claims.compiled = words.value("kind", "") == "native";
  claims.concurrent_calls = words.value("beside", false);
  claims.far_tensors = words.value("far", false);
  claims.packed_tensors = words.value("packed", false);
  hello.in_caller = words.value("in_caller", false);
  return hello;
}

void FirstClaims::check(const Claims& claims) {
  json words = claims_to_json(claims.capabilities);
  words["program"] = {claims.compiled, claims.concurrent_calls, claims.far_tensors, claims.packed_tensors};
  const std::string now = words.dump();
  const std::scoped_lock lock(mutex_);
  if (said_.empty()) said_ = now;
  if (now == said_) return;
  throw SubjectError(fmt::format(
      "the kernel claims {} now, and claimed {} before; claims must be the same in every process", now, said_));
}

std::string shown_name_in(const json& words) try {
  return wire::shown_name(words.at("name").get_ref<const std::string&>());
} catch (const std::invalid_argument& error) {
  throw std::invalid_argument(fmt::format("name: {}", error.what()));
}

}  // namespace rope::worker
