#include "tools/certify/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "golden/sha256.hpp"
#include "reference/input_error.hpp"
#include "reference/spec_json.hpp"
#include "tools/worker/protocol/claims_text.hpp"
#include "tools/worker/protocol/wire.hpp"

namespace rope::certify {
namespace {

constexpr int plan_schema = 1;

rope_capabilities with_head_dims(const Claims& claims) {
  rope_capabilities all = claims.capabilities;
  all.head_dims = claims.head_dims.empty() ? nullptr : claims.head_dims.data();
  all.head_dim_count = static_cast<std::int32_t>(claims.head_dims.size());
  return all;
}

Json sweep_json(const Sweep& sweep) {
  return {{"kind", sweep.kind},
          {"over", sweep.over},
          {"size", sweep.size},
          {"block", sweep.block},
          {"case", to_text(sweep.base)}};
}

Sweep sweep_from_json(const Json& json, const std::string& where) {
  ObjectReader fields(json, where);
  Sweep sweep;
  std::string text;
  fields.read("kind", sweep.kind);
  fields.read("over", sweep.over);
  fields.read("size", sweep.size);
  fields.read("block", sweep.block);
  fields.read("case", text);
  fields.finish();
  sweep.base = case_from_text(text);
  kind_called(sweep.kind);
  if (sweep.size < 1 || sweep.block < 1) throw InputError(fmt::format("{}: size and block must be above 0", where));
  return sweep;
}

}  // namespace

std::string sha256_of(std::string_view text) {
  return sha256({reinterpret_cast<const std::byte*>(text.data()), text.size()});
}

std::int64_t Plan::blocks() const {
  std::int64_t count = 0;
  for (const Sweep& sweep : sweeps) count += sweep.blocks();
  return count;
}

std::int64_t Plan::elements() const {
  std::int64_t count = 0;
  for (const Sweep& sweep : sweeps) count += sweep.size;
  return count;
}

PlacedBlock placed(const Plan& plan, std::int64_t block) {
  for (std::size_t i = 0; i < plan.sweeps.size(); ++i) {
    if (block < plan.sweeps[i].blocks()) return {i, block};
    block -= plan.sweeps[i].blocks();
  }
  throw std::out_of_range("a block that the plan does not have");
}

Plan make_plan(const Request& request, Grade grade, std::string version) {
  Plan plan{std::move(version), grade, worker::claims_to_json(with_head_dims(request.claims)), {}};
  for (const std::string& wanted : request.kinds) kind_called(wanted);
  for (const Kind& kind : kinds()) {
    const bool wanted = request.kinds.empty() || std::ranges::find(request.kinds, kind.name) != request.kinds.end();
    for (const Selection& selection : request.selections) {
      if (wanted) kind.propose(request, selection, plan.sweeps);
    }
  }
  if (plan.sweeps.empty()) {
    throw InputError("nothing to certify: the kernel's claims cover no call of the selection; see `ropecheck verify`");
  }
  std::erase_if(plan.sweeps, [&](const Sweep& sweep) { return !has_words(sweep, request.only); });
  if (plan.sweeps.empty()) {
    throw InputError(fmt::format("--only: no sweep has the words \"{}\"; `certify KERNEL --dry-run` lists all",
                                 request.only));
  }
  return plan;
}

Json to_json(const Plan& plan) {
  Json json{{"schema", plan_schema},
            {"tool", "ropecheck"},
            {"version", plan.version},
            {"required", name(plan.grade)},
            {"claims", plan.claims},
            {"sweeps", Json::array()}};
  for (const Sweep& sweep : plan.sweeps) json["sweeps"].push_back(sweep_json(sweep));
  return json;
}

Plan plan_from_json(const Json& json, const std::string& where) {
  ObjectReader fields(json, where);
  Plan plan;
  int found_schema = 0;
  std::string tool, required;
  fields.read("schema", found_schema);
  if (found_schema != plan_schema) {
    throw InputError(fmt::format("{}: schema {} is not known; expected {}", where, found_schema, plan_schema));
  }
  fields.read("tool", tool);
  fields.read("version", plan.version);
  fields.read("required", required);
  const std::optional<Grade> grade = grade_from_name(required);
  if (!grade) throw InputError(fmt::format("{}.required: \"{}\" is not a grade; expected A1 to C3", where, required));
  plan.grade = *grade;
  if (const Json* claims = fields.find("claims")) plan.claims = *claims;
  if (const Json* sweeps = fields.find("sweeps"); sweeps != nullptr && sweeps->is_array()) {
    for (std::size_t i = 0; i < sweeps->size(); ++i) {
      plan.sweeps.push_back(sweep_from_json((*sweeps)[i], fmt::format("{}.sweeps[{}]", where, i)));
    }
  }
  fields.finish();
  if (plan.sweeps.empty()) throw InputError(fmt::format("{}: sweeps are missing", where));
  return plan;
}

std::string digest(const Plan& plan) { return sha256_of(to_json(plan).dump()); }

std::string claims_difference(const Plan& plan, const Claims& claims) {
  const Json found = worker::claims_to_json(with_head_dims(claims));
  if (found == plan.claims) return "";
  for (const auto& [key, value] : found.items()) {
    const auto expected = plan.claims.find(key);
    if (expected == plan.claims.end()) return fmt::format("the plan knows no claim \"{}\"", key);
    if (*expected != value) {
      return fmt::format("the kernel claims {} {}; expected {}", key, value.dump(), expected->dump());
    }
  }
  return "the kernel claims less than the plan has";
}

std::vector<std::string> features_since(const Plan& plan, const Claims& claims) {
  const auto then = plan.claims.value("features", std::vector<std::string>());
  std::vector<std::string> now = wire::names_of(claims.capabilities.features, wire::features);
  std::erase_if(now, [&](const std::string& feature) { return std::ranges::find(then, feature) != then.end(); });
  return now;
}

std::string difference(const Plan& found, const Plan& expected) {
  if (found.version != expected.version) {
    return fmt::format("version {}; expected {}", found.version, expected.version);
  }
  if (found.grade != expected.grade) {
    return fmt::format("required grade {}; expected {}", name(found.grade), name(expected.grade));
  }
  if (found.claims != expected.claims) return "other claims of the kernel";
  if (found.sweeps.size() != expected.sweeps.size()) {
    return fmt::format("{} sweeps; expected {}", found.sweeps.size(), expected.sweeps.size());
  }
  for (std::size_t i = 0; i < found.sweeps.size(); ++i) {
    if (found.sweeps[i] == expected.sweeps[i]) continue;
    return fmt::format("sweep {} is {}; expected {}", i + 1, sweep_json(found.sweeps[i]).dump(),
                       sweep_json(expected.sweeps[i]).dump());
  }
  return "";
}

}  // namespace rope::certify
