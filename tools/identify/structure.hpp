// Structure: which output feature depends on which input feature, from one-hot rows at a few positions.
#pragma once

#include <string>
#include <vector>

#include "tools/identify/prober.hpp"

namespace rope {

// The map of two features at one position. The input pair (a, b) gives
// first = aa a + ab b, second = ba a + bb b.
struct Block {
  double aa = 0, ab = 0, ba = 0, bb = 0;
};

enum class BlockKind {
  rotation,    //  c -s   s  c
  reflection,  //  c  s   s -c
  unsigned_,   //  c  s   s  c: rotate-half without its minus
  two_angles,  //  c0 -s0 s1 c1: cos or sin of two different angles
  other
};

struct FeaturePair {
  int first = 0;  // input feature, the smaller index
  int second = 0;
  int out_first = 0;  // output features; unlike the input's if the kernel permutes its output
  int out_second = 0;
  BlockKind kind = BlockKind::rotation;
};

struct Structure {
  std::vector<FeaturePair> pairs;  // by first
  std::vector<int> passed;         // features that come out unchanged, at every position
  struct Lone {
    int input, output;
    double least, most;  // of the factor, over the positions
  };
  std::vector<Lone> lone;                // depend on one other feature only, or have a factor that is not 1
  std::vector<int> silent;               // output features that depend on no input feature
  std::vector<int> unwritten;            // output features that never hold a number
  bool not_a_number = false;             // NaN came from rows that hold none
  std::vector<std::vector<int>> groups;  // features that mix in groups of more than two
};

// Uses one-hot rows at a few positions.
Structure measure_structure(Prober& prober);

// The kind of a block that was seen at several positions. `roundoff` is the prober's.
BlockKind kind_of(const std::vector<Block>& seen, double roundoff);

}  // namespace rope
