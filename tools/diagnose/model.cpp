#include "tools/diagnose/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "reference/norm.hpp"
#include "tools/diagnose/factor_rows.hpp"
#include "tools/diagnose/memory.hpp"

namespace rope::diagnosis {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Loaded {
  double value = 0;
  double bound = 0;
};

// The pair's factors in a row, and what its bounds are made of: they are the same for all heads of a token.
struct PairFactors {
  std::size_t first = 0, second = 0;                   // the features whose factors turn it
  double first_angle_term = 0, second_angle_term = 0;  // of the bounds
  double gain = 0;
};

}  // namespace

// What no change touches before the call is made.
struct Model::AsSpecified {
  std::vector<Elements> inputs, outputs;  // q, k
  TokenPositions positions;
  std::vector<Row> rows;  // of the same tokens, before a backward pass transposes them

  explicit AsSpecified(const Call& before) : positions(before) {}
};

bool makes_rows(const Change& c) {
  return c.params || c.theta || c.position || c.pair_of || c.axis_of || c.angle || c.turn || c.table || c.table_dtype;
}

namespace {

class Run {
 public:
  Run(const Call& before, const Expectation& expectation, const Change& change, const Model::AsSpecified& specified)
      : call_(before),
        expectation_(expectation),
        change_(change),
        specified_(specified),
        params_(params_of(before)),
        rows_(before, change, params_, specified.positions),
        makes_rows_(specified.rows.empty() || makes_rows(change)),
        inputs_(specified.inputs.begin(), specified.inputs.end()),
        outputs_(specified.outputs.begin(), specified.outputs.end()) {
    params_.largest_position = specified.positions.largest();
    if (change_.params) change_.params(call_, params_);
    const int half = params_.rotary_dim / 2;
    for (int p = 0; p < half; ++p) {
      const bool split = params_.pairing == Pairing::half_split;
      pairs_.emplace_back(split ? p : 2 * p, split ? p + half : 2 * p + 1);
    }
    if (change_.pairs) change_.pairs(params_, pairs_);
    factors_.resize(pairs_.size());
  }

  Prediction all() {
    for (const bool key : {false, true}) {
      if (key && !call_.k) continue;
      const Tensor& in = key ? *call_.k : call_.q;
      for (std::int64_t b = 0; b < in.shape[0]; ++b) {
        for (std::int64_t s = 0; s < in.shape[1]; ++s) token({call_, params_, key, b, s, 0, &result_.outside});
      }
    }
    collect(false);
    if (call_.k) collect(true);
    return std::move(result_);
  }

  std::vector<Row> rows() {
    std::vector<Row> all;
    for (std::int64_t b = 0; b < call_.q.shape[0]; ++b) {
      for (std::int64_t s = 0; s < call_.q.shape[1]; ++s) all.push_back(rows_.made({call_, params_, false, b, s}));
    }
    return all;
  }

 private:
  void note(OutsideAccess access) {
    if (!result_.outside) result_.outside = std::move(access);
  }

  Memory& output(bool key) { return call_.in_place ? inputs_[key] : outputs_[key]; }

  void token(RowContext spot) {
    turn_to(row_of(spot));
    const std::int64_t written_heads = spot.in().shape[2];
    const int heads = change_.heads ? change_.heads(spot) : static_cast<int>(written_heads);
    for (spot.head = 0; spot.head < heads; ++spot.head) {
      if (change_.by_head && spot.head > 0) turn_to(row_of(spot));
      if (change_.beside) change_.beside(spot);
      const Write write = change_.write ? change_.write(spot) : Write::rotated;
      if (write == Write::nothing) continue;
      is_read_here_ = !change_.source && spot.head < written_heads;
      in_offset_ = row_offset(spot.in(), {spot.batch, spot.seq, spot.head});
      out_offset_ = row_offset(spot.out(), {spot.batch, spot.seq, spot.head});
      if (write == Write::copied) {
        for (int f = 0; f < params_.head_dim; ++f) save(spot, f, copied(read(spot, f)));
        continue;
      }
      for (std::size_t p = 0; p < pairs_.size(); ++p) {
        if (change_.still && change_.still(params_, static_cast<int>(p))) {
          pass(spot, pairs_[p].first);
          pass(spot, pairs_[p].second);
        } else {
          rotate(spot, p);
        }
      }
      for (int f = params_.rotary_dim; f < params_.head_dim; ++f) pass(spot, f);
    }
  }

