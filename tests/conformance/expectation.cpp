#include "tests/conformance/expectation.hpp"

#include <cmath>
#include <cstring>

namespace rope {

std::vector<std::int64_t> token_position(const Call& call, std::int64_t batch, std::int64_t seq) {
  std::vector<std::int64_t> result;
  for (std::int64_t a = 0; a < call.axes; ++a) {
    if (!call.positions) {
      result.push_back(call.position_offset + seq);
      continue;
    }
    const Tensor& p = *call.positions;
    const std::int64_t at = a * p.strides[0] + batch * p.strides[1] + seq * p.strides[2];
    const std::byte* element = p.data() + at * static_cast<std::int64_t>(size_of(p.dtype));
    if (p.dtype == DType::i32) {
      std::int32_t value = 0;
      std::memcpy(&value, element, sizeof value);
      result.push_back(value);
    } else {
      std::int64_t value = 0;
      std::memcpy(&value, element, sizeof value);
      result.push_back(value);
    }
  }
  return result;
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

Expectation::Expectation(const Call& call, const RopeSpec& spec, Oracles& oracles)
    : call_(call), terms_(bound_terms(setting_of(call))) {
  switch (call.source) {
    case AngleSource::tables: direct_.assign(pairs(), 0); break;
    case AngleSource::frequencies: {
      oracle_ = &oracles.of_given_frequencies(call, static_cast<int>(call.q.shape[3]));
      const bool narrowed = unit_roundoff(call.theta->dtype) < unit_roundoff(working_type(call.q.dtype));
      direct_.assign(pairs(), narrowed ? 1 : 0);
      break;
    }
    case AngleSource::computed:
      oracle_ = &oracles.of(spec, call.sequence_length);
      direct_ = direct_constants(spec, call.sequence_length);
      break;
  }
  recurrence_ = call.source == AngleSource::computed ? recurrence_constants(spec, direct_) : direct_;
}

int Expectation::first(std::size_t pair) const {
  const auto p = static_cast<int>(pair);
  return call_.pairing == Pairing::half_split ? p : 2 * p;
}

int Expectation::second(std::size_t pair) const {
  const auto p = static_cast<int>(pair);
  return call_.pairing == Pairing::half_split ? p + call_.rotary_dim / 2 : 2 * p + 1;
}

std::int64_t Expectation::position(std::size_t pair) const {
  std::int32_t axis = 0;
  if (call_.axis) std::memcpy(&axis, call_.axis->data() + pair * sizeof axis, sizeof axis);
  return position_[static_cast<std::size_t>(axis)];
}

void Expectation::table_angles() {
  const Tensor& cosine = *call_.cos;
  const Tensor& sine = *call_.sin;
  const bool full = cosine.shape[1] == call_.rotary_dim;
  angles_.resize(pairs());
  for (std::size_t p = 0; p < pairs(); ++p) {
    const auto value = [&](const Tensor& table, int feature) {
      const std::int64_t column = full ? feature : static_cast<std::int64_t>(p);
      const std::int64_t at = position(p) * table.strides[0] + column * table.strides[1];
      return DoubleDouble{load(table.dtype, table.data() + at * static_cast<std::int64_t>(size_of(table.dtype))), 0};
    };
    angles_[p] = {value(cosine, first(p)), value(sine, first(p)), value(cosine, second(p)), value(sine, second(p)), 0};
  }
}

const std::vector<PairAngle>& Expectation::angles(std::int64_t batch, std::int64_t seq) {
  position_ = token_position(call_, batch, seq);
  if (oracle_ == nullptr) {
    table_angles();
  } else {
    angles_ = oracle_->angles(position_);
  }
  return angles_;
}

double Expectation::reach(double a, double b, const PairAngle& angle) const {
  const double norm = std::hypot(a, b);
  return oracle_ == nullptr ? norm * angle.gain(backward()) : norm;
}

double Expectation::angle_term(AngleGrade grade, std::size_t pair, double phi) const {
  switch (grade) {
    case AngleGrade::A: return (direct_[pair] + 1) * terms_.angle_exact_unit * std::fabs(phi);
    case AngleGrade::B: return (direct_[pair] + 1) * terms_.angle_unit * std::fabs(phi);
    case AngleGrade::C: return (recurrence_[pair] + 1) * terms_.angle_unit * std::fabs(phi);
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

double Expectation::bound(std::size_t pair, double phi, double r) const {
  const double angle = angle_term(AngleGrade::C, pair, phi);
  return std::fabs(lambda()) * r * (angle + terms_.arithmetic.back()) + terms_.tiny.back();
}

}  // namespace rope
