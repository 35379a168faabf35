// Which variables a subject gets.
#include "tools/worker/sandbox/environment.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

namespace rope::sandbox {
namespace {

using Entries = std::vector<std::string>;

TEST_CASE("sandbox: variables that libraries need are passed, and no secrets") {
  for (const char* name : {"PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV",
                           "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                           "MKL_DEBUG_CPU_TYPE", "TRITON_INTERPRET", "JAX_PLATFORMS", "XLA_FLAGS", "TORCH_LOGS",
                           "TORCHINDUCTOR_MAX_AUTOTUNE",
                           "POCL_DEVICES", "OCL_ICD_VENDORS"}) {
    CAPTURE(name);
    CHECK(passes(name));
  }
  for (const char* name : {"HOME", "USER", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "NVIDIA_API_KEY",
                           "JAX_SECRET", "PYTHON_PASSWORD", "ROPECHECK_WORKER", "TRITON_CACHE_DIR", "CUDA_CACHE_PATH",
                           "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"}) {
    CAPTURE(name);
    CHECK_FALSE(passes(name));
  }
}

TEST_CASE("sandbox: HOME and TMPDIR name the scratch folder; added variables are passed on") {
  const Entries entries =
      reduced_environment({"HOME=/nowhere/me", "LANG=C", "MINE=1", "OTHER=2", "MINE_TOO=3"}, {"MINE"}, "/scratch");
  CHECK(entries == Entries{"LANG=C", "MINE=1", "HOME=/scratch", "TMPDIR=/scratch"});
}

TEST_CASE("sandbox: what is withheld is named, paths first, and no secrets") {
  CHECK(withheld_variables({"LANG=C", "COLOUR=red", "MY_SOURCES=/src", "TERM=xterm", "NODE_PATH=a", "GIVEN=/x",
                            "A_TOKEN=/y", "EMPTY="},
                           {"GIVEN"}) == Entries{"NODE_PATH", "MY_SOURCES", "COLOUR", "EMPTY"});
}

}  // namespace
}  // namespace rope::sandbox