  Row row_of(const RowContext& spot) {
    const std::size_t token = specified_.positions.index(spot.batch, spot.seq);
    Row row = makes_rows_ ? rows_.made(spot) : specified_.rows[token];
    if (change_.row) change_.row(spot, pairs_, row);
    if (change_.makes != Factors::both) keep_the_others(specified_.rows[token], row);
    if (params_.backward) {
      if (change_.direct) {
        change_.direct(params_, pairs_, row);
      } else {
        transpose(row);
      }
    }
    return row;
  }

  // The bound of a result allows the larger of its two angles.
  void keep_the_others(const Row& specified, Row& row) const {
    if (row.cos.size() != specified.cos.size()) return;
    (change_.makes == Factors::sin ? row.cos : row.sin) = change_.makes == Factors::sin ? specified.cos : specified.sin;
    for (std::size_t f = 0; f < row.phi.size(); ++f) {
      row.phi[f] = std::max(std::fabs(row.phi[f]), std::fabs(specified.phi[f]));
    }
  }

  // The row that the next heads are turned by.
  void turn_to(Row row) {
    row_ = std::move(row);
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      const auto whose = [&](int feature) {
        return static_cast<std::size_t>(change_.factors_of ? change_.factors_of(params_, static_cast<int>(p), feature)
                                                           : feature);
      };
      PairFactors& factors = factors_[p];
      factors.first = whose(pairs_[p].first);
      factors.second = whose(pairs_[p].second);
      if (!has_factors(factors)) continue;
      const std::size_t i = factors.first, j = factors.second;
      const std::size_t pair = std::min(p, expectation_.pairs() - 1);
      factors.first_angle_term = expectation_.angle_term(pair, row_.phi[i]);
      factors.second_angle_term = expectation_.angle_term(pair, row_.phi[j]);
      factors.gain = std::max(norm_of(row_.cos[i], row_.sin[i]), norm_of(row_.cos[j], row_.sin[j]));
    }
  }

  bool has_factors(const PairFactors& pair) const {
    return pair.first < row_.cos.size() && pair.second < row_.cos.size();
  }

  void transpose(Row& row) const {
    for (const auto& [first, second] : pairs_) {
      double& a = row.sin[static_cast<std::size_t>(first)];
      double& b = row.sin[static_cast<std::size_t>(second)];
      std::swap(a, b);
      a = -a;
      b = -b;
    }
  }

  int place(int feature) const {
    const int at = feature + params_.rotary_offset;
    return feature < params_.head_dim && at >= params_.head_dim ? at - params_.head_dim : at;
  }

  std::int64_t index(const RowContext& spot, bool output, int feature, std::int64_t row) const {
    const Tensor& tensor = output ? spot.out() : spot.in();
    const std::int64_t right = row + place(feature) * tensor.strides[3];
    return change_.index ? change_.index(spot, output, place(feature), right) : right;
  }

  Loaded read(const RowContext& spot, int feature) {
    if (!is_read_here_) return read_of_any(spot, feature);
    return element(spot.key, index(spot, false, feature, in_offset_));
  }

  // Of any row, not only of the one that is turned.
  Loaded read_of_any(const RowContext& spot, int feature) {
    RowContext from = spot;
    if (change_.source) change_.source(spot, feature, from.key, from.head);
    if (from.key && !call_.k) from.key = false;
    from.head %= std::max<std::int64_t>(from.in().shape[2], 1);
    const std::int64_t row = row_offset(from.in(), {from.batch, from.seq, from.head});
    return element(from.key, index(from, false, feature, row));
  }

