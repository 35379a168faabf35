#include "tools/diagnose/edit_change.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "tools/diagnose/addressing.hpp"
#include "tools/diagnose/positions.hpp"

namespace rope::diagnosis {
namespace {

double to_ten_bits(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::ldexp(1.0, std::ilogb(value) - 10);
  return std::nearbyint(value / unit) * unit;
}

double on_grid(const bugs::Grid& to, DType of_q, DType of_output, double value) {
  const double steps = std::ldexp(1.0, to.bits);
  const auto fixed = [&] { return std::nearbyint(value * steps) / steps; };
  switch (to.kind) {
    case bugs::Grid::Kind::nearest: return rounded(to.type, value);
    case bugs::Grid::Kind::cut_off: return cut_off(to.type, value);
    case bugs::Grid::Kind::tf32: return to_ten_bits(value);
    case bugs::Grid::Kind::type_of_q: return rounded(of_q, value);
    case bugs::Grid::Kind::output_cut_off: return cut_off(of_output, value);
    case bugs::Grid::Kind::steps_of_bits: return fixed();
    case bugs::Grid::Kind::clipped_steps: return std::fmin(std::fmax(fixed(), -8.0), 8 - 1 / steps);
    case bugs::Grid::Kind::below_one: return std::fmin(fixed(), 1 - 1 / steps);
  }
  return value;
}

Change made_by(const bugs::Round& round) {
  const auto at = [&](unsigned stages) { return (round.at & stages) != 0; };
  const auto of_call = [to = round.to](const Call& call, double value) {
    return on_grid(to, call.q.dtype, call.q_result().dtype, value);
  };
  const auto here = [=](const RowContext& s, double value) { return of_call(s.call, value); };
  Change change;
  if (at(bugs::of_base)) change.params = [=](const Call& call, Params& p) { p.base = of_call(call, p.base); };
  if (at(bugs::of_factor)) change.params = [=](const Call& call, Params& p) { p.lambda = of_call(call, p.lambda); };
  if (round.at == bugs::of_theta) {
    change.theta = [=](const RowContext& s, std::vector<long double>& theta) {
      for (long double& value : theta) value = here(s, static_cast<double>(value));
    };
  } else if (round.at == bugs::of_position) {
    change.position = [=](const RowContext& s, int, long double p) {
      return static_cast<long double>(here(s, static_cast<double>(p)));
    };
  } else if (round.at == bugs::of_angle) {
    change.angle = [=](const RowContext& s, long double, long double, long double phi) {
      return static_cast<long double>(here(s, static_cast<double>(phi)));
    };
  } else if (at(bugs::of_angle)) {
    change.angle = [=](const RowContext& s, long double m, long double theta, long double) {
      const double product = here(s, static_cast<double>(m)) * here(s, static_cast<double>(theta));
      return static_cast<long double>(here(s, product));
    };
  }
  if (at(bugs::of_own_turn)) {
    change.turn = [to = round.to](const Params&, double& c, double& s) {
      c = on_grid(to, DType::f64, DType::f64, c);
      s = on_grid(to, DType::f64, DType::f64, s);
    };
  }
  if (at(bugs::of_turn)) {
    change.row = [=](const RowContext& s, const PairList&, Row& row) {
      for (std::vector<double>* values : {&row.cos, &row.sin}) {
        for (double& value : *values) value = here(s, value);
      }
    };
  }
  if (at(bugs::of_input)) change.load = here;
  if (at(bugs::of_product)) {
    change.rotate = [=](const RowContext& s, Values x, Values c, Values n, Values) {
      const auto of = [&](double a, double b) { return here(s, a * b); };
      const double l = s.params.lambda;
      return Values{here(s, l * (of(x.first, c.first) - of(x.second, n.first))),
                    here(s, l * (of(x.second, c.second) + of(x.first, n.second)))};
    };
  } else if (at(bugs::of_result)) {
    change.store = [=](const RowContext& s, int, double y) { return here(s, y); };
  }
  if (at(bugs::of_passed)) {
    change.pass = [=](const RowContext& s, int, double x) { return rounded(s.out().dtype, here(s, x)); };
  }
  return change;
}

Change made_by(const bugs::Mix& mix) {
  Change change;
  change.rotate = [=](const RowContext& s, Values x, Values c, Values n, Values) {
    const auto sum = [&](const std::int8_t (&products)[2], double cosine, double sine) {
      double total = 0;
      for (const std::int8_t product : products) {
        if (product == 0) continue;
        const int which = std::abs(product);
        const double operand = which == bugs::a_cos || which == bugs::a_sin ? x.first : x.second;
        const double factor = which == bugs::a_cos || which == bugs::b_cos ? cosine : sine;
        total += product < 0 ? -operand * factor : operand * factor;
      }
      return s.params.lambda * total;
    };
    const Values y{sum(mix.first, c.first, n.first), sum(mix.second, c.second, n.second)};
    return mix.exchanged ? Values{y.second, y.first} : y;
  };
  return change;
}

Change made_by(const bugs::Write& write) {
  using Fate = bugs::Write::Fate;
  const bool all = write.part == bugs::Write::Part::all, passed = write.part == bugs::Write::Part::passed;
  Change change;
  switch (write.fate) {
    case Fate::not_written:
      if (all) change.write = [](const RowContext&) { return diagnosis::Write::nothing; };
      if (!all) {
        change.skips = [=](const RowContext& s, int feature) { return (feature >= s.params.rotary_dim) == passed; };
      }
      break;
    case Fate::copied:
      if (all) change.write = [](const RowContext&) { return diagnosis::Write::copied; };
      if (!all) change.rotate = [](const RowContext&, Values x, Values, Values, Values) { return x; };
      break;
    case Fate::zero:
    case Fate::one: {
      const double value = write.fate == Fate::one ? 1 : 0;
      if (!passed)
        change.rotate = [=](const RowContext&, Values, Values, Values, Values) { return Values{value, value}; };
      if (all || passed) change.pass = [=](const RowContext&, int, double) { return value; };
      break;
    }
    case Fate::twice:
      change.rotate = [](const RowContext& s, Values, Values c, Values n, Values y) { return second_turn(s, c, n, y); };
      break;
    case Fate::added: change.adds = true; break;
    case Fate::from_first: change.rereads = true; break;
  }
  return change;
}

std::int64_t moved_index(const bugs::Move& move, std::int64_t i, std::int64_t n) {
  using enum bugs::Move::Map;
  const std::int64_t block = move.block;
  switch (move.map) {
    case first: return 0;
    case last: return n - 1;
    case next: return std::min(i + 1, n - 1);
    case next_around: return (i + 1) % n;
    case previous: return std::max<std::int64_t>(i - 1, 0);
    case reversed: return n - 1 - i;
    case first_of_block: return i / block * block;
    case saturated: return std::min(i, block - 1);
    case wrapped: return i % block;
    case reversed_in_block: return std::min(i / block * block + block - 1 - i % block, n - 1);
    case transposed: return n % block == 0 ? i % block * (n / block) + i / block : i;
    case masked: return i & (n - 1);
  }
  return i;
}

// Batch, token and head of a row, of which the move changes one.
RowIndex moved_row(const bugs::Move& move, const RowContext& s, const Tensor& t) {
  RowIndex row{s.batch, s.seq, s.head};
  switch (move.of) {
    case bugs::Move::Dimension::batch: row.batch = moved_index(move, s.batch, t.shape[0]); break;
    case bugs::Move::Dimension::token: row.seq = moved_index(move, s.seq, t.shape[1]); break;
    case bugs::Move::Dimension::head: row.head = moved_index(move, s.head, t.shape[2]); break;
  }
  return row;
}

Change made_by(const bugs::Move& move) {
  using Role = bugs::Move::Role;
  Change change;
  if (move.role == Role::position || move.role == Role::given_position) {
    change.position = [=](const RowContext& s, int axis, long double p) {
      if (move.role == Role::given_position && !s.call.positions) return p;
      const RowIndex from = moved_row(move, s, s.call.q);
      const std::int64_t further = move.counted_on ? s.batch + s.seq - from.batch - from.seq : 0;
      return positions::of(s, axis, from.batch, from.seq) + static_cast<long double>(further);
    };
  } else if (move.role == Role::input && move.of == bugs::Move::Dimension::head) {
    change.source = [=](const RowContext& s, int, bool&, std::int64_t& head) {
      head = moved_row(move, s, s.in()).head;
    };
  } else {
    change.writes_elsewhere = move.role != Role::input;
    change.index = [=](const RowContext& s, bool output, int feature, std::int64_t right) {
      if (move.role == (output ? Role::input : Role::output)) return right;
      const Tensor& t = output ? s.out() : s.in();
      return row_offset(t, moved_row(move, s, t)) + feature * t.strides[3];
    };
  }
  return change;
}

std::int64_t in_bits(std::int64_t value, std::int64_t bits) {
  const std::int64_t low = value & ((std::int64_t{1} << bits) - 1);
  return low >> (bits - 1) != 0 ? low - (std::int64_t{1} << bits) : low;
}

Change made_by(const bugs::Count& count) {
  using enum bugs::Count::How;
  Change change;
  change.by_head = count.how == plus_head;
  change.position = [=](const RowContext& s, int, long double p) -> long double {
    const auto tokens = static_cast<long double>(s.call.q.shape[1]), seq = static_cast<long double>(s.seq);
    const auto length = static_cast<long double>(s.call.sequence_length);
    switch (count.how) {
      case zero: return 0;
      case token: return seq;
      case plus: return p + static_cast<long double>(count.number);
      case wrapped: return std::fmod(p, static_cast<long double>(count.number));
      case saturated: return std::min(p, static_cast<long double>(count.number - 1));
      case narrow: return static_cast<long double>(in_bits(static_cast<std::int64_t>(p), count.number));
      case from_end: return length - 1 - p;
      case last_of_sequence: return length - tokens + seq;
      case plus_offset: return p + static_cast<long double>(s.call.position_offset);
      case plus_tokens: return p + tokens;
      case plus_head: return p + static_cast<long double>(s.head);
    }
    return p;
  };
  return change;
}

double changed_value(const bugs::Set& set, double value, const Params& p) {
  using enum bugs::Set::To;
  switch (set.to) {
    case number: return set.number;
    case times: return value * set.number;
    case squared: return value * value;
    case inverse: return 1 / value;
    case root: return std::sqrt(value);
    case whole: return std::floor(value);
    case over_root_head: return value * set.number / std::sqrt(static_cast<double>(p.head_dim));
    default: return value;
  }
}

int changed_dim(bugs::Set::To to, const Params& p) {
  using enum bugs::Set::To;
  switch (to) {
    case half: return std::max(p.rotary_dim / 4 * 2, 2);
    case half_head: return std::max(p.head_dim / 4 * 2, 2);
    case over_head: return std::max(p.rotary_dim * p.rotary_dim / p.head_dim / 2 * 2, 2);
    default: return p.head_dim;
  }
}

int changed_offset(const bugs::Set& set, const Params& p) {
  const int last = p.head_dim - p.rotary_dim;
  if (set.to == bugs::Set::To::end) return last / 2 * 2;
  const double factor = set.to == bugs::Set::To::times ? set.number : 0;
  return std::clamp(static_cast<int>(p.rotary_offset * factor), 0, last);
}

Change made_by(const bugs::Set& set) {
  Change change;
  change.params = [=](const Call&, Params& p) {
    switch (set.what) {
      case bugs::Set::What::base: p.base = changed_value(set, p.base, p); break;
      case bugs::Set::What::factor: p.lambda = changed_value(set, p.lambda, p); break;
      case bugs::Set::What::pairing:
        p.pairing = p.pairing == Pairing::half_split ? Pairing::interleaved : Pairing::half_split;
        break;
      case bugs::Set::What::rotary_offset: p.rotary_offset = changed_offset(set, p); break;
      case bugs::Set::What::rotary_dim:
        p.rotary_dim = changed_dim(set.to, p);
        p.scaling = for_pairs(p.scaling, p.rotary_dim / 2);
        break;
    }
  };
  return change;
}

// The strides that a tensor is taken to have.
std::array<std::int64_t, 4> strides_of(const bugs::Stride& stride, const RowContext& s, const Tensor& t, bool output) {
  using enum bugs::Stride::As;
  const std::int64_t heads = t.shape[2], features = t.shape[3];
  std::array<std::int64_t, 4> taken{};
  std::copy_n(t.strides.begin(), taken.size(), taken.begin());
  switch (stride.as) {
    case dense: return {t.shape[1] * heads * features, heads * features, features, 1};
    case other_side: std::copy_n((output ? s.in() : s.out()).strides.begin(), taken.size(), taken.begin()); break;
    case of_q:
      if (s.key) std::copy_n(other_tensor(s, output).strides.begin(), taken.size(), taken.begin());
      break;
    case of_token: taken[2] = t.strides[1]; break;
    case of_tokens: taken[0] = t.shape[1] * t.strides[1]; break;
    case positive:
      std::ranges::transform(taken, taken.begin(), [](std::int64_t step) { return std::abs(step); });
      break;
    case heads_first: return {t.strides[0], features, t.shape[1] * features, 1};
  }
  return taken;
}

Change made_by(const bugs::Stride& stride) {
  using Side = bugs::Stride::Side;
  using Whose = bugs::Stride::Whose;
  Change change;
  change.writes_elsewhere = stride.side != Side::input;
  change.index = [=](const RowContext& s, bool output, int feature, std::int64_t right) {
    const bool is_other_tensor = stride.whose == (s.key ? Whose::q : Whose::k);
    if (is_other_tensor || stride.side == (output ? Side::input : Side::output)) return right;
    const Tensor& t = output ? s.out() : s.in();
    const std::array taken = strides_of(stride, s, t, output);
    const std::int64_t at[] = {s.batch, s.seq, s.head, feature};
    std::int64_t index = 0;
    for (std::size_t d = 0; d < std::size(at); ++d) {
      const bool is_taken = stride.of == bugs::Stride::Of::all || static_cast<std::size_t>(stride.of) == d;
      index += at[d] * (is_taken ? taken[d] : t.strides[d]);
    }
    return index;
  };
  return change;
}

}  // namespace

Change change_by(const bugs::Edit& edit) {
  return std::visit([](const auto& one) { return made_by(one); }, edit);
}

}  // namespace rope::diagnosis
