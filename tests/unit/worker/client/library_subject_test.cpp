#include "tools/worker/client/library_subject.hpp"

#include <cstdlib>

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/unit/places.hpp"
#include "tests/unit/worker/small_call.hpp"
#include "tools/worker/client/subject_error.hpp"
#include "tools/worker/protocol/wire.hpp"

namespace rope {
namespace {

using Catch::Contains;

const std::filesystem::path built = build_folder();

std::string refusal(const std::filesystem::path& library, std::string_view kernel) {
  try {
    open_library(library, kernel);
  } catch (const SubjectError& error) {
    return error.what();
  }
  return "(opened)";
}

TEST_CASE("claims and names come from the library without loading it here") {
  const auto subject = open_library(misbehaving, "alignment");
  CHECK(subject->name() == misbehaving.string() + "#alignment");
  const rope_capabilities& claims = subject->claims().capabilities;
  CHECK(claims.alignment == 64);
  CHECK(claims.out_dtypes[ROPE_F64] == 0);
  CHECK(claims.out_dtypes[ROPE_F32] == ROPE_BIT(ROPE_F32));
  CHECK(claims.out_dtypes[ROPE_BF16] == (ROPE_BIT(ROPE_BF16) | ROPE_BIT(ROPE_F32)));
  CHECK(claims.pairings == ROPE_BIT(ROPE_HALF_SPLIT));
  CHECK(claims.angle_sources == ROPE_BIT(ROPE_TABLES));
  CHECK(claims.half_tables == 1);
  CHECK(claims.full_tables == 0);
  CHECK(claims.max_position == 1 << 20);
  CHECK(claims.device == ROPE_CPU);
  CHECK(subject->claims().has(ROPE_FEATURE_OFFSET));
  CHECK_FALSE(subject->claims().has(ROPE_FEATURE_KEY));
  CHECK(subject->claims().head_dims == std::vector<std::int32_t>{64, 128});

  const std::vector<std::string> names = kernels_in(misbehaving).names;
  CHECK(names.size() == 43);
  CHECK(names.front() == "right");
  CHECK(names.back() == "old_struct");
  CHECK(kernels_in(built / "throwing.so").names.front() == "throws");
}

TEST_CASE("a library that cannot be opened is refused with what to do") {
  CHECK_THAT(refusal("/nowhere/lib.so", ""), Contains("/nowhere/lib.so does not exist"));
  CHECK_THAT(refusal("/tmp", ""), Contains("/tmp is a folder"));
  const std::filesystem::path text = built / "not_a_library.so";
  std::ofstream(text) << "hello";
  CHECK_THAT(refusal(text, ""), Contains("cannot be loaded") && Contains("not_a_library.so"));
  CHECK_THAT(refusal(built / "no_kernels.so", ""), Contains("does not export rope_kernel_count"));
  CHECK_THAT(refusal(built / "zero_kernels.so", ""), Contains("holds no kernels: rope_kernel_count() returned 0"));
  CHECK_THAT(refusal(built / "odd_many.so", ""),
             Contains("says that it holds 4294967295 kernels: rope_kernel_count() may return at most 1024"));
  CHECK_THAT(refusal(built / "odd_deep.so", ""), Contains("byte 64: nested 65 deep; allowed are 64 levels"));
  CHECK_THAT(refusal(misbehaving, ""),
             Contains("holds 43 kernels; choose one of them") && Contains("right, null_write"));
  CHECK_THAT(refusal(misbehaving, "rihgt"), Contains("holds no kernel rihgt; did you mean right? it holds right, null_write"));
  CHECK_THAT(refusal(misbehaving, "future_abi"), Contains("is built for ABI 2, this ropecheck speaks ABI 1"));
  CHECK_THAT(refusal(misbehaving, "short_struct"), Contains("says struct_size 24, ABI 1 needs at least"));
  CHECK_THAT(refusal(misbehaving, "null_apply"), Contains("has no apply"));
  CHECK_THROWS_AS(kernels_in(built / "no_kernels.so"), SubjectError);
}

TEST_CASE("two kernels of one name are asked for by their index") {
  const std::filesystem::path twins = built / "odd_twins.so";
  CHECK_THAT(refusal(twins, "twin"), Contains("kernels 0 and 1 have the same name, twin; choose one by its index, as in") &&
                                         Contains("odd_twins.so#0"));
  CHECK(open_library(twins, "1")->name() == twins.string() + "#1");
  CHECK_THAT(refusal(twins, "2"), Contains("holds no kernel 2"));
  CHECK(kernels_in(twins).names.empty());
  CHECK(kernels_in(twins).refused.size() == 2);
}

TEST_CASE("a kernel without a name that can be used does not stand in the way of others") {
  const std::filesystem::path mixed = built / "odd_mixed.so";
  const KernelList list = kernels_in(mixed);
  CHECK(list.names == std::vector<std::string>{"right", R"(bell\x07\x1b[31m<b>\u202e)", "large_head_dim",
                                               "many_head_dims", "endless_head_dims", "lacks_apply"});
  std::vector<std::string> why;
  for (const RefusedKernel& one : list.refused) why.push_back(fmt::format("{}: {}", one.index, one.why));
  CHECK(why == std::vector<std::string>{
                   "1: the name of kernel 1 cannot be used: it is empty",
                   "2: the name of kernel 2, a#b, holds '#', which stands between library and kernel",
                   "3: the name of kernel 3 cannot be used: it is not UTF-8",
                   "4: the name of kernel 4 cannot be used: it has more than 256 bytes",
                   "6: kernel 6 has no name (it is NULL); set rope_kernel.name",
                   "11: rope_kernel_get(11) returned NULL although rope_kernel_count() returned 12"});
  for (const char* index : {"1", "2", "3", "4", "6"}) CHECK_NOTHROW(open_library(mixed, index));
  CHECK_NOTHROW(open_library(mixed, R"(bell\x07\x1b[31m<b>\u202e)"));
  CHECK_THAT(refusal(mixed, "11"), Contains("rope_kernel_get(11) returned NULL"));
}

TEST_CASE("a list of kernels that something else than the host wrote is refused") {
  CHECK_THROWS_WITH(kernels_in(built / "odd_empty.so"),
                    Contains("odd_empty.so: the worker's list of kernels cannot be used: it names no kernel"));
  for (const char* words :
       {"{}", R"({"kernels": 7})", R"({"kernels": null})", R"({"kernels": [1]})", R"({"kernels": [""]})",
        R"({"kernels": ["a"], "refused": 7})", R"({"kernels": ["a"], "refused": [7]})",
        R"({"kernels": [], "refused": [{"why": "a"}]})", R"({"kernels": [], "refused": [{"index": 0, "why": 7}]})",
        R"({"kernels": [], "refused": [{"index": 1e300, "why": "a"}]})",
        R"({"kernels": [], "refused": [{"index": -1, "why": "a"}]})", R"({"kernels": ["\u001b[31m"]})"}) {
    INFO(words);
    CHECK_THROWS_AS(kernel_list_in(nlohmann::json::parse(words)), SubjectError);
  }
  const nlohmann::json right = {{"kernels", {"a"}}, {"refused", {{{"index", 3}, {"why", "b\x1b"}}}}};
  CHECK(kernel_list_in(right).names == std::vector<std::string>{"a"});
  CHECK(kernel_list_in(right).refused.at(0).why == "b?");
  const nlohmann::json many = {{"kernels", std::vector<std::string>(wire::most_kernels + 1, "a")}};
  CHECK_THROWS_WITH(kernel_list_in(many), Contains("it names 1025 kernels; a library may hold 1024"));
}

TEST_CASE("claims without bound are refused with what is allowed, and not read") {
  const std::filesystem::path mixed = built / "odd_mixed.so";
  CHECK_THAT(refusal(mixed, "large_head_dim"), Contains("head_dims: 2147483646 is not a whole number from 2 to 65536"));
  CHECK_THAT(refusal(mixed, "many_head_dims"), Contains("head_dims: 100000 are claimed; allowed are 1024"));
  CHECK_THAT(refusal(mixed, "endless_head_dims"), Contains("head_dims: 2147483647 are claimed; allowed are 1024"));
}

TEST_CASE("a library that changes what its host says of itself gets no fewer checks") {
  const auto subject = open_library(built / "odd_hello.so", "");
  CHECK(subject->claims().compiled);
  CHECK(subject->claims().concurrent_calls);
  CHECK(subject->claims().far_tensors);
  CHECK(subject->claims().packed_tensors);
  Call call = small_call();
  call.q_out = call.q = Tensor::contiguous(DType::f32, {1, 1, 2, 64});  // less than a page: there is room to write to
  call.sequence_length = 1;
  const Reply reply = subject->apply(call);
  CHECK(reply.kind == ReplyKind::misbehaved);
  CHECK_THAT(reply.detail, Contains("wrote 1 element before the start of q_out"));
}

TEST_CASE("a crash while the library is loaded is an error of the start") {
  setenv("CRASH_WHILE_LOADING", "1", 1);
  const std::string text = refusal(built / "throwing.so", "");
  unsetenv("CRASH_WHILE_LOADING");
  CHECK_THAT(text, Contains("the subject aborted") && Contains("while it was loaded, before any call"));
}

TEST_CASE("a host that is missing or does not speak the protocol is an error of the start") {
  WorkerOptions options;
  options.host = "/nowhere/host";
  CHECK_THROWS_WITH(open_library(misbehaving, "right", options),
                    Contains("the worker program /nowhere/host cannot be started"));
  options.host = "/bin/echo";
  CHECK_THROWS_WITH(open_library(misbehaving, "right", options),
                    Contains("ended its process with exit status 0 while it was loaded") && Contains("__worker"));
}

}  // namespace
}  // namespace rope
