// BusyMachine: the machine gave a subject too little time, so nothing can be said about it. Whoever catches it reports an
// incomplete run. It is not an error of the subject.
#pragma once

#include <stdexcept>

namespace rope {

class BusyMachine : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace rope
