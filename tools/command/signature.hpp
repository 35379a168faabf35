// Signatures of files, made by `ssh-keygen -Y sign -n ropecheck -f KEY FILE`.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace rope {

// Who signed the file, as "mary@example.com, ED25519 key SHA256:..". `content`: the file's bytes, as they were read.
// `identity`: who must have signed; empty: anyone in `allowed_signers`. Throws InputError: the file is not signed, the
// key is not allowed, or other bytes were signed.
std::string signer_of(const std::filesystem::path& file, std::string_view content, const std::string& allowed_signers,
                      const std::string& identity);

}  // namespace rope
