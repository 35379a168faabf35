// ropecheck_host: the program that the suite starts for each shared library. Not for people.
#include <cstdio>
#include <string_view>

#include "tools/worker/host/native_host.hpp"

int main(int argc, char** argv) {
  if (argc != 2 || std::string_view(argv[1]) != "__worker") {
    std::fputs("ropecheck_host is started by ropecheck; run ropecheck itself\n", stderr);
    return 2;
  }
  return rope::worker_main();
}
