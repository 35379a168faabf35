#include "tools/worker/sandbox/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace rope::sandbox {
namespace {

constexpr std::array names{"PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "LD_PRELOAD", "VIRTUAL_ENV",
                           "CONDA_PREFIX", "CC", "CXX", "SOURCE_DATE_EPOCH"};

constexpr std::array beginnings{
    "LC_",        "PYTHON",                                                     // the interpreter
    "CUDA_",      "NVIDIA_", "NVCC_",  "CUBLAS_", "CUDNN_",   "NCCL_",          // devices
    "HIP_",       "ROCM_",   "ROCR_",  "HSA_",    "ZE_",      "SYCL_", "ONEAPI_",
    "OMP_",       "GOMP_",   "KMP_",   "TBB_",    "NUMEXPR_",                   // threads
    "OPENBLAS_",  "BLIS_",   "MKL_",   "DNNL_",   "ONEDNN_",                    // linear algebra
    "TORCH",      "PYTORCH_", "ATEN_", "TRITON_", "JAX_",     "XLA_",  "TF_",   // frameworks
    "ORT_",       "ONNX",    "POCL_",  "OCL_",    "OPENCL_",
    "ASAN_",      "LSAN_",   "MSAN_",  "TSAN_",   "UBSAN_"};                    // sanitizers

constexpr std::array secrets{"TOKEN", "SECRET", "PASSW", "CREDENTIAL", "_KEY"};
constexpr std::array of_sessions{"HOME",  "TMPDIR", "PWD",     "OLDPWD", "SHLVL",    "_",
                                 "SHELL", "TERM",   "LOGNAME", "USER",   "HOSTNAME", "LS_COLORS"};
constexpr std::array endings_of_caches{"_CACHE_DIR", "_CACHE_PATH", "_CACHE_HOME"};

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

template <class List>
bool contains(const List& list, std::string_view name) {
  return std::ranges::find(list, name) != std::end(list);
}

}  // namespace

bool passes(std::string_view name) {
  const auto stands_in = [&](std::string_view part) { return name.find(part) != name.npos; };
  if (std::ranges::any_of(secrets, stands_in)) return false;
  if (std::ranges::any_of(endings_of_caches, [&](std::string_view end) { return name.ends_with(end); })) return false;
  return contains(names, name) ||
         std::ranges::any_of(beginnings, [&](std::string_view begin) { return name.starts_with(begin); });
}

std::vector<std::string> reduced_environment(const std::vector<std::string>& all, const std::vector<std::string>& added,
                                             const std::string& scratch) {
  std::vector<std::string> result;
  std::string home;
  bool has_user_base = false;
  for (const std::string& entry : all) {
    const std::string_view name = name_of(entry);
    if (name == "HOME") home = entry.substr(name.size() + 1);
    if (!contains(added, name) && !passes(name)) continue;
    result.push_back(entry);
    has_user_base = has_user_base || name == "PYTHONUSERBASE";
  }
  // Where `pip install --user` puts packages is found through HOME, which is another one here.
  std::error_code absent;
  const std::string user_base = home + "/.local";
  if (!has_user_base && !home.empty() && std::filesystem::exists(user_base + "/lib", absent)) {
    result.push_back("PYTHONUSERBASE=" + user_base);
  }
  for (const char* name : {"HOME", "TMPDIR"}) {
    if (!contains(added, std::string_view(name))) result.push_back(std::string(name) + "=" + scratch);
  }
  return result;
}

std::vector<std::string> withheld_variables(const std::vector<std::string>& all,
                                            const std::vector<std::string>& added) {
  std::vector<std::string> paths, with_path, others;
  for (const std::string& entry : all) {
    const std::string name(name_of(entry));
    const bool is_secret = std::ranges::any_of(secrets, [&](std::string_view part) { return name.find(part) != name.npos; });
    if (contains(added, name) || passes(name) || is_secret || contains(of_sessions, name)) continue;
    const bool is_path = entry.size() > name.size() + 1 && entry[name.size() + 1] == '/';
    (name.ends_with("PATH") ? paths : is_path ? with_path : others).push_back(name);
  }
  for (const auto& more : {with_path, others}) paths.insert(paths.end(), more.begin(), more.end());
  return paths;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) result.emplace_back(*entry);
  return result;
}

}  // namespace rope::sandbox
