// The plan of a certification: the list of all sweeps, in one canonical form, whose digest names it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/certify/sweep.hpp"

namespace rope::certify {

using Json = nlohmann::ordered_json;

struct Plan {
  std::string version;  // of ropecheck
  Grade grade;          // whose bound decides
  Json claims;          // of the kernel
  std::vector<Sweep> sweeps;

  std::int64_t blocks() const;
  std::int64_t elements() const;
};

// A block of the whole plan.
struct PlacedBlock {
  std::size_t sweep = 0;
  std::int64_t block = 0;  // in that sweep
};
PlacedBlock placed(const Plan& plan, std::int64_t block);

// Throws InputError if the claims and the request leave nothing to sweep.
Plan make_plan(const Request& request, Grade grade, std::string version);

Json to_json(const Plan& plan);
Plan plan_from_json(const Json& json, const std::string& where);  // throws InputError
std::string digest(const Plan& plan);                             // sha256 of its canonical text

std::string sha256_of(std::string_view text);

// Whether the plan was made for these claims; empty: it was.
std::string claims_difference(const Plan& plan, const Claims& claims);

// The claimed features that the plan's kernel did not claim: no block of the plan is about them.
std::vector<std::string> features_since(const Plan& plan, const Claims& claims);

// What two plans differ in, in words; empty: nothing.
std::string difference(const Plan& found, const Plan& expected);

}  // namespace rope::certify
