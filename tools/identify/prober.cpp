#include "tools/identify/prober.hpp"

#include <algorithm>

#include "tools/judge/case/coverage.hpp"
#include "tools/judge/run/explain.hpp"

namespace rope {
namespace {

constexpr std::int64_t farthest = std::int64_t{1} << 40;  // as for the horizon: beyond every context
constexpr std::int64_t table_rows = 4096;                 // more would take memory and tell nothing more
constexpr std::int64_t tokens_without_offset = 256;       // then positions 0, 1, 2, .. must all be computed
constexpr std::size_t elements_in_a_call = std::size_t{1} << 21;

}  // namespace

Prober::Prober(Examiner& examiner, Case way) : examiner_(examiner), way_(std::move(way)) {
  const Claims& claims = examiner_.subject().claims();
  offsets_ = claims.has(ROPE_FEATURE_OFFSET);
  way_.batch = 1;
  way_.key_heads = 0;
  way_.in_place = false;
  way_.layout = Layout::contiguous;
  way_.fault = Fault::none;
  way_.golden.clear();
  way_.start = 0;
  way_.pattern = PositionPattern::consecutive;
  const std::uint32_t given = claims.capabilities.position_dtypes;
  way_.form = claims.has(ROPE_FEATURE_POSITIONS) && given != 0 ? PositionForm::shared : PositionForm::offset;
  way_.position_dtype = claims.position_dtype();
  sequence_length_ = farthest + 1;
  sequence_length_ = largest_position() + 1;
}

std::int64_t Prober::largest_position() const {
  std::int64_t most =
      std::min({examiner_.subject().claims().capabilities.max_position, farthest, sequence_length_ - 1});
  if (way_.source == AngleSource::tables) most = std::min(most, table_rows - 1);
  if (!any_position()) most = std::min(most, tokens_without_offset - 1);
  if (way_.form == PositionForm::shared && way_.position_dtype == DType::i32) {
    most = std::min<std::int64_t>(most, INT32_MAX);
  }
  return most;
}

Prober::Position Prober::on_all_axes(std::int64_t position) const {
  return Position(static_cast<std::size_t>(way_.spec.axes.count()), position);
}

double Prober::roundoff() const {
  double u = std::max(unit_roundoff(way_.dtype), unit_roundoff(way_.out_dtype));
  if (way_.source == AngleSource::tables) u = std::max(u, unit_roundoff(way_.given));
  return u;
}

void Prober::ask(const std::vector<Position>& positions, std::span<const double> inputs, const Visitor& visit) {
  const auto dim = static_cast<std::size_t>(head_dim());
  const std::size_t rows = inputs.size() / dim;
  const std::size_t rows_together = std::clamp<std::size_t>(elements_in_a_call / dim, 1, rows);
  const std::size_t positions_together =
      separate_axes() && !one_at_a_time_
          ? std::clamp<std::size_t>(elements_in_a_call / (dim * rows_together), 1, positions.size())
          : 1;
  for (std::size_t row = 0; row < rows; row += rows_together) {
    const std::size_t some_rows = std::min(rows_together, rows - row);
    const std::span<const double> block = inputs.subspan(row * dim, some_rows * dim);
    for (std::size_t at = 0; at < positions.size(); at += positions_together) {
      const std::size_t some = std::min(positions_together, positions.size() - at);
      one_call(std::span(positions).subspan(at, some), block, at, row, visit);
    }
  }
}

void Prober::one_call(std::span<const Position> positions, std::span<const double> inputs, std::size_t first_position,
                      std::size_t first_row, const Visitor& visit) {
  const auto dim = static_cast<std::size_t>(head_dim());
  const std::size_t rows = inputs.size() / dim;
  const bool from_zero = !separate_axes() && !offsets_;
  Case c = way_;
  c.heads = static_cast<int>(rows);
  c.sequence_length = sequence_length_;
  const std::int64_t asked = positions.front().front();
  c.seq = from_zero ? static_cast<int>(asked + 1) : static_cast<int>(positions.size());
  // Tables get a row for every position that will ever be probed.
  if (c.source == AngleSource::tables) c.start = largest_position() - (c.seq - 1);
  keep_call_to_claims(c, examiner_.subject().claims());
  Call call = examiner_.build(c);
  attention_factor_ = call.attention_factor;
  call.position_offset = 0;
  if (separate_axes()) {
    const auto axes = static_cast<std::size_t>(call.axes);
    for (std::size_t a = 0; a < axes; ++a) {
      for (std::size_t s = 0; s < positions.size(); ++s) {
        store_integer(*call.positions, static_cast<std::int64_t>(a * positions.size() + s), positions[s][a]);
      }
    }
  } else if (offsets_) {
    call.position_offset = asked;
  }
  for_each_row(call.q, [&](const RowIndex& row, std::byte* data) {
    store(call.q.dtype, data, 1, dim, inputs.data() + static_cast<std::size_t>(row.head) * dim);
  });
  if (prepare) prepare(call);
  const Trial trial = examiner_.run(std::move(call));
  ++calls_;
  rows_ += static_cast<std::int64_t>(rows) * c.seq;
  if (!trial.ok()) throw ProbeError(explain(trial.problem));
  const Tensor& y = trial.call.q_result();
  std::vector<double> outputs(dim);
  for (std::size_t s = from_zero ? static_cast<std::size_t>(c.seq) - 1 : 0; s < static_cast<std::size_t>(c.seq); ++s) {
    for (std::size_t row = 0; row < rows; ++row) {
      const RowIndex at{0, static_cast<std::int64_t>(s), static_cast<std::int64_t>(row)};
      for (std::size_t j = 0; j < dim; ++j) outputs[j] = written_at(y, at, static_cast<std::int64_t>(j));
      visit(from_zero ? first_position : first_position + s, first_row + row, outputs);
    }
  }
}

std::vector<double> one_hot_rows(int head_dim) {
  const auto dim = static_cast<std::size_t>(head_dim);
  std::vector<double> rows(dim * dim);
  for (std::size_t j = 0; j < dim; ++j) rows[j * dim + j] = 1;
  return rows;
}

}  // namespace rope
