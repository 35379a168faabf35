// Diagnoses of what is read and written where: beyond the ends, by other strides, over what the output held.
#include "tests/unit/diagnose/subjects.hpp"

using namespace rope;
using namespace rope::test;

namespace {

// A kernel that reads `past` a tensor's end in some calls, and is right in the others.
Fake reading(std::function<std::optional<OutsideAccess>(const Call&)> past) {
  return Fake(plain_claims(), [past = std::move(past)](Call& call) {
    const std::optional<OutsideAccess> outside = past(call);
    if (!outside) return computed(call);
    return Reply{ReplyKind::misbehaved, ROPE_FAILED, "read past the end of " + outside->tensor, 0, outside};
  });
}

std::int64_t held_by(const Tensor& t) { return static_cast<std::int64_t>(t.bytes.size() / size_of(t.dtype)); }

// Whether two of the dimensions, by their places, have no common stride.
bool breaks(const Tensor& out, std::initializer_list<std::size_t> dimensions) {
  std::optional<std::size_t> outer;
  for (const std::size_t i : dimensions) {
    if (out.shape[i] < 2) continue;
    if (outer && out.strides[*outer] != out.shape[i] * out.strides[i]) return true;
    outer = i;
  }
  return false;
}

const std::vector<std::string> reads{"ROT-01", "MEM-01"}, strides{"ROT-01", "MEM-03"};

}  // namespace

TEST_CASE("A read beyond the end is named, with what leads there") {
  Fake shared = reading([](const Call& call) -> std::optional<OutsideAccess> {
    const bool is_shared = call.positions && call.q.shape[0] > 1 && call.positions->strides[1] == 0;
    if (!is_shared || call.positions->count() == 0) return {};
    return OutsideAccess{"positions", false, call.positions->shape[2] * call.positions->strides[2]};
  });
  CHECK(first_of(diagnosed(shared)).condition == "only positions shared by the batches, several batches");
  expect("whole blocks", reading([](const Call& call) -> std::optional<OutsideAccess> {
           if (!call.cos || call.cos->null || call.cos->shape[1] % 4 == 0 || call.q.count() == 0) return {};
           const std::int64_t held = held_by(*call.cos);
           for (std::int64_t b = 0; b < call.q.shape[0]; ++b) {
             for (std::int64_t s = 0; s < call.q.shape[1]; ++s) {
               const std::int64_t row = token_position(call, b, s)[0] * call.cos->strides[0];
               if (row + (call.cos->shape[1] + 3) / 4 * 4 > held) return OutsideAccess{"cos", false, held};
             }
           }
           return {};
         }),
         {"rows of cos are read in whole blocks of 4, so the last one goes beyond the end", {}, {}, reads});
  expect("a whole vector of pairs", reading([](const Call& call) {
           const std::int64_t pairs = call.rotary_dim / 2, end = (pairs + 3) / 4 * 4;
           std::optional<OutsideAccess> outside;
           const auto look = [&](const char* name, const Tensor& tensor, std::int64_t element) {
             const std::int64_t at = tensor.origin + element;
             if (!outside && at >= held_by(tensor)) outside = OutsideAccess{name, false, at};
           };
           const auto walk = [&](const char* name, const Tensor& in) {
             for_each_row(in, [&](const RowIndex& row, const std::byte*) {
               const std::int64_t position = token_position(call, row.batch, row.seq)[0];
               for (std::int64_t i = pairs; i < end; ++i) {
                 const std::int64_t last = call.pairing == Pairing::half_split ? pairs + i : 2 * i + 1;
                 const auto look_up = [&](const char* table_name, const std::optional<Tensor>& table) {
                   if (!table) return;
                   look(table_name, *table, position * table->strides[0] + (table->shape[1] == pairs ? i : last));
                 };
                 look_up("cos", call.cos);
                 look_up("sin", call.sin);
                 look(name, in, row_offset(in, row) + last * in.strides[3]);
               }
             });
           };
           if (call.axes == 1) walk("q", call.q);
           if (call.axes == 1 && call.k) walk("k", *call.k);
           return outside;
         }),
         {"the pairs left over from vectors of 4 are loaded as a whole vector, beyond the ends of cos, sin and the "
          "features",
          {},
          {},
          reads});
}

TEST_CASE("Strides that decide whether rows come out right are named") {
  expect(
      "a reshape that would copy", leaving_out([](const ResultElement& e) {
        return breaks(e.key ? e.call.k_result() : e.call.q_result(), {0, 1});
      }),
      {"the output is never written", "only outputs whose tokens of all batches have no common stride", {}, strides});
  Fake rows = altered([](const ResultElement& e) {
    return breaks(e.key ? e.call.k_result() : e.call.q_result(), {0, 1, 2}) ? e.x : e.y;
  });
  CHECK(first_of(diagnosed(rows, strides)).condition == "only outputs whose heads of all tokens have no common stride");
  expect("pass-through features as one block", with_results([](const Call& before, Call& after) {
           if (before.in_place || before.q.dtype != before.q_out->dtype) return;
           const auto move = [&](const Tensor& in, Tensor& out) {
             for_each_row(out, [&](const RowIndex& row, std::byte*) {
               const std::int64_t from = in.origin + row_offset(in, row) + before.rotary_dim * in.strides[3];
               const std::int64_t to = out.origin + row_offset(out, row) + before.rotary_dim * out.strides[3];
               const auto size = static_cast<std::int64_t>(size_of(in.dtype));
               for (std::int64_t i = 0; i < out.shape[3] - before.rotary_dim && to + i < held_by(out); ++i) {
                 const double x = from + i < held_by(in) ? load(in.dtype, in.bytes.data() + (from + i) * size) : 0;
                 store(out.dtype, out.bytes.data() + (to + i) * size, x);
               }
             });
           };
           move(before.q, *after.q_out);
           if (after.k) move(*before.k, *after.k_out);
         }),
         {"pass-through features are copied as one block, as if their stride were 1 in the input and the output",
          "",
          {},
          strides});
}

TEST_CASE("Results that are added to what the output held are found, also where it held NaN") {
  expect("backward", altered([](const ResultElement& e) {
           return e.call.direction == Direction::backward && !e.call.in_place ? e.y + e.held() : e.y;
         }),
         {"results are added to what the output held, which should be overwritten",
          "only backward, out of place",
          {},
          {"ROT-01", "BWD-01"}});
}

TEST_CASE("Tables that are taken for half width where rotary_dim is half of head_dim are found with that") {
  expect("full tables", with_modified_call([](Call& call) {
           const bool is_full = call.source == AngleSource::tables && call.cos->shape[1] == call.rotary_dim;
           if (!is_full || call.pairing == Pairing::half_split || 2 * call.rotary_dim != call.q.shape[3]) return;
           const std::size_t size = size_of(call.cos->dtype);
           for (Tensor* table : {&*call.cos, &*call.sin}) {
             const Tensor given = *table;
             for (std::int64_t row = 0; row < table->shape[0]; ++row) {
               for (std::int64_t column = 0; column < call.rotary_dim; ++column) {
                 const auto at = [&](std::int64_t c) {
                   return static_cast<std::size_t>(row * table->strides[0] + c) * size;
                 };
                 std::memcpy(table->data() + at(column), given.data() + at(column / 2), size);
               }
             }
           }
         }),
         {"full-width tables are read as if they had half width",
          "only rotary_dim half of head_dim, interleaved pairs",
          {},
          strides});
}
