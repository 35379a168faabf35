// The model: rope as one readable loop over a call. A hypothesis may change every stage. It works on memory as a kernel
// does, so wrong strides, reads behind a tensor and values overwritten too early have their real effect. It counts the
// features of a head from rotary_offset on, and those before it behind the last one; Change::index gets their place.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tools/judge/call/outside_access.hpp"
#include "tools/judge/call/tensor_walk.hpp"
#include "tools/judge/verdict/expectation.hpp"

namespace rope::diagnosis {

// The call as the kernel understands it.
struct Params {
  int head_dim = 0;
  int rotary_dim = 0;
  int rotary_offset = 0;
  Pairing pairing = Pairing::half_split;
  bool backward = false;
  double lambda = 1;
  AngleSource source = AngleSource::tables;
  double base = 10000;
  Scaling scaling;
  std::int64_t sequence_length = 0;
  std::int64_t largest_position = 0;  // of the call's tokens, on any axis
  std::vector<int> axis;              // of each pair
};

struct RowContext {
  const Call& call;  // before it was made
  const Params& params;
  bool key = false;
  std::int64_t batch = 0, seq = 0, head = 0;
  std::optional<OutsideAccess>* outside = nullptr;

  const Tensor& in() const { return key ? *call.k : call.q; }
  const Tensor& out() const { return call.in_place ? in() : key ? *call.k_out : *call.q_out; }
};

// The factors of each rotary feature of one token, and the angle that determines its bound.
struct Row {
  std::vector<double> cos, sin, phi;
  bool any = false;  // made from forbidden memory: it may hold anything
};

using PairList = std::vector<std::pair<int, int>>;  // features

struct Values {
  double first = 0, second = 0;
};

enum class Write { rotated, copied, nothing };

// Which of a row's factors a change makes. The others are as specified.
enum class Factors { both, cos, sin };

// A change of the model: the stages that it replaces. Each gets the unchanged result. Empty: as specified.
struct Change {
  std::function<void(const Call&, Params&)> params;                         // what the kernel takes the call for
  std::function<void(const RowContext&, std::vector<long double>&)> theta;  // radians a position, one for each pair
  std::function<long double(const RowContext&, int axis, long double)> position;  // may be fractional
  std::function<void(const Params&, PairList&)> pairs;                      // which features turn together
  std::function<int(const Params&, int feature, int pair)> pair_of;         // the pair whose angle a feature gets
  std::function<int(const Params&, int pair, int feature)> factors_of;  // the feature whose cos and sin it is turned by
  std::function<int(const Params&, int feature, int axis)> axis_of;     // whose position a feature's cos and sin are of
  // phi, in radians, of one pair of a token.
  std::function<long double(const RowContext&, long double position, long double theta, long double phi)> angle;
  std::function<void(const Params&, double& cos, double& sin)> turn;  // of one angle
  // The element of a table that is read.
  std::function<void(const Call&, bool sine, std::int64_t& row, std::int64_t& column)> table;
  std::function<void(const RowContext&, const PairList&, Row&)> row;       // all factors of a token: rotary_dim of each
  std::function<void(const Params&, const PairList&, Row&)> direct;  // replaces the transpose in the backward pass
  std::function<void(const RowContext&, int feature, bool& key, std::int64_t& head)>
      source;  // the row whose input is read
  // The tensor, q or k, of a result's operand: of the one times cos, or of the one across the pair, times sin.
  std::function<bool(const RowContext&, bool second, bool across)> operand_key;
  std::function<std::int64_t(const RowContext&, bool output, int feature, std::int64_t index)>
      index;                                              // elements from origin
  std::function<double(const RowContext&, double)> load;  // an element of the input, as it is used
  std::function<Values(const RowContext&, Values x, Values cos, Values sin, Values y)>
      rotate;  // the results y of a pair
  std::function<double(const RowContext&, int feature, double)> store;  // a result, as it is written
  std::function<double(const RowContext&, int feature, double)> pass;  // the same of a feature beyond rotary_dim
  std::function<Write(const RowContext&)> write;                       // what becomes of a head of a token
  std::function<int(const RowContext&)> heads;                         // how many heads of a token are done
  std::function<DType(const Call&, DType)> table_dtype;          // the type that tables are read as
  std::function<void(const RowContext&)> beside;                 // extra reads for a row, whose values are not used
  std::function<bool(const RowContext&, int feature)> skips;           // features that are not written
  std::function<bool(const Params&, int pair)> still;            // pairs that are copied unchanged
  bool by_head = false;                                          // heads of one token differ in their angles
  Factors makes = Factors::both;
  bool rereads = false;  // a pair's second result uses the first, which was just written, as its input
  bool writes_elsewhere = false;  // results get into other rows than their own
  bool adds = false;     // a result is added to what its element held
};

// Whether a row is made otherwise than specified. A change of finished rows is none of these.
bool makes_rows(const Change& change);

// Both, one after the other.
Change both(const Change& first, const Change& then);

// The result of a call: one entry per element of q, then of k, in the order batch, token, head, feature.
struct Prediction {
  std::vector<double> value;
  std::vector<double> bound;  // absolute; infinite if the element may hold anything
  std::vector<char> written;
  std::optional<OutsideAccess> outside;  // a kernel would be stopped here
  bool gaps = false;                     // the gaps between an output's rows are written
};

// Predicts a call under any change. What all predictions have in common is made once.
class Model {
 public:
  // `before` is the call before it was made. The bounds come from `expectation`. Both must outlive this.
  Model(const Call& before, const Expectation& expectation);

  Prediction predict(const Change& change) const;

  struct AsSpecified;

 private:
  const Call& before_;
  const Expectation& expectation_;
  std::shared_ptr<const AsSpecified> specified_;
};

Params params_of(const Call& call);

std::int64_t largest_position(const Call& call);  // of any axis; 0 without tokens

// Turns the first turn's result a second time, by the same cos and sin.
Values second_turn(const RowContext& s, Values cos, Values sin, Values y);

// A value rounded to a type: to nearest, ties to even.
double rounded(DType dtype, double value);
double cut_off(DType dtype, double value);  // towards zero

}  // namespace rope::diagnosis
