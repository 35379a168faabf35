// SharedBytes: the memory of a tensor. Copies share it until one of them is written to, because a call, its trial and
// the next call have most tensors in common, and tables are large.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace rope {

// Its own memory begins at a multiple of 64 bytes, so a call can choose its tensors' addresses; memory that it was
// given begins anywhere. What a std::vector has, but a pointer or iterator for writing is valid only until the next
// copy is made.
class SharedBytes {
 public:
  SharedBytes() = default;
  SharedBytes(std::vector<std::byte> bytes) : size_(bytes.size()) {  // keeps its memory
    auto kept = std::make_shared<std::vector<std::byte>>(std::move(bytes));
    memory_ = std::shared_ptr<std::byte[]>(kept, kept->data());
  }
  SharedBytes(std::shared_ptr<std::byte[]> memory, std::size_t size) : memory_(std::move(memory)), size_(size) {}
  SharedBytes(const SharedBytes&) = default;
  SharedBytes& operator=(const SharedBytes&) = default;
  SharedBytes(SharedBytes&& other) noexcept : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
  SharedBytes& operator=(SharedBytes&& other) noexcept {
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~SharedBytes() = default;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  const std::byte* data() const { return memory_.get(); }
  const std::byte* begin() const { return data(); }
  const std::byte* end() const { return data() + size_; }
  const std::byte& operator[](std::size_t i) const { return data()[i]; }
  const std::byte& front() const { return data()[0]; }
  const std::byte& back() const { return data()[size_ - 1]; }

  // For writing: from here on the memory is not shared.
  std::byte* data() {
    if (memory_.use_count() > 1) resize(size_);
    return memory_.get();
  }
  std::byte* begin() { return data(); }
  std::byte* end() { return data() + size_; }
  std::byte& operator[](std::size_t i) { return data()[i]; }
  std::byte& front() { return data()[0]; }
  std::byte& back() { return data()[size_ - 1]; }

  // So many bytes, whose values are lost: for writing all of them.
  std::byte* renew(std::size_t size) {
    if (memory_.use_count() != 1 || size != size_) memory_ = room(size);
    size_ = size;
    return memory_.get();
  }

  // So many bytes as before, whose values are lost. Large memory that nobody else has goes back to the system.
  void forget() {
    memory_.reset();
    memory_ = room(size_);
  }

  void assign(std::size_t size, std::byte value) { std::fill_n(renew(size), size, value); }

  void resize(std::size_t size, std::byte value = {}) {
    std::shared_ptr<std::byte[]> resized = room(size);
    const std::size_t kept = std::min(size, size_);
    if (kept > 0) std::memcpy(resized.get(), memory_.get(), kept);
    std::fill(resized.get() + kept, resized.get() + size, value);
    memory_ = std::move(resized);
    size_ = size;
  }

  // The first bytes, shared.
  SharedBytes first(std::size_t size) const {
    SharedBytes result = *this;
    result.size_ = std::min(size, size_);
    return result;
  }

  friend bool operator==(const SharedBytes& a, const SharedBytes& b) {
    if (a.size_ != b.size_) return false;
    return a.size_ == 0 || a.data() == b.data() || std::memcmp(a.data(), b.data(), a.size_) == 0;
  }

 private:
  static constexpr std::size_t alignment = 64;

  // Aligned by hand: with the aligned operator new of glibc 2.36 the process of a long sweep grows without end.
  static std::shared_ptr<std::byte[]> room(std::size_t size) {
    std::shared_ptr<std::byte[]> whole(new std::byte[size + alignment - 1]);
    void* begin = whole.get();
    std::size_t space = size + alignment - 1;
    return {whole, static_cast<std::byte*>(std::align(alignment, size, begin, space))};
  }

  std::shared_ptr<std::byte[]> memory_;
  std::size_t size_ = 0;
};

}  // namespace rope
