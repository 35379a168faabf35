#include "tools/judge/call/oracles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "reference/error_model.hpp"
#include "reference/pair_features.hpp"

namespace rope {
namespace {

// Of oracles for specs, and of those for given frequencies. One of 64 pairs has up to 1.5 MB of rows. With four times
// as much memory for rows and tables, a run at level full takes as long, and 70 MB more.
constexpr std::size_t most_kept = 256;
constexpr std::size_t most_row_bytes = std::size_t{4} << 20;
constexpr std::size_t most_table_bytes = std::size_t{4} << 20;
constexpr std::int64_t most_rows_ahead = 1024;

}  // namespace

const Oracles::Tables& Oracles::tables(const RopeSpec& spec, std::int64_t sequence_length, const TableKind& kind,
                                       std::int64_t rows, const MoreRows& make) {
  OfSpec& of = kept(spec, sequence_length);
  Tables& tables = of.tables[kind];
  const std::int64_t have = tables.first.shape.empty() ? 0 : tables.first.shape[0];
  if (have > 0 && have >= rows) return tables;
  // A table that grows will grow again.
  const std::int64_t wanted = std::max(rows, have + std::min(have / 2, most_rows_ahead));
  // To make a large one anew costs less than to have the shorter one beside it.
  if (tables.first.bytes.size() >= large_tensor) {
    table_bytes_ -= 2 * tables.first.bytes.size();
    tables = {};
  }
  Tables made = make(tables, wanted);
  give_back_memory();
  Tables& result = of.tables[kind];
  table_bytes_ += 2 * (made.first.bytes.size() - result.first.bytes.size());
  return result = std::move(made);
}

void Oracles::give_back_memory() {
  if (table_bytes_ <= most_table_bytes) return;
  for (OfSpec& of : of_specs_) forget_tables(of);
}

void Oracles::forget_tables(OfSpec& of) {
  for (const auto& [kind, tables] : of.tables) table_bytes_ -= 2 * tables.first.bytes.size();
  of.tables.clear();
}

std::shared_ptr<Oracle> Oracles::keep(const std::string& key, const std::function<RotationPlan()>& make) {
  const auto found = kept_.find(key);
  if (found != kept_.end()) return found->second;
  std::size_t bytes = 0;
  for (const auto& [of, oracle] : kept_) bytes += oracle->bytes();
  if (kept_.size() >= most_kept || bytes > most_row_bytes) kept_.clear();
  return kept_.emplace(key, std::make_shared<Oracle>(make())).first->second;
}

std::shared_ptr<Oracle> Oracles::shared(const RopeSpec& spec, std::int64_t sequence_length) {
  return kept(spec, sequence_length).oracle;
}

const Oracles::Constants& Oracles::constants(const RopeSpec& spec, std::int64_t sequence_length) {
  std::optional<Constants>& constants = kept(spec, sequence_length).constants;
  if (!constants) constants = {direct_constants(spec, sequence_length), loosest_constants(spec, sequence_length)};
  return *constants;
}

Oracles::OfSpec& Oracles::kept(const RopeSpec& spec, std::int64_t sequence_length) {
  const std::int64_t length = follows_length(spec.scaling) ? sequence_length : 0;
  const auto found = std::find_if(of_specs_.rbegin(), of_specs_.rend(),
                                  [&](const OfSpec& kept) { return kept.length == length && kept.spec == spec; });
  if (found != of_specs_.rend()) {
    of_specs_.splice(of_specs_.end(), of_specs_, std::prev(found.base()));
  } else {
    RotationPlan plan = compile(spec, length);
    check_frequencies(plan);
    std::size_t bytes = 0;
    for (const OfSpec& of : of_specs_) bytes += of.oracle->bytes();
    while (of_specs_.size() >= most_kept || bytes > most_row_bytes) {
      bytes -= of_specs_.front().oracle->bytes();
      forget_tables(of_specs_.front());
      of_specs_.pop_front();
    }
    of_specs_.push_back({spec, length, std::make_shared<Oracle>(std::move(plan)), {}});
  }
  return of_specs_.back();
}

std::shared_ptr<Oracle> Oracles::of_given_frequencies(const Call& call, int head_dim) {
  const Tensor& theta = *call.theta;
  std::string key = fmt::format("{} {} {} {} {} ", head_dim, call.rotary_offset, name(call.pairing), name(theta.dtype),
                                call.attention_factor);
  key.append(reinterpret_cast<const char*>(theta.bytes.data()), theta.bytes.size());
  if (call.axis) key.append(reinterpret_cast<const char*>(call.axis->bytes.data()), call.axis->bytes.size());
  return keep(key, [&] {
    RotationPlan plan;
    plan.head_dim = head_dim;
    plan.lambda = call.attention_factor;
    for (int p = 0; p < call.rotary_dim / 2; ++p) {
      const auto i = static_cast<std::size_t>(p);
      const double given = load(theta.dtype, theta.data() + i * size_of(theta.dtype));
      const int axis = call.axis ? static_cast<int>(load(DType::i32, call.axis->data() + i * 4)) : 0;
      const auto [first, second] = pair_features(call.pairing, call.rotary_dim, call.rotary_offset, p);
      plan.pairs.push_back({first, second, axis, Real(given)});
    }
    return plan;
  });
}

}  // namespace rope
