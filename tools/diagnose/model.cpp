#include "tools/diagnose/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "reference/norm.hpp"
#include "tools/diagnose/kept_frequencies.hpp"

namespace rope::diagnosis {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The elements of a tensor's memory, padding included, and the uncertainty of each.
struct Memory {
  std::vector<double> value, bound;
  std::vector<char> written;
  std::int64_t origin = 0;

  explicit Memory(const Tensor& tensor) : origin(tensor.origin) {
    const std::size_t size = size_of(tensor.dtype);
    value.resize(tensor.bytes.size() / size);
    for (std::size_t i = 0; i < value.size(); ++i) value[i] = rope::load(tensor.dtype, tensor.bytes.data() + i * size);
    bound.assign(value.size(), 0);
    written.assign(value.size(), 0);
  }

  bool holds(std::int64_t index) const {
    return index + origin >= 0 && index + origin < static_cast<std::int64_t>(value.size());
  }
  std::size_t at(std::int64_t index) const { return static_cast<std::size_t>(index + origin); }
};

struct Loaded {
  double value = 0;
  double bound = 0;
};

double table_value(const Tensor& table, DType dtype, std::int64_t element, bool& outside) {
  const std::int64_t at = element * static_cast<std::int64_t>(size_of(dtype));
  if (at < 0 || at + static_cast<std::int64_t>(size_of(dtype)) > static_cast<std::int64_t>(table.bytes.size())) {
    outside = true;
    return 0;
  }
  return rope::load(dtype, table.bytes.data() + at);
}

class Run {
 public:
  Run(const Call& before, const Expectation& expectation, const Change& change)
      : call_(before), expectation_(expectation), change_(change), params_(params_of(before)) {
    if (change_.params) change_.params(call_, params_);
    exact_angles_ = call_.q.dtype == DType::f64;
    const int half = params_.rotary_dim / 2;
    for (int p = 0; p < half; ++p) {
      const bool split = params_.pairing == Pairing::half_split;
      pairs_.emplace_back(split ? p : 2 * p, split ? p + half : 2 * p + 1);
    }
    if (change_.pairs) change_.pairs(params_, pairs_);
    inputs_.emplace_back(call_.q);
    if (call_.k) inputs_.emplace_back(*call_.k);
    if (!call_.in_place) {
      outputs_.emplace_back(*call_.q_out);
      if (call_.k) outputs_.emplace_back(*call_.k_out);
    }
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

 private:
  void note(OutsideAccess access) {
    if (!result_.outside) result_.outside = std::move(access);
  }

  Memory& output(bool key) { return call_.in_place ? inputs_[key] : outputs_[key]; }

  void token(Spot spot) {
    Row factors = row_of(spot);
    const int heads = change_.heads ? change_.heads(spot) : static_cast<int>(spot.in().shape[2]);
    for (spot.head = 0; spot.head < heads; ++spot.head) {
      if (change_.by_head && spot.head > 0) factors = row_of(spot);
      if (change_.beside) change_.beside(spot);
      const Write write = change_.write ? change_.write(spot) : Write::rotated;
      if (write == Write::nothing) continue;
      if (write == Write::copied) {
        for (int f = 0; f < params_.head_dim; ++f) save(spot, f, read(spot, f));
        continue;
      }
      for (std::size_t p = 0; p < pairs_.size(); ++p) {
        if (change_.still && change_.still(params_, static_cast<int>(p))) {
          pass(spot, pairs_[p].first);
          pass(spot, pairs_[p].second);
        } else {
          rotate(spot, p, factors);
        }
      }
      for (int f = params_.rotary_dim; f < params_.head_dim; ++f) pass(spot, f);
    }
  }

  std::vector<long double> theta(const Spot& spot) {
    std::vector<long double> theta;
    if (params_.source == AngleSource::frequencies) {
      for (int p = 0; p < params_.rotary_dim / 2; ++p) {
        bool outside = false;
        theta.push_back(table_value(*call_.theta, call_.theta->dtype, p, outside));
      }
    } else {
      theta = kept_frequencies(params_.scaling,
                               {params_.head_dim, params_.rotary_dim, params_.base, params_.sequence_length});
    }
    if (change_.theta) change_.theta(spot, theta);
    return theta;
  }

  long double position(const Spot& spot, int axis) const {
    const std::vector<std::int64_t> given = token_position(call_, spot.batch, spot.seq);
    const auto at = static_cast<std::size_t>(std::clamp<int>(axis, 0, static_cast<int>(given.size()) - 1));
    const auto right = static_cast<long double>(given[at]);
    return change_.position ? change_.position(spot, static_cast<int>(at), right) : right;
  }

  int pair_of(int feature) const {
    const int half = std::max(params_.rotary_dim / 2, 1);
    const int p = params_.pairing == Pairing::interleaved ? feature / 2 : feature % half;
    return change_.pair_of ? change_.pair_of(params_, feature, p) : p;
  }

  int axis_of(int pair) const {
    const auto p = static_cast<std::size_t>(pair);
    return p < params_.axis.size() ? params_.axis[p] : 0;
  }

  Row row_of(const Spot& spot) {
    const auto features = static_cast<std::size_t>(params_.rotary_dim);
    Row row{std::vector<double>(features), std::vector<double>(features), std::vector<double>(features), false};
    if (params_.source == AngleSource::tables) {
      read_tables(spot, row);
    } else {
      compute(spot, row);
    }
    if (change_.row) change_.row(spot, pairs_, row);
    if (params_.backward) {
      if (change_.direct) {
        change_.direct(params_, pairs_, row);
      } else {
        transpose(row);
      }
    }
    return row;
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

  void compute(const Spot& spot, Row& row) {
    if (theta_.empty()) theta_ = theta(spot);
    const auto count = static_cast<std::size_t>(params_.rotary_dim / 2);
    std::vector<double> cosine(count), sine(count), angle(count);
    for (std::size_t p = 0; p < count; ++p) {
      long double m = position(spot, axis_of(static_cast<int>(p)));
      if (std::isnan(m)) {
        row.any = true;
        m = 0;
      }
      const long double t = p < theta_.size() ? theta_[p] : 0;
      const long double phi = change_.angle ? change_.angle(spot, m, t, m * t) : m * t;
      angle[p] = static_cast<double>(phi);
      cosine[p] = exact_angles_ ? static_cast<double>(std::cos(phi)) : std::cos(angle[p]);
      sine[p] = exact_angles_ ? static_cast<double>(std::sin(phi)) : std::sin(angle[p]);
      if (change_.turn) change_.turn(params_, cosine[p], sine[p]);
    }
    for (int f = 0; f < params_.rotary_dim; ++f) {
      const auto p = static_cast<std::size_t>(std::clamp<int>(pair_of(f), 0, static_cast<int>(count) - 1));
      const auto i = static_cast<std::size_t>(f);
      row.cos[i] = cosine[p];
      row.sin[i] = sine[p];
      row.phi[i] = angle[p];
    }
  }

  void read_tables(const Spot& spot, Row& row) {
    const Tensor& cosine = *call_.cos;
    const bool full = cosine.shape[1] == call_.rotary_dim;
    const DType dtype = change_.table_dtype ? change_.table_dtype(call_, cosine.dtype) : cosine.dtype;
    for (int f = 0; f < params_.rotary_dim; ++f) {
      const int p = pair_of(f);
      const int axis = change_.axis_of ? change_.axis_of(call_, f, axis_of(p)) : axis_of(p);
      const long double given = position(spot, axis);
      if (std::isnan(given)) {
        row.any = true;
        continue;
      }
      // A position that was read as another type may be any number. Beyond 2^40 no table has a row, and up to it the
      // products of rows and strides do not overflow.
      constexpr long double far_beyond = 0x1p40L;
      const auto m = static_cast<std::int64_t>(std::llround(std::clamp(given, -far_beyond, far_beyond)));
      const auto value = [&](const Tensor& table, bool sine) {
        std::int64_t at = m, column = full ? f : p;
        if (change_.table) change_.table(call_, sine, at, column);
        bool outside = false;
        const double v = table_value(table, dtype, at * table.strides[0] + column, outside);
        if (outside) {
          row.any = true;
          note({sine ? "sin" : "cos", false, at * table.strides[0] + column});
        }
        return v;
      };
      row.cos[static_cast<std::size_t>(f)] = value(cosine, false);
      row.sin[static_cast<std::size_t>(f)] = value(*call_.sin, true);
    }
  }

  std::int64_t index(const Spot& spot, const Tensor& tensor, bool output, int feature) const {
    const std::int64_t right = row_offset(tensor, {spot.batch, spot.seq, spot.head}) + feature * tensor.strides[3];
    return change_.index ? change_.index(spot, output, feature, right) : right;
  }

  Loaded read(const Spot& spot, int feature) {
    Spot from = spot;
    if (change_.source) change_.source(spot, feature, from.key, from.head);
    if (from.key && !call_.k) from.key = false;
    from.head %= std::max<std::int64_t>(from.in().shape[2], 1);
    const Memory& memory = inputs_[from.key];
    const std::int64_t at = index(from, from.in(), false, feature);
    if (!memory.holds(at)) {
      note({from.key ? "k" : "q", false, at + memory.origin});
      return {0, infinity};
    }
    return {memory.value[memory.at(at)], memory.bound[memory.at(at)]};
  }

  Loaded load(const Spot& spot, int feature) {
    Loaded x = read(spot, feature);
    if (change_.load) x.value = change_.load(spot, x.value);
    return x;
  }

  void save(const Spot& spot, int feature, Loaded y) {
    if (change_.skips && change_.skips(spot, feature)) return;
    Memory& memory = output(spot.key);
    const std::int64_t at = index(spot, spot.out(), true, feature);
    if (!memory.holds(at)) {
      note({std::string(spot.key ? "k" : "q") + (call_.in_place ? "" : "_out"), true, at + memory.origin});
      return;
    }
    memory.value[memory.at(at)] = y.value;
    memory.bound[memory.at(at)] = y.bound;
    memory.written[memory.at(at)] = 1;
  }

  void rotate(const Spot& spot, std::size_t p, const Row& row) {
    const auto [first, second] = pairs_[p];
    const auto factors_of = [&](int feature) {
      const int whose = change_.factors_of ? change_.factors_of(params_, static_cast<int>(p), feature) : feature;
      return static_cast<std::size_t>(whose);
    };
    const std::size_t i = factors_of(first), j = factors_of(second);
    if (i >= row.cos.size() || j >= row.cos.size()) return;
    const Loaded a = load(spot, first);
    const Loaded b = load(spot, second);
    const double l = params_.lambda;
    Values y = {l * (a.value * row.cos[i] - b.value * row.sin[i]), l * (b.value * row.cos[j] + a.value * row.sin[j])};
    const auto bound = [&](std::size_t f, double r) {
      if (row.any || a.bound + b.bound == infinity) return infinity;
      const std::size_t pair = std::min(p, expectation_.pairs() - 1);
      return expectation_.bound(pair, row.phi[f], r) + std::fabs(l) * (a.bound + b.bound);
    };
    const double gain = std::max(norm_of(row.cos[i], row.sin[i]), norm_of(row.cos[j], row.sin[j]));
    const double r = norm_of(a.value, b.value) * gain;
    if (change_.rotate) {
      y = change_.rotate(spot, {a.value, b.value}, {row.cos[i], row.cos[j]}, {row.sin[i], row.sin[j]}, y);
    }
    if (change_.operand_key && call_.k) mix(spot, {first, second}, row, y);
    store(spot, first, {y.first, bound(i, r)});
    double inherited = 0;
    if (change_.rereads_from && static_cast<int>(p) >= *change_.rereads_from) {
      y.second = l * (b.value * row.cos[j] + rounded(spot.out().dtype, y.first) * row.sin[j]);
      inherited = std::fabs(l * row.sin[j]) * bound(i, r);
    }
    store(spot, second, {y.second, bound(j, r) + inherited});
  }

  void mix(const Spot& spot, std::pair<int, int> pair, const Row& row, Values& y) {
    const auto operand = [&](bool second, bool across) {
      Spot from = spot;
      from.key = change_.operand_key(spot, second, across);
      return load(from, second != across ? pair.second : pair.first).value;
    };
    const auto i = static_cast<std::size_t>(pair.first), j = static_cast<std::size_t>(pair.second);
    y.first = params_.lambda * (operand(false, false) * row.cos[i] - operand(false, true) * row.sin[i]);
    y.second = params_.lambda * (operand(true, false) * row.cos[j] + operand(true, true) * row.sin[j]);
  }

  void store(const Spot& spot, int feature, Loaded y) {
    if (change_.store) y.value = change_.store(spot, feature, y.value);
    save(spot, feature, y);
  }

  void pass(const Spot& spot, int feature) {
    Loaded x = read(spot, feature);
    if (change_.pass) x.value = change_.pass(spot, feature, x.value);
    x.bound += expectation_.copy_bound(x.value);
    save(spot, feature, x);
  }

  void collect(bool key) {
    const Tensor& tensor = key ? call_.k_result() : call_.q_result();
    const Memory& memory = output(key);
    std::int64_t inside = 0;
    const std::size_t count = result_.value.size() + static_cast<std::size_t>(tensor.count());
    result_.value.reserve(count);
    result_.bound.reserve(count);
    result_.written.reserve(count);
    for_each_row(tensor, [&](const RowIndex& row, const std::byte*) {
      const std::int64_t first = row_offset(tensor, row);
      for (std::int64_t f = 0; f < tensor.shape[3]; ++f) {
        const std::size_t at = memory.at(first + f * tensor.strides[3]);
        result_.value.push_back(memory.value[at]);
        result_.bound.push_back(memory.bound[at]);
        result_.written.push_back(memory.written[at]);
        inside += memory.written[at];
      }
    });
    if (std::accumulate(memory.written.begin(), memory.written.end(), std::int64_t{0}) != inside) result_.gaps = true;
  }

  const Call& call_;
  const Expectation& expectation_;
  const Change& change_;
  Params params_;
  bool exact_angles_ = false;
  PairList pairs_;
  std::vector<long double> theta_;
  std::vector<Memory> inputs_, outputs_;  // q, k
  Prediction result_;
};

}  // namespace

Params params_of(const Call& call) {
  Params p;
  p.head_dim = static_cast<int>(call.q.shape[3]);
  p.rotary_dim = call.rotary_dim;
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

Prediction predict(const Call& before, const Expectation& expectation, const Change& change) {
  return Run(before, expectation, change).all();
}

Values second_turn(const Spot& s, Values cos, Values sin, Values y) {
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