  Loaded element(bool key, std::int64_t at) {
    const Memory& memory = inputs_[key];
    if (!memory.holds(at)) {
      note({key ? "k" : "q", false, at + memory.origin});
      return {0, infinity};
    }
    return {memory.value[memory.at(at)], memory.bound[memory.at(at)]};
  }

  Loaded load(const RowContext& spot, Loaded x) const {
    if (change_.load) x.value = change_.load(spot, x.value);
    return x;
  }

  void save(const RowContext& spot, int feature, Loaded y) {
    if (change_.skips && change_.skips(spot, feature)) return;
    Memory& memory = output(spot.key);
    const std::int64_t at = index(spot, true, feature, out_offset_);
    if (!memory.holds(at)) {
      note({std::string(spot.key ? "k" : "q") + (call_.in_place ? "" : "_out"), true, at + memory.origin});
      return;
    }
    const double held = memory.value[memory.at(at)];
    if (change_.adds) y.value += held;
    memory.value[memory.at(at)] = y.value;
    memory.bound[memory.at(at)] = y.bound;
    memory.written[memory.at(at)] = change_.adds && std::isnan(held) ? 0 : 1;  // a NaN keeps its bits in a sum
  }

  void rotate(const RowContext& spot, std::size_t p) {
    const auto [first, second] = pairs_[p];
    const PairFactors& factors = factors_[p];
    if (!has_factors(factors)) return;
    const std::size_t i = factors.first, j = factors.second;
    const Row& row = row_;
    const Loaded a = load(spot, read(spot, first));
    const Loaded b = load(spot, read(spot, second));
    const double l = params_.lambda;
    Values y = {l * (a.value * row.cos[i] - b.value * row.sin[i]), l * (b.value * row.cos[j] + a.value * row.sin[j])};
    const double r = norm_of(a.value, b.value) * factors.gain;
    const auto bound = [&](double angle_term) {
      if (row.any || a.bound + b.bound == infinity) return infinity;
      return expectation_.bound(angle_term, r) + std::fabs(l) * (a.bound + b.bound);
    };
    if (change_.rotate) {
      y = change_.rotate(spot, {a.value, b.value}, {row.cos[i], row.cos[j]}, {row.sin[i], row.sin[j]}, y);
    }
    if (change_.operand_key && call_.k) mix(spot, {first, second}, y);
    const double first_bound = bound(factors.first_angle_term);
    store(spot, first, {y.first, first_bound});
    double inherited = 0;
    if (change_.rereads) {
      y.second = l * (b.value * row.cos[j] + rounded(spot.out().dtype, y.first) * row.sin[j]);
      inherited = std::fabs(l * row.sin[j]) * first_bound;
    }
    store(spot, second, {y.second, bound(factors.second_angle_term) + inherited});
  }

  void mix(const RowContext& spot, std::pair<int, int> pair, Values& y) {
    const auto operand = [&](bool second, bool across) {
      RowContext from = spot;
      from.key = change_.operand_key(spot, second, across);
      return load(from, read_of_any(from, second != across ? pair.second : pair.first)).value;
    };
    const auto i = static_cast<std::size_t>(pair.first), j = static_cast<std::size_t>(pair.second);
    y.first = params_.lambda * (operand(false, false) * row_.cos[i] - operand(false, true) * row_.sin[i]);
    y.second = params_.lambda * (operand(true, false) * row_.cos[j] + operand(true, true) * row_.sin[j]);
  }

  void store(const RowContext& spot, int feature, Loaded y) {
    if (change_.store) y.value = change_.store(spot, feature, y.value);
    save(spot, feature, y);
  }

  void pass(const RowContext& spot, int feature) {
    Loaded x = read(spot, feature);
    if (change_.pass) x.value = change_.pass(spot, feature, x.value);
    save(spot, feature, copied(x));
  }

  // Rounded, if the output's type is narrower.
  Loaded copied(Loaded x) const {
    x.bound += expectation_.copy_bound(x.value);
    return x;
  }

