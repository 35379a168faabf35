#include "tests/kernels/mutants/edited.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/dtype.hpp"

namespace rope::mutants {
namespace {

using bugs::Count;
using bugs::Grid;
using bugs::Mix;
using bugs::Move;
using bugs::Round;
using bugs::Set;
using bugs::Stride;
using bugs::Write;

double nearest(DType dtype, double value) {
  std::uint64_t bits = 0;
  rope::store(dtype, &bits, value);
  return rope::load(dtype, &bits);
}

double towards_zero(DType dtype, double value) {
  const double kept = nearest(dtype, value);
  if (!(std::fabs(kept) > std::fabs(value))) return kept;
  std::uint64_t bits = 0;
  rope::store(dtype, &bits, kept);
  --bits;  // the neighbour that is nearer to zero
  return rope::load(dtype, &bits);
}

double ten_bits(double value) {
  if (!std::isfinite(value) || value == 0) return value;
  const double unit = std::exp2(std::ilogb(value) - 10);
  return std::nearbyint(value / unit) * unit;
}

std::int64_t moved_index(const Move& move, std::int64_t i, std::int64_t n) {
  const std::int64_t in_block = i % move.block;
  switch (move.map) {
    case Move::Map::first: return 0;
    case Move::Map::last: return n - 1;
    case Move::Map::next: return i + 1 < n ? i + 1 : i;
    case Move::Map::next_around: return i + 1 < n ? i + 1 : 0;
    case Move::Map::previous: return i > 0 ? i - 1 : 0;
    case Move::Map::reversed: return n - 1 - i;
    case Move::Map::first_of_block: return i - in_block;
    case Move::Map::saturated: return i < move.block ? i : move.block - 1;
    case Move::Map::wrapped: return in_block;
    case Move::Map::reversed_in_block: return std::min(n - 1, i - in_block + move.block - 1 - in_block);
    case Move::Map::transposed: return n % move.block != 0 ? i : in_block * (n / move.block) + i / move.block;
    case Move::Map::masked: return i & (n - 1);
  }
  return i;
}

std::int64_t counted(const Count& count, const Place& at, std::int64_t p) {
  const rope_call& call = at.call;
  switch (count.how) {
    case Count::How::zero: return 0;
    case Count::How::token: return at.seq;
    case Count::How::plus: return p + count.number;
    case Count::How::wrapped: return p % count.number;
    case Count::How::saturated: return p < count.number ? p : count.number - 1;
    case Count::How::narrow:
      return count.number == 8    ? static_cast<std::int8_t>(p)
             : count.number == 16 ? static_cast<std::int16_t>(p)
                                  : static_cast<std::int32_t>(p);
    case Count::How::from_end: return call.sequence_length - 1 - p;
    case Count::How::last_of_sequence: return call.sequence_length - call.q.shape[1] + at.seq;
    case Count::How::plus_offset: return call.positions.data == nullptr ? p + call.positions.offset : p;
    case Count::How::plus_tokens: return p + call.q.shape[1];
    case Count::How::plus_head: return p + at.head;
  }
  return p;
}

double set_number(const Set& set, double value, const rope_call& call) {
  switch (set.to) {
    case Set::To::number: return set.number;
    case Set::To::times: return set.number * value;
    case Set::To::squared: return value * value;
    case Set::To::inverse: return 1 / value;
    case Set::To::root: return std::sqrt(value);
    case Set::To::whole: return std::floor(value);
    case Set::To::over_root_head: return set.number * value / std::sqrt(static_cast<double>(call.q.shape[3]));
    default: return value;
  }
}

std::int32_t set_dim(Set::To to, const rope_call& call) {
  const auto head_dim = static_cast<std::int32_t>(call.q.shape[3]);
  switch (to) {
    case Set::To::half: return std::max(2, call.rotary_dim / 4 * 2);
    case Set::To::half_head: return std::max(2, head_dim / 4 * 2);
    case Set::To::over_head: return std::max(2, call.rotary_dim * call.rotary_dim / head_dim / 2 * 2);
    default: return head_dim / 2 * 2;
  }
}

std::int32_t set_offset(const Set& set, const rope_call& call) {
  const auto last = static_cast<std::int32_t>(call.q.shape[3]) - call.rotary_dim;
  switch (set.to) {
    case Set::To::end: return last - last % 2;
    case Set::To::times: return std::min(static_cast<std::int32_t>(set.number * call.rotary_offset), last);
    default: return 0;
  }
}

double sum(const std::int8_t (&products)[2], Values x, double cosine, double sine) {
  const double of[] = {0, x.first * cosine, x.first * sine, x.second * cosine, x.second * sine};
  double result = 0;
  for (const std::int8_t product : products) result += product < 0 ? -of[-product] : of[product];
  return result;
}

}  // namespace

unsigned Edited::rounded() const {
  const auto* round = edit_if<Round>();
  return round != nullptr ? round->at : 0;
}

double Edited::on_grid(const rope_call& call, double value) const {
  const Grid& to = edit_if<Round>()->to;
  const double step = std::exp2(-to.bits), fixed = step * std::nearbyint(value / step);
  switch (to.kind) {
    case Grid::Kind::nearest: return nearest(to.type, value);
    case Grid::Kind::cut_off: return towards_zero(to.type, value);
    case Grid::Kind::tf32: return ten_bits(value);
    case Grid::Kind::type_of_q: return nearest(static_cast<DType>(call.q.dtype), value);
    case Grid::Kind::output_cut_off: return towards_zero(static_cast<DType>(call.q_out.dtype), value);
    case Grid::Kind::steps_of_bits: return fixed;
    case Grid::Kind::clipped_steps: return std::clamp(fixed, -8.0, 8 - step);
    case Grid::Kind::below_one: return std::min(fixed, 1 - step);
  }
  return value;
}

rope_call Edited::understood(const rope_call& call) const {
  rope_call c = call;
  if (!holds(guard_, call)) return c;
  if ((rounded() & bugs::of_base) != 0) c.base = on_grid(call, call.base);
  const auto* set = edit_if<Set>();
  if (set == nullptr) return c;
  if (set->what == Set::What::base) c.base = set_number(*set, call.base, call);
  if (set->what == Set::What::pairing) {
    c.pairing = call.pairing == ROPE_INTERLEAVED ? ROPE_HALF_SPLIT : ROPE_INTERLEAVED;
  }
  // Given lists have only rotary_dim/2 values: nothing can be read for the rest of the head.
  const bool has_lists =
      call.angle_source != ROPE_COMPUTED || call.axis != nullptr || call.scaling.kind == ROPE_SCALING_LONGROPE;
  if (set->what == Set::What::rotary_offset) c.rotary_offset = set_offset(*set, call);
  if (set->what == Set::What::rotary_dim && !has_lists) c.rotary_dim = set_dim(set->to, call);
  return c;
}

std::vector<double> Edited::theta(const rope_call& call) const {
  std::vector<double> result = Kernel::theta(call);
  if (rounded() != bugs::of_theta || !holds(guard_, call)) return result;
  for (double& value : result) value = on_grid(call, value);
  return result;
}

Place Edited::moved(const Place& at, const rope_tensor& of) const {
  const Move& move = *edit_if<Move>();
  Place to = at;
  switch (move.of) {
    case Move::Dimension::batch: to.batch = moved_index(move, at.batch, of.shape[0]); break;
    case Move::Dimension::token: to.seq = moved_index(move, at.seq, of.shape[1]); break;
    case Move::Dimension::head: to.head = moved_index(move, at.head, of.shape[2]); break;
  }
  return to;
}

std::int64_t Edited::position(const Place& at, int axis) const {
  const std::int64_t p = Kernel::position(at, axis);
  const auto* move = edit_if<Move>();
  const auto* count = edit_if<Count>();
  const bool rounds = rounded() == bugs::of_position && at.call.angle_source == ROPE_TABLES;  // else in the angle
  if ((move == nullptr && count == nullptr && !rounds) || !holds(guard_, at, 0)) return p;
  if (rounds) return static_cast<std::int64_t>(std::min(on_grid(at.call, static_cast<double>(p)), 0x1p53));
  if (count != nullptr) return counted(*count, at, p);
  const bool is_given = at.call.positions.data != nullptr;
  if (move->role != Move::Role::position && !(move->role == Move::Role::given_position && is_given)) return p;
  const Place from = moved(at, at.call.q);
  const std::int64_t further = move->counted_on ? at.seq - from.seq + at.batch - from.batch : 0;
  return Kernel::position(from, axis) + further;
}

double Edited::angle(const rope_call& call, double position, double theta) const {
  const unsigned stages = rounded();
  const bool concerns_angle = stages == bugs::of_position || (stages & bugs::of_angle) != 0;
  if (!concerns_angle || !holds(guard_, call)) return Kernel::angle(call, position, theta);
  if (stages == bugs::of_position) return on_grid(call, position) * theta;
  if (stages == bugs::of_angle) return on_grid(call, position * theta);
  return on_grid(call, on_grid(call, position) * on_grid(call, theta));
}

Turn Edited::turn(const rope_call& call, double angle) const {
  const Turn turn = Kernel::turn(call, angle);
  if ((rounded() & bugs::of_own_turn) == 0 || !holds(guard_, call)) return turn;
  return {on_grid(call, turn.cos), on_grid(call, turn.sin)};
}

Row Edited::with_factor(const Place& at, const std::vector<double>& theta, double factor) const {
  rope_call c = at.call;
  c.attention_factor = factor;
  return Kernel::row({c, at.key, at.batch, at.seq, at.head}, theta);
}

Row Edited::row(const Place& at, const std::vector<double>& theta) const {
  const double factor = at.call.attention_factor;
  const auto* set = edit_if<Set>();
  if (set != nullptr && set->what == Set::What::factor && holds(guard_, at, 0)) {
    return with_factor(at, theta, set_number(*set, factor, at.call));
  }
  if ((rounded() & bugs::of_factor) != 0 && holds(guard_, at, 0)) {
    return with_factor(at, theta, on_grid(at.call, factor));
  }
  if ((rounded() & bugs::of_turn) == 0 || !holds(guard_, at, 0)) return Kernel::row(at, theta);
  Row result = with_factor(at, theta, 1);
  for (int feature = 0; feature < result.features(); ++feature) {
    result.cos(feature) = factor * on_grid(at.call, result.cos(feature));
    result.sin(feature) = factor * on_grid(at.call, result.sin(feature));
  }
  return result;
}

std::int64_t Edited::restrided(const Place& at, const rope_tensor& tensor, int feature) const {
  const Stride& edit = *edit_if<Stride>();
  const bool reads = &tensor == &at.in();
  const rope_call& call = at.call;
  const std::int64_t heads = tensor.shape[2], features = tensor.shape[3], tokens = tensor.shape[1];
  const std::int64_t place[] = {at.batch, at.seq, at.head, place_in_head(at, feature)};
  const std::int64_t packed[] = {tokens * heads * features, heads * features, features, 1};
  const std::int64_t by_heads[] = {tensor.strides[0], features, tokens * features, 1};
  const rope_tensor& of_q = reads ? call.q : call.q_out;
  const rope_tensor& other_side = reads ? at.out() : at.in();
  std::int64_t element = 0;
  for (int d = 0; d < 4; ++d) {
    const std::int64_t own = tensor.strides[d];
    std::int64_t step = own;
    switch (edit.as) {
      case Stride::As::dense: step = packed[d]; break;
      case Stride::As::other_side: step = other_side.strides[d]; break;
      case Stride::As::of_q: step = of_q.strides[d]; break;
      case Stride::As::of_token: step = tensor.strides[1]; break;
      case Stride::As::of_tokens: step = tokens * tensor.strides[1]; break;
      case Stride::As::positive: step = own < 0 ? -own : own; break;
      case Stride::As::heads_first: step = by_heads[d]; break;
    }
    element += place[d] * (edit.of == Stride::Of::all || edit.of == static_cast<Stride::Of>(d) ? step : own);
  }
  return element;
}

std::int64_t Edited::element(const Place& at, const rope_tensor& tensor, int feature) const {
  if (const auto* stride = edit_if<Stride>()) {
    const bool is_side =
        stride->side == Stride::Side::both || (&tensor == &at.in()) == (stride->side == Stride::Side::input);
    const bool is_tensor = stride->whose == Stride::Whose::both || at.key == (stride->whose == Stride::Whose::k);
    if (is_side && is_tensor && holds(guard_, at, feature)) return restrided(at, tensor, feature);
  }
  const auto* move = edit_if<Move>();
  const bool reads = &tensor == &at.in();
  const bool moves = move != nullptr &&
                     (move->role == Move::Role::row || move->role == (reads ? Move::Role::input : Move::Role::output));
  const bool here = moves && holds(guard_, at, feature);
  return Kernel::element(here ? moved(at, tensor) : at, tensor, feature);
}

double Edited::load(const Place& at, int feature) const {
  const double x = Kernel::load(at, feature);
  return (rounded() & bugs::of_input) != 0 && holds(guard_, at, feature) ? on_grid(at.call, x) : x;
}

void Edited::rotate(const Place& at, Pair pair, const Row& row) const {
  if (!holds(guard_, at, pair.first)) return Kernel::rotate(at, pair, row);
  const auto* count = edit_if<Count>();
  if (count != nullptr && count->how == Count::How::plus_head && at.head > 0) {
    // The loop makes a row of cos and sin only for the first head.
    Row own = this->row(at, at.call.angle_source == ROPE_TABLES ? std::vector<double>() : theta(at.call));
    direct(at.call, own);
    return Kernel::rotate(at, pair, own);
  }
  const Values x = values(at, pair);
  Values y = turned(x, pair, row);
  if (const auto* mix = edit_if<Mix>()) {
    y = {sum(mix->first, x, row.cos(pair.first), row.sin(pair.first)),
         sum(mix->second, x, row.cos(pair.second), row.sin(pair.second))};
    if (mix->exchanged) std::swap(y.first, y.second);
  }
  if ((rounded() & bugs::of_product) != 0) {
    // lambda is part of the factors here, and multiplies the sum of the products only.
    const double l = at.call.attention_factor == 0 ? 1 : at.call.attention_factor;
    const auto product = [&](double a, double b) { return on_grid(at.call, a * (b / l)); };
    y = {l * (product(x.first, row.cos(pair.first)) - product(x.second, row.sin(pair.first))),
         l * (product(x.second, row.cos(pair.second)) + product(x.first, row.sin(pair.second)))};
  }
  if ((rounded() & bugs::of_result) != 0) y = {on_grid(at.call, y.first), on_grid(at.call, y.second)};
  const auto* write = edit_if<Write>();
  if (write != nullptr && write->part != Write::Part::passed) {
    switch (write->fate) {
      case Write::Fate::copied: return pass(at, pair.first), pass(at, pair.second);
      case Write::Fate::zero: y = {0, 0}; break;
      case Write::Fate::one: y = {1, 1}; break;
      case Write::Fate::twice: y = turned(y, pair, row); break;
      case Write::Fate::from_first:
        y.second = x.second * row.cos(pair.second) +
                   nearest(static_cast<DType>(at.out().dtype), y.first) * row.sin(pair.second);
        break;
      case Write::Fate::not_written:
      case Write::Fate::added: break;  // in store
    }
  }
  store(at, pair.first, y.first);
  store(at, pair.second, y.second);
}

void Edited::store(const Place& at, int feature, double value) const {
  const auto* write = edit_if<Write>();
  const bool is_passed = feature >= at.call.rotary_dim;
  const bool is_part =
      write != nullptr && (write->part == Write::Part::all || is_passed == (write->part == Write::Part::passed));
  if (!is_part || !holds(guard_, at, feature)) return Kernel::store(at, feature, value);
  if (write->fate == Write::Fate::not_written) return;
  const bool adds = write->fate == Write::Fate::added;
  const auto* held = address(at.out(), element(at, at.out(), feature));
  Kernel::store(at, feature, adds ? rope::load(static_cast<DType>(at.out().dtype), held) + value : value);
}

void Edited::pass(const Place& at, int feature) const {
  if (feature < at.call.rotary_dim || !holds(guard_, at, feature)) return Kernel::pass(at, feature);
  if ((rounded() & bugs::of_passed) != 0) return store(at, feature, on_grid(at.call, Kernel::load(at, feature)));
  const auto* write = edit_if<Write>();
  if (write == nullptr || write->part == Write::Part::rotary) return Kernel::pass(at, feature);
  switch (write->fate) {
    case Write::Fate::zero: return store(at, feature, 0);
    case Write::Fate::one: return store(at, feature, 1);
    case Write::Fate::not_written: return;
    case Write::Fate::added: return store(at, feature, Kernel::load(at, feature));
    default: return Kernel::pass(at, feature);
  }
}

Stages Edited::stages() const {
  const auto bit = [](Stage stage) { return Stages{1} << stage; };
  const auto* round = edit_if<Round>();
  if (round != nullptr) {
    Stages all = 0;
    const auto add = [&](unsigned at, Stage stage) { all |= (round->at & at) != 0 ? bit(stage) : 0; };
    add(bugs::of_base, stage_understood);
    add(bugs::of_factor | bugs::of_turn, stage_row);
    if (round->at == bugs::of_position) all |= bit(stage_position) | bit(stage_angle);
    if (round->at == bugs::of_theta) all |= bit(stage_theta);
    add(bugs::of_angle, stage_angle);
    add(bugs::of_own_turn, stage_turn);
    add(bugs::of_input, stage_load);
    add(bugs::of_product | bugs::of_result, stage_rotate);
    add(bugs::of_passed, stage_pass);
    return all;
  }
  if (edit_if<Stride>() != nullptr) return bit(stage_element);
  if (edit_if<Mix>() != nullptr) return bit(stage_rotate);
  if (edit_if<Write>() != nullptr) return bit(stage_rotate) | bit(stage_store) | bit(stage_pass);
  if (const auto* move = edit_if<Move>()) {
    const bool of_position = move->role == Move::Role::position || move->role == Move::Role::given_position;
    return of_position ? bit(stage_position) : bit(stage_element);
  }
  if (const auto* set = edit_if<Set>()) return set->what == Set::What::factor ? bit(stage_row) : bit(stage_understood);
  return bit(stage_position) | bit(stage_rotate);
}

}  // namespace rope::mutants
