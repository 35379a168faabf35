// The certificate: what was checked, completely, and what came of it. Its bytes depend on the plan, the subject and the
// machine's instruction set, not on shards, order or interruptions.
#pragma once

#include <string>
#include <vector>

#include "tools/certify/results.hpp"

namespace rope::certify {

// A block of the plan has no result.
class Incomplete : public InputError {
 public:
  using InputError::InputError;
};

Json certificate(const Plan& plan, const Identity& identity, const Results& results);  // throws Incomplete

// A certificate that was read: its parts agree with each other.
struct Certificate {
  Plan plan;
  Identity identity;
  bool conforms = false;
  std::vector<std::vector<std::string>> blocks;  // short digests, per sweep
  Json json;
};

// Throws InputError: changed, malformed, or its plan is not the one it names; Incomplete: not all was checked.
Certificate read_certificate(const std::filesystem::path& path);

// Of all sweeps; what the claims do not cover is not among them.
std::int64_t checked_elements(const Json& certificate);

// What a recomputed block says; empty: the same as the certificate.
std::string difference(const Certificate& certificate, const BlockResult& again);

}  // namespace rope::certify