  void collect(bool key) {
    const Tensor& tensor = key ? call_.k_result() : call_.q_result();
    const Memory& memory = output(key);
    std::int64_t inside = 0;
    std::size_t next = result_.value.size();
    const std::size_t count = next + static_cast<std::size_t>(tensor.count());
    result_.value.resize(count);
    result_.bound.resize(count);
    result_.written.resize(count);
    for_each_row(tensor, [&](const RowIndex& row, const std::byte*) {
      const std::int64_t first = row_offset(tensor, row);
      for (std::int64_t f = 0; f < tensor.shape[3]; ++f, ++next) {
        const std::size_t at = memory.at(first + f * tensor.strides[3]);
        result_.value[next] = memory.value[at];
        result_.bound[next] = memory.bound[at];
        result_.written[next] = memory.written[at];
        inside += memory.written[at];
      }
    });
    if (std::accumulate(memory.written.begin(), memory.written.end(), std::int64_t{0}) != inside) result_.gaps = true;
  }

  const Call& call_;
  const Expectation& expectation_;
  const Change& change_;
  const Model::AsSpecified& specified_;
  Params params_;
  FactorRows rows_;
  bool makes_rows_;
  PairList pairs_;
  std::vector<Memory> inputs_, outputs_;         // q, k
  Row row_;                                      // of the token that is turned
  std::vector<PairFactors> factors_;             // of each pair in that row
  std::int64_t in_offset_ = 0, out_offset_ = 0;  // of the head that is turned
  bool is_read_here_ = false;                    // its inputs are its own
  Prediction result_;
};

}  // namespace

Params params_of(const Call& call) {
  Params p;
  p.head_dim = static_cast<int>(call.q.shape[3]);
  p.rotary_dim = call.rotary_dim;
  p.rotary_offset = call.rotary_offset;
  p.pairing = call.pairing;
  p.backward = call.direction == Direction::backward;
  p.lambda = call.attention_factor;
  p.source = call.source;
  p.base = call.base;
  p.scaling = call.scaling;
  p.sequence_length = call.sequence_length;
  p.axis.assign(static_cast<std::size_t>(call.rotary_dim / 2), 0);
  if (call.axis) std::memcpy(p.axis.data(), call.axis->data(), p.axis.size() * sizeof(int));
  return p;
}

std::int64_t largest_position(const Call& call) {
  std::int64_t most = 0;
  for (std::int64_t b = 0; b < call.q.shape[0]; ++b) {
    for (std::int64_t s = 0; s < call.q.shape[1]; ++s) {
      for (std::int64_t m : token_position(call, b, s)) most = std::max(most, m);
    }
  }
  return most;
}

Model::Model(const Call& before, const Expectation& expectation) : before_(before), expectation_(expectation) {
  auto specified = std::make_shared<AsSpecified>(before);
  specified->inputs.emplace_back(before.q);
  if (before.k) specified->inputs.emplace_back(*before.k);
  if (!before.in_place) {
    specified->outputs.emplace_back(*before.q_out);
    if (before.k) specified->outputs.emplace_back(*before.k_out);
  }
  specified->rows = Run(before, expectation, {}, *specified).rows();
  specified_ = std::move(specified);
}

Prediction Model::predict(const Change& change) const { return Run(before_, expectation_, change, *specified_).all(); }

Values second_turn(const RowContext& s, Values cos, Values sin, Values y) {
  const double l = s.params.lambda;
  return {l * (y.first * cos.first - y.second * sin.first), l * (y.second * cos.second + y.first * sin.second)};
}

double rounded(DType dtype, double value) {
  std::uint64_t bits = 0;
  rope::store(dtype, &bits, value);
  return rope::load(dtype, &bits);
}

double cut_off(DType dtype, double value) {
  const double nearest = rounded(dtype, value);
  if (std::isnan(nearest) || std::fabs(nearest) <= std::fabs(value)) return nearest;
  std::uint64_t bits = 0;
  rope::store(dtype, &bits, nearest);
  --bits;  // for a finite value or an infinity: the next one towards zero
  return rope::load(dtype, &bits);
}

}  // namespace rope::diagnosis
