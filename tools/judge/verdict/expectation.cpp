#include "tools/judge/verdict/expectation.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "reference/norm.hpp"

namespace rope {

std::vector<std::int64_t> token_position(const Call& call, std::int64_t batch, std::int64_t seq) {
  if (call.positions) {
    const Tensor& p = *call.positions;
    std::vector<std::int64_t> result;
    for (std::int64_t a = 0; a < call.axes; ++a) {
      result.push_back(integer_at(p, a * p.strides[0] + batch * p.strides[1] + seq * p.strides[2]));
    }
    return result;
  }
  const PlaceInSequence place = place_in_sequence(call, batch, seq);
  const std::int64_t start =
      call.seqlen_offsets ? integer_at(*call.seqlen_offsets, place.sequence) : call.position_offset;
  return std::vector<std::int64_t>(static_cast<std::size_t>(call.axes), start + seq - place.first);
}

namespace {

AngleKnowledge knowledge_of(const Call& call) {
  switch (call.source) {
    case AngleSource::tables: return AngleKnowledge::tables;
    case AngleSource::frequencies: return AngleKnowledge::frequencies;
    case AngleSource::computed: return AngleKnowledge::computed;
  }
  return AngleKnowledge::computed;
}

BoundSetting setting_of(const Call& call) {
  BoundSetting setting;
  setting.knowledge = knowledge_of(call);
  setting.input = call.q.dtype;
  setting.output = call.q_result().dtype;
  if (call.cos) setting.given = call.cos->dtype;
  if (call.theta) setting.given = call.theta->dtype;
  setting.lambda = call.attention_factor;
  return setting;
}

}  // namespace

Expectation::Expectation(const Call& call, const RopeSpec& spec, Oracles& oracles, Allowed allowed)
    : call_(call),
      terms_(bound_terms(setting_of(call))),
      required_(allowed.grade),
      largest_(largest_finite(required_.arithmetic == ArithmeticGrade::three ? call.q_result().dtype
                                                                             : working_type(call.q.dtype))) {
  row_bounds_.lambda_size = std::fabs(call.attention_factor);
  row_bounds_.arithmetic = terms_.arithmetic;
  row_bounds_.tiny = terms_.tiny;
  for (std::vector<double>& terms : row_bounds_.angle_terms) terms.resize(pairs());
  switch (call.source) {
    case AngleSource::tables: direct_.assign(pairs(), 0); break;
    case AngleSource::frequencies: {
      oracle_ = oracles.of_given_frequencies(call, static_cast<int>(call.q.shape[3]));
      const bool narrowed = unit_roundoff(call.theta->dtype) < unit_roundoff(working_type(call.q.dtype));
      direct_.assign(pairs(), (narrowed ? 1 : 0) + (allowed.theta_as_period ? 1 : 0));
      break;
    }
    case AngleSource::computed:
      oracle_ = oracles.shared(spec, call.sequence_length);
      direct_ = oracles.constants(spec, call.sequence_length).direct;
      loosest_ = oracles.constants(spec, call.sequence_length).loosest;
      break;
  }
  if (call.source != AngleSource::computed) loosest_ = direct_;
}

std::int64_t Expectation::position(std::size_t pair) const {
  std::int32_t axis = 0;
  if (call_.axis) std::memcpy(&axis, call_.axis->data() + pair * sizeof axis, sizeof axis);
  return position_[static_cast<std::size_t>(axis)];
}

double Expectation::theta(std::size_t pair) const {
  return oracle_ == nullptr ? 0 : oracle_->plan().pairs[pair].theta.to_double();
}

DType Expectation::given() const {
  if (call_.cos) return call_.cos->dtype;
  return call_.theta ? call_.theta->dtype : DType::f64;
}

void Expectation::table_angles() {
  const Tensor& cosine = *call_.cos;
  const Tensor& sine = *call_.sin;
  const auto width = static_cast<std::size_t>(cosine.shape[1]);
  const bool full = cosine.shape[1] == call_.rotary_dim;
  cos_row_.resize(width);
  sin_row_.resize(width);
  std::optional<std::int64_t> row;
  const auto read = [&](const Tensor& table, std::vector<double>& values) {
    const std::int64_t at = *row * table.strides[0] * static_cast<std::int64_t>(size_of(table.dtype));
    load(table.dtype, table.data() + at, table.strides[1], width, values.data());
  };
  angles_.resize(pairs());
  for (std::size_t p = 0; p < pairs(); ++p) {
    if (const std::int64_t m = position(p); row != m) {
      row = m;
      read(cosine, cos_row_);
      read(sine, sin_row_);
    }
    const auto one = full ? static_cast<std::size_t>(first(p) - call_.rotary_offset) : p;
    const auto two = full ? static_cast<std::size_t>(second(p) - call_.rotary_offset) : p;
    angles_[p] = {{cos_row_[one], 0}, {sin_row_[one], 0}, {cos_row_[two], 0}, {sin_row_[two], 0}, 0};
  }
}

const std::vector<PairAngle>& Expectation::angles(std::int64_t batch, std::int64_t seq) {
  position_ = token_position(call_, batch, seq);
  if (!angles_.empty() && position_ == angles_of_) return angles_;
  angles_of_ = position_;
  if (oracle_ == nullptr) {
    table_angles();
    row_bounds_.gain.resize(pairs());
    for (std::size_t p = 0; p < pairs(); ++p) row_bounds_.gain[p] = angles_[p].gain(backward());
  } else {
    oracle_->angles(position_, angles_);
  }
  for (std::size_t a = 0; a < angle_grades; ++a) {
    for (std::size_t p = 0; p < pairs(); ++p) {
      row_bounds_.angle_terms[a][p] = angle_term(static_cast<AngleGrade>(a), p, angles_[p].phi);
    }
  }
  return angles_;
}

double Expectation::reach(double a, double b, std::size_t pair) const {
  const double norm = norm_of(a, b);
  return row_bounds_.gain.empty() ? norm : norm * row_bounds_.gain[pair];
}

double Expectation::reach(double a, double b, const PairAngle& angle) const {
  const double norm = norm_of(a, b);
  return oracle_ == nullptr ? norm * angle.gain(backward()) : norm;
}

double Expectation::angle_term(AngleGrade grade, std::size_t pair, double phi) const {
  // A theta without a right digit may be 0: a factor of 1e308 divides it to less than the working type holds. There the
  // relative error is NaN, or says nothing.
  const auto error = [&](double constant, double unit) {
    const double relative = (constant + 1) * unit;
    return (relative < 1 ? relative : 1) * std::fabs(phi);
  };
  switch (grade) {
    case AngleGrade::A: return error(direct_[pair], terms_.angle_exact_unit);
    case AngleGrade::B: return error(direct_[pair], terms_.angle_unit);
    case AngleGrade::C: return error(loosest_[pair], terms_.angle_unit) + terms_.loose_functions;
  }
  return 0;
}

PerGrade<double> Expectation::bounds(std::size_t pair, double phi, double r) const {
  PerGrade<double> result{};
  const double scale = std::fabs(lambda()) * r;
  for (std::size_t a = 0; a < angle_grades; ++a) {
    const double angle = angle_term(static_cast<AngleGrade>(a), pair, phi);
    for (std::size_t w = 0; w < arithmetic_grades; ++w) {
      result[a][w] = scale * (angle + terms_.arithmetic[w]) + terms_.tiny[w];
    }
  }
  return result;
}

double Expectation::bound_by_any_angle(std::size_t pair, double r) const {
  const auto w = static_cast<std::size_t>(required_.arithmetic);
  const double angle = row_bounds_.angle_terms[static_cast<std::size_t>(required_.angle)][pair];
  const double turn = std::min(angle, terms_.functions_at_any_angle) + terms_.arithmetic[w];
  return row_bounds_.lambda_size * r * turn + terms_.tiny[w];
}

}  // namespace rope
