// Prober: asks a kernel one kind of question, "what is your output for these rows at these positions". It uses any way
// that the claims allow: positions given, by an offset, or from 0 on.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/judge/run/examiner.hpp"

namespace rope {

// The kernel did not answer a claimed call; what() says how.
class ProbeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Prober {
 public:
  // `way` says how to call: spec, dtypes, angle source, direction. The prober sets shape, input and positions.
  Prober(Examiner& examiner, Case way);

  // Every call gives this sequence length; rules that follow the length use it.
  void set_sequence_length(std::int64_t tokens) { sequence_length_ = tokens; }
  std::int64_t sequence_length() const { return sequence_length_; }

  // Every position gets its own call.
  void set_one_at_a_time(bool alone) { one_at_a_time_ = alone; }

  // The largest position that can be probed, below sequence_length().
  std::int64_t largest_position() const;
  // Whether any set of positions can be probed; false: only 0, 1, 2, ..
  bool any_position() const { return way_.form != PositionForm::offset || offsets_; }
  bool separate_axes() const { return way_.form != PositionForm::offset; }

  using Position = std::vector<std::int64_t>;  // one coordinate per axis
  Position on_all_axes(std::int64_t position) const;

  // `inputs` holds rows of head_dim features. visit(index of the position, index of the row, its output features).
  // Throws ProbeError.
  using Visitor = std::function<void(std::size_t, std::size_t, std::span<const double>)>;
  void ask(const std::vector<Position>& positions, std::span<const double> inputs, const Visitor& visit);

  // Changes every call before it is made, for example its tables.
  std::function<void(Call&)> prepare;

  const Case& way() const { return way_; }
  int head_dim() const { return way_.spec.head_dim; }
  std::int64_t rows_asked() const { return rows_; }
  std::int64_t calls() const { return calls_; }
  // Unit roundoff of the coarsest type that a result passes through.
  double roundoff() const;
  // The calls' lambda.
  double attention_factor() const { return attention_factor_; }

 private:
  void one_call(std::span<const Position> positions, std::span<const double> inputs, std::size_t first_position,
                std::size_t first_row, const Visitor& visit);

  Examiner& examiner_;
  Case way_;
  bool offsets_;
  std::int64_t sequence_length_ = 0;
  bool one_at_a_time_ = false;
  std::int64_t rows_ = 0;
  std::int64_t calls_ = 0;
  double attention_factor_ = 1;
};

// Rows of an identity matrix: row j holds 1 in feature j.
std::vector<double> one_hot_rows(int head_dim);

}  // namespace rope
