#include "tools/worker/host/cuda_driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace rope::worker {

// As cuda.h declares them: a CUresult is an int, streams and contexts are pointers. The header's macros turn the plain
// names into names with _v2.
struct CudaDriver::Functions {
  int (*init)(unsigned flags);
  int (*device_count)(int* count);
  int (*device)(int* device, int ordinal);
  int (*retain_context)(void** context, int device);
  int (*set_context)(void* context);
  int (*allocate)(DevicePointer* pointer, std::size_t bytes);
  int (*free)(DevicePointer pointer);
  int (*upload)(DevicePointer to, const void* from, std::size_t bytes);
  int (*copy_on)(DevicePointer to, DevicePointer from, std::size_t bytes, void* stream);
  int (*download_on)(void* to, DevicePointer from, std::size_t bytes, void* stream);
  int (*make_stream)(void** stream, unsigned flags);
  int (*call_on)(void* stream, void (*function)(void*), void* argument);
  int (*finish)(void* stream);
  int (*finish_all)();
  int (*error_name)(int result, const char** text);
  int (*error_text)(int result, const char** text);
};

namespace {

constexpr unsigned non_blocking = 1;  // CU_STREAM_NON_BLOCKING

struct Library {
  const std::string& name;
  void* opened;
};

template <class Function>
void look_up(const Library& library, const char* name, Function& function) {
  void* found = dlsym(library.opened, name);
  if (found == nullptr) {
    throw std::runtime_error(fmt::format(
        "no CUDA driver: {} has no function {}; a driver of CUDA 10 or later is needed", library.name, name));
  }
  function = reinterpret_cast<Function>(found);
}

}  // namespace

CudaDriver::CudaDriver(const std::string& name) {
  const Library library{name, dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)};
  if (library.opened == nullptr) {
    throw std::runtime_error(
        fmt::format("no CUDA driver: {}; kernels for CUDA run where an NVIDIA driver is installed", dlerror()));
  }
  static Functions f;
  look_up(library, "cuInit", f.init);
  look_up(library, "cuDeviceGetCount", f.device_count);
  look_up(library, "cuDeviceGet", f.device);
  look_up(library, "cuDevicePrimaryCtxRetain", f.retain_context);
  look_up(library, "cuCtxSetCurrent", f.set_context);
  look_up(library, "cuMemAlloc_v2", f.allocate);
  look_up(library, "cuMemFree_v2", f.free);
  look_up(library, "cuMemcpyHtoD_v2", f.upload);
  look_up(library, "cuMemcpyDtoDAsync_v2", f.copy_on);
  look_up(library, "cuMemcpyDtoHAsync_v2", f.download_on);
  look_up(library, "cuStreamCreate", f.make_stream);
  look_up(library, "cuLaunchHostFunc", f.call_on);
  look_up(library, "cuStreamSynchronize", f.finish);
  look_up(library, "cuCtxSynchronize", f.finish_all);
  look_up(library, "cuGetErrorName", f.error_name);
  look_up(library, "cuGetErrorString", f.error_text);
  functions_ = &f;
  int count = 0;
  try {
    check(f.init(0), "cuInit");
    check(f.device_count(&count), "cuDeviceGetCount");
  } catch (const CudaError& error) {
    const bool lacks_node = access("/dev/nvidiactl", F_OK) == 0 && access("/dev/nvidia-uvm", F_OK) != 0;
    throw std::runtime_error(fmt::format("no CUDA device: {}{}", error.what(),
                                         lacks_node ? "; /dev/nvidia-uvm is missing: run nvidia-modprobe -u -c0" : ""));
  }
  if (count == 0) throw std::runtime_error("no CUDA device: the driver counts 0 of them");
  int device = 0;
  check(f.device(&device, 0), "cuDeviceGet");
  check(f.retain_context(&context_, device), "cuDevicePrimaryCtxRetain");
  make_current();
  check(f.make_stream(&stream_, non_blocking), "cuStreamCreate");
  check(f.make_stream(&side_stream_, non_blocking), "cuStreamCreate");
}

void CudaDriver::check(int result, const char* function) const {
  if (result == 0) return;
  const char* name = nullptr;
  const char* text = nullptr;
  functions_->error_name(result, &name);
  functions_->error_text(result, &text);
  throw CudaError(fmt::format("{}: {} ({}, {})", function, text == nullptr ? "an unknown error" : text,
                              name == nullptr ? "without a name" : name, result));
}

void CudaDriver::make_current() const { check(functions_->set_context(context_), "cuCtxSetCurrent"); }

DevicePointer CudaDriver::allocate(std::size_t bytes) const {
  DevicePointer pointer = 0;
  check(functions_->allocate(&pointer, bytes), "cuMemAlloc");
  return pointer;
}

void CudaDriver::free(DevicePointer pointer) const { check(functions_->free(pointer), "cuMemFree"); }

void CudaDriver::upload(DevicePointer to, const void* from, std::size_t bytes) const {
  check(functions_->upload(to, from, bytes), "cuMemcpyHtoD");
}

void CudaDriver::copy_on(void* stream, DevicePointer to, DevicePointer from, std::size_t bytes) const {
  check(functions_->copy_on(to, from, bytes, stream), "cuMemcpyDtoDAsync");
}

void CudaDriver::download_beside(void* to, DevicePointer from, std::size_t bytes) const {
  check(functions_->download_on(to, from, bytes, side_stream_), "cuMemcpyDtoHAsync");
  finish(side_stream_);
}

void CudaDriver::call_on(void* stream, void (*function)(void*), void* argument) const {
  check(functions_->call_on(stream, function, argument), "cuLaunchHostFunc");
}

void CudaDriver::finish(void* stream) const { check(functions_->finish(stream), "cuStreamSynchronize"); }

void CudaDriver::finish_all() const { check(functions_->finish_all(), "cuCtxSynchronize"); }

}  // namespace rope::worker
