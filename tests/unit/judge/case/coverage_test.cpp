#include "tools/judge/case/coverage.hpp"

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include "tests/unit/judge/case/any_case.hpp"

namespace rope {
namespace {

using Catch::Contains;

struct Row {
  const char* reason;
  void (*ask)(Case&);         // makes the case need it
  void (*withdraw)(Claims&);  // takes it from the claims
};

void without(Claims& claims, rope_feature feature) { claims.capabilities.features &= ~ROPE_BIT(feature); }
void without(std::uint32_t& mask, int bit) { mask &= ~(1u << bit); }

const Row rows[] = {
    {"bf16 input", [](Case& c) { c.dtype = c.out_dtype = DType::bf16; },
     [](Claims& k) { k.capabilities.out_dtypes[ROPE_BF16] = 0; }},
    {"f32 output for bf16 input", [](Case& c) { c.dtype = DType::bf16; },
     [](Claims& k) { without(k.capabilities.out_dtypes[ROPE_BF16], ROPE_F32); }},
    {"angle source computed", [](Case& c) { c.source = AngleSource::computed; },
     [](Claims& k) { without(k.capabilities.angle_sources, ROPE_COMPUTED); }},
    {"f16 tables", [](Case& c) { c.given = DType::f16; },
     [](Claims& k) { without(k.capabilities.table_dtypes, ROPE_F16); }},
    {"f64 frequencies", [](Case& c) { c.source = AngleSource::frequencies, c.given = DType::f64; },
     [](Claims& k) { without(k.capabilities.theta_dtypes, ROPE_F64); }},
    {"i32 positions", [](Case& c) { c.form = PositionForm::shared, c.position_dtype = DType::i32; },
     [](Claims& k) { without(k.capabilities.position_dtypes, ROPE_I32); }},
    {"interleaved", [](Case& c) { c.spec.pairing = Pairing::interleaved; },
     [](Claims& k) { without(k.capabilities.pairings, ROPE_INTERLEAVED); }},
    {"head_dim 96", [](Case& c) { c.spec.head_dim = c.spec.rotary_dim = 96; },
     [](Claims& k) {
       k.head_dims = {64, 128};
     }},
    {"rotary_dim 2", [](Case& c) { c.spec.rotary_dim = 2; }, [](Claims& k) { k.capabilities.least_rotary_dim = 4; }},
    {"base 10000", [](Case& c) { c.source = AngleSource::computed; }, [](Claims& k) { k.capabilities.base = 500000; }},
    {"more tokens than rows",
     [](Case& c) {
       c.form = PositionForm::shared, c.pattern = PositionPattern::repeated, c.seq = 9;
     },
     [](Claims& k) { k.capabilities.seq_within_rows = 1; }},
    {"rows that share their memory cannot be written", [](Case& c) { c.layout = Layout::expanded; },
     [](Claims& k) { k.capabilities.overwrites_inputs = 1; }},
    {"full-width tables", [](Case& c) { c.full_tables = true; }, [](Claims& k) { k.capabilities.full_tables = 0; }},
    {"half-width tables", [](Case&) {}, [](Claims& k) { k.capabilities.half_tables = 0; }},
    {"scaling linear",
     [](Case& c) {
       c.source = AngleSource::computed, c.spec.scaling = scaling::Linear{{}, 2};
     },
     [](Claims& k) { without(k.capabilities.scalings, ROPE_SCALING_LINEAR); }},
    {"partial rotary", [](Case& c) { c.spec.rotary_dim = 64; }, [](Claims& k) { without(k, ROPE_FEATURE_PARTIAL); }},
    {"given positions", [](Case& c) { c.form = PositionForm::shared; },
     [](Claims& k) { without(k, ROPE_FEATURE_POSITIONS); }},
    {"positions per batch", [](Case& c) { c.form = PositionForm::per_batch, c.batch = 2; },
     [](Claims& k) { without(k, ROPE_FEATURE_BATCH_POSITIONS); }},
    {"a position offset", [](Case& c) { c.start = 1; }, [](Claims& k) { without(k, ROPE_FEATURE_OFFSET); }},
    {"a position offset",
     [](Case& c) {
       c.form = PositionForm::cu_seqlens, c.start = 1;
     },
     [](Claims& k) { without(k, ROPE_FEATURE_OFFSET); }},
    {"a start for each sequence", [](Case& c) { c.form = PositionForm::seqlen_offsets; },
     [](Claims& k) { without(k, ROPE_FEATURE_SEQLEN_OFFSETS); }},
    {"i32 positions",
     [](Case& c) {
       c.form = PositionForm::seqlen_offsets, c.position_dtype = DType::i32;
     },
     [](Claims& k) { without(k.capabilities.position_dtypes, ROPE_I32); }},
    {"packed sequences",
     [](Case& c) {
       c.form = PositionForm::cu_seqlens, c.sequences = 2;
     },
     [](Claims& k) { without(k, ROPE_FEATURE_CU_SEQLENS); }},
    {"a rotary offset", [](Case& c) { c.spec.rotary_dim = 62, c.spec.rotary_offset = 2; },
     [](Claims& k) { without(k, ROPE_FEATURE_ROTARY_OFFSET); }},
    {"in place", [](Case& c) { c.in_place = true; }, [](Claims& k) { without(k, ROPE_FEATURE_IN_PLACE); }},
    {"strides", [](Case& c) { c.layout = Layout::seq_last; }, [](Claims& k) { without(k, ROPE_FEATURE_STRIDED); }},
    {"at any element", [](Case& c) { c.layout = Layout::shifted; }, [](Claims& k) { k.capabilities.alignment = 16; }},
    {"at such an address", [](Case& c) { c.address = 8; }, [](Claims& k) { k.capabilities.alignment = 16; }},
    {"at such an address", [](Case& c) { c.output_address = 8; }, [](Claims& k) { k.capabilities.alignment = 16; }},
    {"only has tensors at aligned addresses", [](Case& c) { c.address = 8; },
     [](Claims& k) { k.shifted_tensors = false; }},
    {"only has tensors at aligned addresses", [](Case& c) { c.layout = Layout::shifted; },
     [](Claims& k) { k.shifted_tensors = false; }},
    {"strides", [](Case& c) { c.layout = Layout::expanded; }, [](Claims& k) { without(k, ROPE_FEATURE_STRIDED); }},
    {"strides",
     [](Case& c) {
       c.output = OutputLayout::key_strided;
       c.key_heads = 1;
     },
     [](Claims& k) { without(k, ROPE_FEATURE_STRIDED); }},
    {"strides", [](Case& c) { c.layout = Layout::angles_strided; },
     [](Claims& k) { without(k, ROPE_FEATURE_STRIDED); }},
    {"q and k into one memory",
     [](Case& c) {
       c.layout = Layout::packed;
       c.key_heads = 1;
     },
     [](Claims& k) { k.packed_tensors = false; }},
    {"k behind q is not aligned",
     [](Case& c) {
       c.layout = Layout::packed;
       c.spec.head_dim = c.spec.rotary_dim = 6;
       c.key_heads = c.heads = 1;
     },
     [](Claims& k) { k.capabilities.alignment = 16; }},
    {"beyond 2^31 elements", [](Case& c) { c.layout = Layout::distant_rows; },
     [](Claims& k) { k.far_tensors = false; }},
    {"q and k in one call", [](Case& c) { c.key_heads = 2; }, [](Claims& k) { without(k, ROPE_FEATURE_KEY); }},
    {"k with fewer heads", [](Case& c) { c.key_heads = 1; }, [](Claims& k) { without(k, ROPE_FEATURE_GROUPED_HEADS); }},
    {"bf16 input", [](Case& c) { c.before = {{DType::bf16, 3, 0}}; },
     [](Claims& k) { k.capabilities.out_dtypes[ROPE_BF16] = 0; }},
    {"positions beyond 99", [](Case& c) { c.before = {{DType::f32, 1, 0}, {DType::f32, 200, 0}}; },
     [](Claims& k) { k.capabilities.max_position = 99; }},
    {"backward", [](Case& c) { c.direction = Direction::backward; },
     [](Claims& k) { without(k, ROPE_FEATURE_BACKWARD); }},
    {"several position axes",
     [](Case& c) {
       c.spec.axes.sections = {32, 32};
     },
     [](Claims& k) { without(k, ROPE_FEATURE_AXES); }},
    {"an attention factor", [](Case& c) { c.spec.attention_factor = 2; },
     [](Claims& k) { without(k, ROPE_FEATURE_ATTENTION_FACTOR); }},
    {"tables with unequal halves", [](Case& c) { c.full_tables = c.unequal_halves = true; },
     [](Claims& k) { without(k, ROPE_FEATURE_UNEQUAL_HALVES); }},
    {"rows of positions beyond 99", [](Case& c) { c.spare_rows = 97; },
     [](Claims& k) { k.capabilities.max_position = 99; }},
    {"positions beyond 99", [](Case& c) { c.start = 97; }, [](Claims& k) { k.capabilities.max_position = 99; }},
};

TEST_CASE("a need of the case that the claims lack is the reason why it is not run", "[coverage]") {
  for (const Row& row : rows) {
    INFO(row.reason);
    Claims claims = test::all_claims();
    Case c;
    CHECK(uncovered(c, claims).empty());
    row.ask(c);
    CHECK(uncovered(c, claims).empty());
    row.withdraw(claims);
    CHECK_THAT(uncovered(c, claims), Contains(row.reason));
  }
}

TEST_CASE("a claim that the case does not need may be missing", "[coverage]") {
  for (const Row& row : rows) {
    if (std::string(row.reason) == "half-width tables") continue;  // the plain case has them
    INFO(row.reason);
    Claims claims = test::all_claims();
    row.withdraw(claims);
    CHECK(uncovered(Case{}, claims).empty());
  }
}

TEST_CASE("a factor that comes with the rule needs the claim too", "[coverage]") {
  Claims claims = test::all_claims();
  without(claims, ROPE_FEATURE_ATTENTION_FACTOR);
  Case c;
  scaling::Yarn yarn;
  yarn.factor = 4;
  yarn.original_max_position_embeddings = 4096;
  c.spec.scaling = yarn;
  CHECK_THAT(uncovered(c, claims), Contains("an attention factor"));
  c.spec.attention_factor = 1;
  CHECK(uncovered(c, claims).empty());
}

TEST_CASE("without a list of head_dims every even one is claimed", "[coverage]") {
  Claims claims = test::all_claims();
  Case c;
  c.spec.head_dim = 130;
  CHECK(uncovered(c, claims).empty());
  c.spec.head_dim = 129;
  CHECK_THAT(uncovered(c, claims), Contains("head_dim 129 is not claimed"));
  claims.head_dims = {129};
  CHECK(uncovered(c, claims).empty());
}

TEST_CASE("a case that no call can express is never covered", "[coverage]") {
  Claims claims = test::all_claims();
  claims.capabilities.max_position = std::int64_t{1} << 40;
  Case far;
  far.source = AngleSource::computed;
  far.start = std::int64_t{1} << 31;
  CHECK(uncovered(far, claims).empty());
  far.form = PositionForm::shared;
  CHECK(uncovered(far, claims).empty());
  far.position_dtype = DType::i32;
  CHECK_THAT(uncovered(far, claims), Contains("i32 holds no such position"));
  Case c;
  c.in_place = true;
  c.dtype = DType::bf16;
  CHECK_THAT(uncovered(c, claims), Contains("the dtype of the input"));
  c.dtype = DType::f32;
  c.layout = Layout::expanded;
  CHECK_THAT(uncovered(c, claims), Contains("rows that share their memory"));
  c.layout = Layout::packed;
  CHECK_THAT(uncovered(c, claims), Contains("no k that could lie behind q"));
  c.layout = Layout::key_strided;
  CHECK_THAT(uncovered(c, claims), Contains("no k that could have other strides"));
  c.in_place = false;
  c.layout = Layout::distant_rows;
  c.source = AngleSource::computed;
  CHECK_THAT(uncovered(c, claims), Contains("no tables with distant rows"));
  c.layout = Layout::angles_strided;
  CHECK_THAT(uncovered(c, claims), Contains("neither positions nor tables"));
  c = Case{};
  c.sequences = 2;
  CHECK_THAT(uncovered(c, claims), Contains("packs sequences"));
  c.form = PositionForm::cu_seqlens;
  CHECK(uncovered(c, claims).empty());
  c.batch = 2;
  CHECK_THAT(uncovered(c, claims), Contains("packs sequences"));
  c.batch = 1;
  c.pattern = PositionPattern::descending;
  CHECK_THAT(uncovered(c, claims), Contains("counted from a start"));
  c.form = PositionForm::offset;
  c.sequences = 1;
  CHECK_THAT(uncovered(c, claims), Contains("counted from a start"));
  c.form = PositionForm::shared;
  CHECK(uncovered(c, claims).empty());
  c.sequence_length = largest_position(c) + 1;
  CHECK(uncovered(c, claims).empty());
  --c.sequence_length;
  CHECK_THAT(uncovered(c, claims), Contains("has no position"));
  c = Case{};
  c.unequal_halves = true;
  CHECK_THAT(uncovered(c, claims), Contains("only full-width tables"));
  c = Case{};
  c.source = AngleSource::computed;
  c.spec.axes = {{32, 32}, AxisLayout::Order::chunked, true};
  CHECK_THAT(uncovered(c, claims), Contains("restart"));
  c.source = AngleSource::frequencies;
  CHECK(uncovered(c, claims).empty());
}

TEST_CASE("tables of more than 2^29 bytes are covered only where their first rows take no memory", "[coverage]") {
  Claims claims = test::all_claims();
  claims.compiled = claims.far_tensors = true;
  Case c;
  c.spec.head_dim = c.spec.rotary_dim = 128;  // 256 bytes a row of cos
  c.heads = c.batch = c.seq = 1;
  c.start = 1 << 21;
  CHECK(uncovered(c, claims) == "");
  ++c.start;
  CHECK_THAT(uncovered(c, claims), Contains("its tables would take more than 2^29 bytes; with layout=late_rows"));
  c.layout = Layout::late_rows;
  CHECK(uncovered(c, claims) == "");
  c.start = (std::int64_t{1} << 28) + 1;
  CHECK(uncovered(c, claims) == "its tables would take more than 2^36 bytes");
  c.start = 1 << 22;
  claims.compiled = false;
  CHECK(uncovered(c, claims) == "its worker cannot leave out rows of tables");
}

TEST_CASE("empty claims cover no case", "[coverage]") {
  rc::prop("of random cases", [] { RC_ASSERT(!uncovered(test::any_case(), test::no_claims()).empty()); });
}

}  // namespace
}  // namespace rope
