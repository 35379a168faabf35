// Mistakes of kernels of the nineteenth blind set, which the diagnosis called otherwise.
#include <cmath>

#include "tests/unit/diagnose/subjects.hpp"

using namespace rope;
using namespace rope::test;

namespace {

Claims claims_of_contiguous_memory() {
  Claims claims = all_claims();
  claims.far_tensors = claims.packed_tensors = false;
  return claims;
}

double flushed(DType dtype, double x) {
  const double smallest_normal = smallest_subnormal(dtype) / (2 * unit_roundoff(dtype));
  return std::fabs(x) < smallest_normal ? std::copysign(0.0, x) : x;
}

void flush(Tensor& tensor) {
  const std::size_t size = size_of(tensor.dtype);
  for (std::byte* at = tensor.bytes.begin(); at + size <= tensor.bytes.end(); at += size) {
    store(tensor.dtype, at, flushed(tensor.dtype, load(tensor.dtype, at)));
  }
}

}  // namespace

TEST_CASE("A condition of whole calls is not taken for one of a batch and of sizes") {
  Fake subject = misled([](Call& call) {
    if (!call.positions || call.positions->shape[1] < 2) return;
    Tensor& p = *call.positions;
    const auto at = [&](std::int64_t axis, std::int64_t batch, std::int64_t s) {
      return axis * p.strides[0] + batch * p.strides[1] + s * p.strides[2];
    };
    for (std::int64_t axis = 0; axis < p.shape[0]; ++axis) {
      for (std::int64_t b = 1; b < p.shape[1]; ++b) {
        if (integer_at(p, at(axis, b, 0)) != integer_at(p, at(axis, 0, 0))) return;
      }
    }
    for (std::int64_t axis = 0; axis < p.shape[0]; ++axis) {
      for (std::int64_t b = 1; b < p.shape[1]; ++b) {
        for (std::int64_t s = 0; s < p.shape[2]; ++s) store_integer(p, at(axis, b, s), integer_at(p, at(axis, 0, s)));
      }
    }
  });
  const Candidate first = first_of(diagnosed(subject, {"ROT-01", "POS-04"}));
  CHECK(first.sentence == "every batch gets the positions of the first batch");
  CHECK(first.condition == "only batches that all start at the same position");
}

TEST_CASE("Pass-through features that are moved as one block are called so, not only by the output's stride") {
  Fake subject(claims_of_contiguous_memory(), [](Call& call) {
    const Call before = call;
    const Reply reply = computed(call);
    if (reply.status != ROPE_OK || call.in_place || before.q.dtype != call.q_out->dtype) return reply;
    const auto move = [&](const Tensor& in, Tensor& out) {
      for_each_row(out, [&](const RowIndex& row, std::byte*) {
        const std::int64_t rotary = before.rotary_dim;
        const auto size = static_cast<std::int64_t>(size_of(in.dtype));
        const std::int64_t from = in.origin + row_offset(in, row) + rotary * in.strides[3];
        const std::int64_t to = out.origin + row_offset(out, row) + rotary * out.strides[3];
        const std::int64_t count = out.shape[3] - rotary;
        std::vector<double> values;
        for (std::int64_t i = 0; i < count; ++i) {
          const bool is_inside = (from + i + 1) * size <= std::ssize(in.bytes);
          values.push_back(is_inside ? load(in.dtype, in.bytes.data() + (from + i) * size) : 0);
        }
        for (std::int64_t i = 0; i < count && (to + i + 1) * size <= std::ssize(out.bytes); ++i) {
          store(out.dtype, out.bytes.data() + (to + i) * size, values[static_cast<std::size_t>(i)]);
        }
      });
    };
    move(before.q, *call.q_out);
    if (call.k) move(*before.k, *call.k_out);
    return reply;
  });
  CHECK(with_condition(diagnosed(subject, {"ROT-01", "MEM-03"})) ==
        "pass-through features are copied as one block, as if their stride were 1 in the input and the output");
}

