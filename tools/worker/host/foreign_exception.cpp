#include "tools/worker/host/foreign_exception.hpp"

#include <cxxabi.h>
#include <unwind.h>

#include <cstddef>
#include <cstring>
#include <exception>
#include <typeinfo>

#include "tools/worker/host/type_name.hpp"

#ifdef _LIBCPP_VERSION  // it has the function, but does not declare it
namespace __cxxabiv1 {
struct __cxa_eh_globals;
extern "C" __cxa_eh_globals* __cxa_get_globals();
}  // namespace __cxxabiv1
#endif

namespace rope::worker {
namespace {

// Offsets in bytes. The two libraries put different fields before the ABI's own ones.
#ifdef _LIBCPP_VERSION
constexpr std::ptrdiff_t unwind_header_in_caught = 96;
#else
constexpr std::ptrdiff_t unwind_header_in_caught = 80;
#endif
constexpr std::ptrdiff_t type_before_unwind_header = 80;

struct Globals {
  std::byte* caught;
  unsigned int uncaught;
};

// The type_info of a class with one public base at offset 0. It begins like every type_info.
struct OfOneBase {
  void* table;
  const char* name;
  const std::type_info* base;
};

bool is_named(const std::type_info& type, const char* name) { return std::strcmp(type.name(), name) == 0; }

bool begins_with_std_exception(const std::type_info* type) {
  while (!is_named(*type, "St9exception")) {
    if (!is_named(typeid(*type), "N10__cxxabiv120__si_class_type_infoE")) return false;
    type = reinterpret_cast<const OfOneBase*>(type)->base;
  }
  return true;
}

}  // namespace

std::optional<ForeignException> foreign_exception() {
  if (abi::__cxa_current_exception_type() != nullptr) return std::nullopt;  // our library knows it
  auto* const globals = reinterpret_cast<Globals*>(abi::__cxa_get_globals());
  if (globals->caught == nullptr) return std::nullopt;
  std::byte* const header = globals->caught + unwind_header_in_caught;
  _Unwind_Exception_Class thrown_by = 0;
  std::memcpy(&thrown_by, header, sizeof thrown_by);
  constexpr _Unwind_Exception_Class any_library = 0xffffffff;  // "GNUCC++\0", "CLNGC++\0": vendor, then language
  constexpr _Unwind_Exception_Class cpp = 0x432b2b00;
  if ((thrown_by & any_library) != cpp) return std::nullopt;
  const std::type_info* type = nullptr;
  std::memcpy(&type, header - type_before_unwind_header, sizeof type);
  const auto* const object = reinterpret_cast<const std::exception*>(header + sizeof(_Unwind_Exception));
  return ForeignException{demangled(type->name()), begins_with_std_exception(type) ? object->what() : ""};
}

}  // namespace rope::worker
