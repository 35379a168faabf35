#include "tools/certify/identity.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "golden/sha256.hpp"
#include "reference/input_error.hpp"
#include "reference/spec_json.hpp"

namespace rope::certify {
namespace {

HashedFile hashed(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream) throw InputError(fmt::format("{}: cannot be read, so the kernel cannot be identified", path));
  return {std::filesystem::path(path).filename().string(), sha256_of(content)};
}

std::string listed(const std::vector<HashedFile>& files) {
  std::vector<std::string> names;
  for (const HashedFile& file : files) names.push_back(file.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string difference(const std::vector<HashedFile>& found, const std::vector<HashedFile>& expected) {
  for (const HashedFile& file : found) {
    const auto same = std::ranges::find(expected, file.name, &HashedFile::name);
    if (same != expected.end() && same->sha256 != file.sha256) {
      return fmt::format("{} has the sha256 {}; expected {}", file.name, file.sha256, same->sha256);
    }
  }
  return fmt::format("the kernel's files are {}; expected {}", listed(found), listed(expected));
}

}  // namespace

std::string instruction_set() {
  utsname system{};
  uname(&system);
  std::string text = system.machine;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    const std::vector<std::string> flags{std::istream_iterator<std::string>(words), {}};
    for (const char* known : {"sse4_2", "f16c", "avx", "avx2", "fma", "avx512f", "avx512bw", "avx512_bf16",
                              "avx512_fp16", "asimd", "asimdhp", "bf16", "sve"}) {
      if (std::ranges::find(flags, known) != flags.end()) text += fmt::format(" {}", known);
    }
    break;
  }
  return text;
}

Identity identity_of(const Plan& plan, const std::string& subject, const std::vector<std::string>& files) {
  Identity identity{digest(plan), plan.version, subject, {}, instruction_set()};
  for (const std::string& path : files) identity.files.push_back(hashed(path));
  std::ranges::sort(identity.files, {}, [](const HashedFile& file) { return std::pair(file.name, file.sha256); });
  return identity;
}

Json to_json(const Identity& identity) {
  Json json{{"plan", identity.plan},
            {"version", identity.version},
            {"subject", identity.subject},
            {"files", Json::array()},
            {"instruction_set", identity.instruction_set}};
  for (const HashedFile& file : identity.files) json["files"].push_back({{"name", file.name}, {"sha256", file.sha256}});
  return json;
}

Identity identity_from_json(const Json& json, const std::string& where) {
  ObjectReader fields(json, where);
  Identity identity;
  fields.read("plan", identity.plan);
  fields.read("version", identity.version);
  fields.read("subject", identity.subject);
  fields.read("instruction_set", identity.instruction_set);
  const Json* files = fields.find("files");
  if (files == nullptr || !files->is_array()) throw InputError(fmt::format("{}.files: expected an array", where));
  for (const Json& one : *files) {
    ObjectReader file(one, where + ".files");
    HashedFile& added = identity.files.emplace_back();
    file.read("name", added.name);
    file.read("sha256", added.sha256);
    file.finish();
  }
  fields.finish();
  return identity;
}

std::string difference(const Identity& found, const Identity& expected) {
  const auto differs = [](const char* what, const std::string& is, const std::string& should) {
    return fmt::format("its {} is \"{}\"; expected \"{}\"", what, is, should);
  };
  if (found.version != expected.version) return differs("version of ropecheck", found.version, expected.version);
  if (found.subject != expected.subject) return differs("subject", found.subject, expected.subject);
  if (found.files != expected.files) return difference(found.files, expected.files);
  if (found.plan != expected.plan) return differs("plan", found.plan, expected.plan);
  if (found.instruction_set != expected.instruction_set) {
    return differs("instruction set", found.instruction_set, expected.instruction_set);
  }
  return "";
}

}  // namespace rope::certify
