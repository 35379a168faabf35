// Who was certified, by what, on what: results of another identity are not mixed in.
#pragma once

#include <string>
#include <vector>

#include "tools/certify/plan.hpp"

namespace rope::certify {

struct HashedFile {
  std::string name;  // without its folder
  std::string sha256;
  friend bool operator==(const HashedFile&, const HashedFile&) = default;
};

struct Identity {
  std::string plan;                // digest
  std::string version;             // of ropecheck
  std::string subject;             // as the person names it
  std::vector<HashedFile> files;   // that the kernel's process runs code from; empty: a built-in
  std::string instruction_set;     // of the machine; a kernel may choose its code by it

  friend bool operator==(const Identity&, const Identity&) = default;
};

// `files`: paths. Throws InputError if one cannot be read.
Identity identity_of(const Plan& plan, const std::string& subject, const std::vector<std::string>& files);

// "x86_64 avx2 fma"
std::string instruction_set();

Json to_json(const Identity& identity);
Identity identity_from_json(const Json& json, const std::string& where);  // throws InputError

// The first thing that differs, in words: "libmine.so has the sha256 12..; expected 34..". Empty: nothing.
std::string difference(const Identity& found, const Identity& expected);

}  // namespace rope::certify
