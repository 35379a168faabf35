// The kernel that every mutant edits: rope as one plain loop in double with every stride explicit. It is right and
// slow. Each stage of the loop is a function of its own. A mutant is a class that overrides one stage, and the override
// is the whole bug. It counts the features of a head from rotary_offset on, and those before it behind the last one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "impls/include/rope_kernel.h"

namespace rope::mutants {

struct Pair {
  int first;
  int second;
};

// What the two features of a pair hold.
struct Values {
  double first;
  double second;
};

struct Turn {
  double cos;
  double sin;
};

// The factors of one token, a column for each rotary feature:
//   y[first]  = x[first]  * cos[first]  - x[second] * sin[first]
//   y[second] = x[second] * cos[second] + x[first]  * sin[second]
class Row {
 public:
  explicit Row(int features) : cos_(static_cast<std::size_t>(features)), sin_(cos_) {}
  double& cos(int feature) { return cos_[static_cast<std::size_t>(feature)]; }
  double& sin(int feature) { return sin_[static_cast<std::size_t>(feature)]; }
  double cos(int feature) const { return cos_[static_cast<std::size_t>(feature)]; }
  double sin(int feature) const { return sin_[static_cast<std::size_t>(feature)]; }
  int features() const { return static_cast<int>(cos_.size()); }

 private:
  std::vector<double> cos_;
  std::vector<double> sin_;
};

// Where the loop is.
struct Place {
  const rope_call& call;
  bool key;  // in k, not q
  std::int64_t batch;
  std::int64_t seq;
  std::int64_t head;

  const rope_tensor& in() const { return key ? call.k : call.q; }
  const rope_tensor& out() const { return key ? call.k_out : call.q_out; }
  bool in_place() const { return in().data == out().data; }
};

rope_capabilities claims();  // of the right kernel, and of every mutant

class Kernel {
  friend class Combined;  // two mutants, in combined.cpp

 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  std::int32_t apply(const rope_call* call) const noexcept;

 protected:
  // The stages, in the order of the loop.
  virtual rope_status check(const rope_call* call) const;
  virtual rope_call understood(const rope_call& call) const { return call; }  // the call as the kernel reads it
  virtual std::vector<double> theta(const rope_call& call) const;             // one per pair; not with given tables
  virtual std::int64_t position(const Place& at, int axis) const;
  virtual int axis(const rope_call& call, int pair) const { return call.axis == nullptr ? 0 : call.axis[pair]; }
  virtual Pair pair(const rope_call& call, int index) const;
  virtual int pair_of(const rope_call& call, int feature) const;  // whose angle the feature gets
  virtual double angle(const rope_call& call, double position, double theta) const;
  virtual Turn turn(const rope_call& call, double angle) const;
  virtual Row row(const Place& at, const std::vector<double>& theta) const;
  virtual void direct(const rope_call& call, Row& row) const;  // backward is the transpose
  virtual std::int64_t element(const Place& at, const rope_tensor& tensor, int feature) const;
  virtual double load(const Place& at, int feature) const;
  virtual void rotate(const Place& at, Pair pair, const Row& row) const;
  virtual void store(const Place& at, int feature, double value) const;
  virtual void pass(const Place& at, int feature) const;  // unchanged, bit for bit if the dtypes are the same

  Values values(const Place& at, Pair pair) const { return {load(at, pair.first), load(at, pair.second)}; }
  static Values turned(Values x, Pair pair, const Row& row);
  static int place_in_head(const Place& at, int feature);  // of a feature that is counted from rotary_offset
  static std::byte* address(const rope_tensor& tensor, std::int64_t element);

 private:
  void run(const rope_call& call) const;
  void one_head(const Place& at, const Row& row) const;
  void read_tables(const Place& at, Row& row) const;
  void compute(const Place& at, const std::vector<double>& theta, Row& row) const;
};

}  // namespace rope::mutants
