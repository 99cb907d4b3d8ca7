// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What encodings say about a context that they do not reach across.
#ifndef POSENC_LIB_IR_ADVICE_H
#define POSENC_LIB_IR_ADVICE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"

namespace posenc {

using Warn = llvm::function_ref<void(const llvm::Twine &)>;

/// Keys from `distance` on are alike; says so if there are two such distances.
inline void adviseReach(Warn warn, int64_t context, llvm::StringRef mnemonic,
                        int64_t distance, llvm::StringRef source) {
  if (context - 1 > distance)
    warn("#posenc." + mnemonic + " does not tell keys at a distance of " +
         llvm::Twine(distance) + " or more apart, but the context has " +
         llvm::Twine(context) + " tokens (" + source + ")");
}

/// Keys from `distance` on are told apart by groups only.
inline void adviseGroups(Warn warn, int64_t context, llvm::StringRef mnemonic,
                         int64_t distance, int64_t group,
                         llvm::StringRef source) {
  if (group > 1 && context - 1 > distance)
    warn("#posenc." + mnemonic + " tells keys at a distance of " +
         llvm::Twine(distance) + " or more apart by groups of " +
         llvm::Twine(group) + " only, but the context has " +
         llvm::Twine(context) + " tokens (" + source + ")");
}

/// Positions from `count` on are read as the last one.
inline void advisePositions(Warn warn, int64_t context,
                            llvm::StringRef mnemonic, int64_t count,
                            llvm::StringRef source) {
  if (context > count)
    warn("#posenc." + mnemonic + " has " + llvm::Twine(count) +
         " positions, but the context has " + llvm::Twine(context) +
         " tokens: those behind it are not told apart (" + source + ")");
}

} // namespace posenc

#endif // POSENC_LIB_IR_ADVICE_H
