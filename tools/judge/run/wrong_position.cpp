#include "tools/judge/run/wrong_position.hpp"

#include <algorithm>
#include <cmath>

#include "tools/judge/case/build_call.hpp"
#include "tools/judge/verdict/judge.hpp"

namespace rope {
namespace {

// The rows of q of one token in the last batch, as a tensor of their own.
Tensor token_of(const Tensor& tensor, std::int64_t token) {
  Tensor rows = Tensor::contiguous(tensor.dtype, {1, 1, tensor.shape[2], tensor.shape[3]});
  rows.poison = tensor.poison;
  for (std::int64_t head = 0; head < tensor.shape[2]; ++head) {
    copy_row(rows, {0, 0, head}, tensor, {tensor.shape[0] - 1, token, head});
  }
  return rows;
}

class Token {
 public:
  Token(const Case& c, const Trial& trial, std::int64_t token, Oracles& oracles)
      : case_(c),
        trial_(trial),
        oracles_(oracles),
        positions_(token_position(trial.call, trial.q.shape[0] - 1, token)),
        input_(token_of(trial.q, token)),
        output_(token_of(trial.call.q_result(), token)) {}

  // Whether the rows are what a right kernel gives at this position.
  bool is_rotated_at(std::int64_t position, Direction direction) const {
    Call call = trial_.call;
    call.q = input_;
    call.positions = Tensor::contiguous(DType::i64, {call.axes, 1, 1});
    call.seqlen_offsets.reset();
    for (std::int64_t axis = 0; axis < call.axes; ++axis) {
      const bool is_wrong = !trial_.call.positions || is_wrong_on(axis, case_.fault, call);
      store_integer(*call.positions, axis, is_wrong ? position : positions_[static_cast<std::size_t>(axis)]);
    }
    call.direction = direction;
    Expectation expected(call, case_.spec, oracles_);
    return judge_tensor("q", input_, output_, expected).passed();
  }

  std::int64_t wrong_position() const {
    std::int64_t axis = 0;
    while (axis + 1 < trial_.call.axes && !is_wrong_on(axis, case_.fault, trial_.call)) ++axis;
    return positions_[static_cast<std::size_t>(axis)];
  }

  bool is_input() const { return input_.dtype == output_.dtype && input_.bytes == output_.bytes; }

  bool is_unwritten() const {
    bool all = output_.poison.has_value();
    for_each_row(output_, [&](const RowIndex& row, const std::byte*) {
      for (std::int64_t j = 0; j < output_.shape[3]; ++j) all = all && bits_at(output_, row, j) == output_.poison;
    });
    return all;
  }

  bool is_all(bool (*property)(double)) const {
    bool all = true;
    for_each_row(output_, [&](const RowIndex& row, const std::byte*) {
      for (std::int64_t j = 0; j < case_.spec.rotary_dim; ++j) {
        all = all && property(value_at(output_, row, case_.spec.rotary_offset + j));
      }
    });
    return all;
  }

 private:
  const Case& case_;
  const Trial& trial_;
  Oracles& oracles_;
  std::vector<std::int64_t> positions_;  // on all axes
  Tensor input_, output_;
};

Direction reversed(Direction direction) {
  return direction == Direction::forward ? Direction::backward : Direction::forward;
}

}  // namespace

std::string done_at_wrong_position(const Case& c, const Trial& trial, Oracles& oracles) {
  const std::optional<std::int64_t> token = wrong_token(c);
  if (!token || !trial.ok()) return "";
  const Token rows(c, trial, *token, oracles);
  const WrongPosition::Value wrong = row_of(c.fault).position->value;
  const bool has_tables = trial.call.cos.has_value();
  if (rows.is_unwritten()) return "left the token's output unwritten";
  if (rows.is_input()) return "left the token as it was";
  if (rows.is_all([](double x) { return x == 0; })) return "wrote zeros";
  if (rows.is_all([](double x) { return std::isnan(x); })) return "wrote NaN";
  if (wrong == WrongPosition::Value::wrapping && rows.is_rotated_at(rows.wrong_position() & 0xffffffff, c.direction)) {
    return "turned the token by the row of the lower 32 bits";
  }
  if (rows.is_rotated_at(0, c.direction)) return "turned the token as at position 0";
  if (wrong == WrongPosition::Value::below_0 && (!has_tables || trial.call.cos->shape[0] > 1)) {
    if (rows.is_rotated_at(1, reversed(c.direction))) return "turned the token by the negative angle";
    if (rows.is_rotated_at(1, c.direction)) return "turned the token as at position 1: it ignores the sign";
  }
  if (has_tables && rows.is_rotated_at(trial.call.cos->shape[0] - 1, c.direction)) {
    return "turned the token by the last row of the tables";
  }
  return has_tables ? "turned the token by numbers that are in no neighbouring row of the tables"
                    : "turned the token by another angle";
}

bool turned_by_negative_angle(const Case& c, const Trial& trial, Oracles& oracles) {
  return row_of(c.fault).kind == FaultKind::negative_angle &&
         Token(c, trial, 0, oracles).is_rotated_at(1, reversed(c.direction));
}

}  // namespace rope