TEST_CASE("Only the first token after empty sequences that gets another start is named") {
  Fake subject = misled([](Call& call) {
    if (!call.cu_seqlens || !call.seqlen_offsets || call.q.shape[0] != 1) return;
    const Call given = call;
    call.cu_seqlens.reset();
    call.seqlen_offsets.reset();
    call.axes = 1;
    call.position_offset = 0;
    call.positions = Tensor::contiguous(DType::i64, {1, 1, given.q.shape[1]});
    for (std::int64_t s = 0; s < given.q.shape[1]; ++s) {
      const PlaceInSequence place = place_in_sequence(given, 0, s);
      std::int64_t of = place.sequence;
      while (s == place.first && of > 0 && integer_at(*given.cu_seqlens, of - 1) == s) --of;
      store_integer(*call.positions, s, integer_at(*given.seqlen_offsets, of) + s - place.first);
    }
  });
  CHECK(first_of(diagnosed(subject, {"ROT-01", "POS-07"})).sentence ==
        "the first token of a sequence after empty ones gets the value of seqlen_offsets for the first of these");
}

TEST_CASE("Subnormal entries of tables that are taken for zeros are named beside the inputs") {
  Fake subject(claims_of_contiguous_memory(), [](Call& call) {
    const Call before = call;
    for (Tensor* tensor :
         {&call.q, call.k ? &*call.k : nullptr, call.cos ? &*call.cos : nullptr, call.sin ? &*call.sin : nullptr}) {
      if (tensor != nullptr && tensor->dtype == DType::f16) flush(*tensor);
    }
    const Reply reply = computed(call);
    if (reply.status != ROPE_OK) return reply;
    const auto copy_others = [&](const Tensor& in, Tensor& out) {
      for_each_row(out, [&](const RowIndex& row, std::byte* data) {
        for (std::int64_t f = before.rotary_dim; f < out.shape[3]; ++f) {
          store(out.dtype, data + f * feature_step(out), value_at(in, row, static_cast<int>(f)));
        }
      });
    };
    copy_others(before.q, q_of(call));
    if (call.k) copy_others(*before.k, k_of(call));
    if (!call.in_place) call.q = before.q, call.k = before.k;
    call.cos = before.cos;
    call.sin = before.sin;
    return reply;
  });
  CHECK(first_of(diagnosed(subject, {"ANG-01", "SPC-04"})).sentence ==
        "subnormal inputs and entries of tables are taken for zeros");
}

TEST_CASE("Pairs that are loaded as a whole vector leave tables and heads, whichever ends first") {
  Fake subject(claims_of_contiguous_memory(), [](Call& call) {
    const std::int64_t pairs = call.rotary_dim / 2, end = (pairs + 3) / 4 * 4;
    std::optional<OutsideAccess> outside;
    const auto look = [&](const char* name, const Tensor& tensor, std::int64_t element) {
      const auto held = static_cast<std::int64_t>(tensor.bytes.size() / size_of(tensor.dtype));
      if (!outside && tensor.origin + element >= held) outside = OutsideAccess{name, false, tensor.origin + element};
    };
    const auto walk = [&](const char* name, const Tensor& in) {
      for_each_row(in, [&](const RowIndex& row, const std::byte*) {
        const std::int64_t position = token_position(call, row.batch, row.seq)[0];
        const bool is_split = call.pairing == Pairing::half_split;
        for (std::int64_t i = pairs; i < end; ++i) {
          const std::int64_t last = is_split ? pairs + i : 2 * i + 1;
          if (call.cos)
            look("cos", *call.cos, position * call.cos->strides[0] + (call.cos->shape[1] == pairs ? i : last));
          if (call.sin)
            look("sin", *call.sin, position * call.sin->strides[0] + (call.sin->shape[1] == pairs ? i : last));
          look(name, in, row_offset(in, row) + last * in.strides[3]);
        }
      });
    };
    if (call.axes == 1) walk("q", call.q);
    if (call.axes == 1 && call.k) walk("k", *call.k);
    if (outside) {
      return Reply{ReplyKind::misbehaved, ROPE_FAILED, "read past the end of " + outside->tensor, 0, outside};
    }
    return computed(call);
  });
  CHECK(first_of(diagnosed(subject, {"ROT-01", "MEM-01"})).sentence ==
        "the pairs left over from vectors of 4 are loaded as a whole vector, beyond the ends of cos, sin and the "
        "features");
}
