// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes from level 1 to the host program of a kernel.
#ifndef POSENC_TRANSFORMS_PASSES_TD
#define POSENC_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PosencExpandEncodings : Pass<"posenc-expand-encodings", "::mlir::ModuleOp"> {
  let summary = "Replaces named encodings by the primitives that they mean";
  let description = [{
    Input: kernels of level 1; kernels that have a body are left alone.

    ```
    posenc.kernel @k heads(H) head_dim(D) mask(M) scale(s) encode [e1, e2]
      =>
    posenc.kernel @k heads(H) head_dim(D) {
      q1, k1 = e1 applied to q, k ; then e2 ...
      s = posenc.dot q', k' scale(s) ; + the score terms in list order
      select by M, normalize, weighted_sum, yield
    }
    ```

    Output: kernels of level 2 without the clauses mask, scale, positions and
    encode. Nothing after this pass knows a named encoding.
  }];
}

def PosencSplitCache : Pass<"posenc-split-cache", "::mlir::ModuleOp"> {
  let summary = "Makes the kernels that append to key and value caches";
  let description = [{
    Input: kernels of level 2. To each one with keys(lengths), keys(paged) or
    keys(ring) it adds, behind it, the kernel `@<name>_append_kv`, unless that is there.

    ```
    posenc.kernel @k keys(paged) key_cache(encoded) ... {
      k1 = rotate k ; s = posenc.dot q1, k1 ; ...
    }
      =>
    posenc.kernel @k keys(paged) key_cache(encoded) ... {
      s = posenc.dot q1, k ; ...
    }
    posenc.kernel @k_append_kv keys(paged) ... {
      k1 = rotate k ; posenc.yield k1
    }
    ```

    With key_cache(raw) the kernel stays as it is and the new one yields the key
    itself. With key_cache(encoded) it is an error, with the reason, if products
    read different key vectors, or if theirs depends on the query head, on the
    length of the call or on an operand with a key axis.

    Positions of `#posenc.iota` become `#posenc.appended`. It runs before the
    identities, so that what a cache holds does not depend on them.
  }];
}

def PosencFormRecurrences : Pass<"posenc-form-recurrences", "::mlir::ModuleOp"> {
  let summary = "Makes recurrences of attention whose earlier keys are in a state";
  let description = [{
    Input and output: kernels of level 2. In each one with keys(state) the
    output becomes a `posenc.recurrence`. That needs

    - weights of kind `identity` or `linear`, and no other term of the output;
    - scores, and of `linear` what divides them, that are sums of products of
      queries and keys over all channels behind a mask `#posenc.causal`; what
      divides may hold a number that each row adds once, at the first key;
    - maps that multiply scores: by numbers of the query or the key alone, which
      become a `posenc.row_scale` of its vector, by constants, and by a number of
      the head to the power of the distance between query and key, the same one
      in all products of a sum. This is proved from the region: products,
      quotients, exponentials of sums, powers;
    - vectors that depend on nothing but their own token.

    Otherwise it is an error that says what is in the way. Positions of
    `#posenc.iota` become `#posenc.appended`. It runs before the identities, so
    that what a state holds does not depend on them.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def PosencSimplifyPositions : Pass<"posenc-simplify-positions", "::mlir::ModuleOp"> {
  let summary = "Applies the identities of positions";
  let description = [{
    Input and output: kernels of level 2.

    - A rotation by positions `a p + b` with frequencies `w` becomes one by
      `p + b / a` with `a w`, unless its modulus reads the positions. Positions
      stay integers, and sides with one law share a table of angles.
    - A region over an affine function of positions, or over a difference of
      two with one scale, becomes a region over the positions themselves: a bias
      of scaled distances is Toeplitz. What looks up a table stays.
    - The offset of `#posenc.iota` positions is dropped where only distances
      matter: all that reads them are relations and masks over distances, and
      rotations of queries and keys that are multiplied with each other alone
      and by the same frequencies. A table row, a modulus or frequencies that
      depend on them, mixed rotations, and an operation between rotation and
      product that tells channels apart see it.

    Numbers change by rounding in double precision at most; running the pass
    again changes nothing. Each decision is a remark of category
    `posenc-simplify`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PosencSimplifyVectors : Pass<"posenc-simplify-vectors", "::mlir::ModuleOp"> {
  let summary = "Applies the identities of query and key vectors";
  let description = [{
    Input and output: kernels of level 2.

    - Norms without gains come before rotations, factors of whole vectors after
      them: they commute, unless the rotation changes lengths (a modulus, a mix)
      or the norm takes off a mean. Gains (`posenc.channel_scale`) and added
      vectors stay where they are.
    - Two factors side by side become one.
    - A constant factor, or a constant modulus of a rotation that turns all
      channels that a product reads, is multiplied into the scales of the
      products, unless the products of one query would have different scales
      then: those are applied to every score.

    Numbers change by rounding in double precision at most; running the pass
    again changes nothing. Each decision is a remark of category
    `posenc-simplify`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PosencSimplifyScores : Pass<"posenc-simplify-scores", "::mlir::ModuleOp"> {
  let summary = "Applies the identities of scores that their traits allow";
  let description = [{
    Input and output: kernels of level 2.

    - A bias that depends on the query row and the head alone adds the same
      number to a whole row of scores. It is dropped when nothing can see it:
      the kernel says `no_lse`, the scores reach a softmax without passing
      through a `posenc.map`, and the bias reads no operand and names no number
      that is not finite (one of -inf would mask the row). Otherwise a missed
      remark says which condition failed.
    - A product of keys with a table of one row is added to another product of
      the same keys in the same sum, with one scale: its queries get the row.
    - Parts of a bias region that depend on one constant table only are
      evaluated once, into a new constant table.
    - Bias terms of one sum that are Toeplitz over the same positions are
      merged into one bias, so that they share one strip. Constants for each
      head of the kernel and operands for each head of the call stay apart.
    - With `networks`, a bias that sums rectified hidden units of one number
      with constant weights becomes piecewise linear in it, with sorted knots.
      By default it stays: counting knots costs a tile about as much as the
      units, and weights that are operands have no knots when compiled.

    Numbers change by rounding in double precision at most, and the operands of
    a kernel stay the same; running the pass again changes nothing. Each decision is a remark of category
    `posenc-simplify`.
  }];
  let options = [
    Option<"networks", "networks", "bool", /*default=*/"false",
           "make networks of rectifiers piecewise linear">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def PosencPlan : Pass<"posenc-plan", "::mlir::ModuleOp"> {
  let summary = "Decides where each term of a kernel is evaluated";
  let description = [{
    Input: kernels of level 2. Output: for each kernel and each instruction set
    of `isa` a `posenc.plan` named `<kernel>_<isa with _>`, after the kernel.

    - vectors: what is done to keys in `posenc.keys`, to queries in
      `posenc.prologue`, each distinct vector once; angles in `posenc.prepare`;
    - scales of products and the change to base 2: folded into the queries when
      all their products have one scale, and none is wanted natural;
    - Toeplitz biases: a strip in `posenc.prepare`; biases that sum products of a
      bounded number of the query and one of the key: more channels, prepared as
      rows; other terms: per score;
    - computed tables (`posenc.prefix_sum`, `project`, and `table_map` where
      vectors are multiplied with its rows): rows in `posenc.prepare`;
    - masks over storage indices: steps that do not need them (`@interior`) run
      first; other predicates are evaluated in every step;
    - a `posenc.select` of two scores, and relations that look up rows for
      `posenc.table_dot` and `posenc.value_table`: where they are the same for
      all distances of many keys, steps with one score or row (`@run0`, ...), and
      steps with all of it between (`@band0`, ...);
    - `posenc.rowscan`: a `descending` plan with one step;
    - the sizes of tiles: the cheapest by `posenc/Analysis/CostModel.h`.

    Each decision is a remark of category `posenc-plan`. Fails on a kernel
    without a body, and where a kernel
    - has a `posenc.head_mlp`, whose scores of other heads a tile does not have;
    - changes keys by query heads that share them (tables with a head axis in
      front of keys, with fewer kv_heads than heads);
    - norms vectors over all heads after something else changed them;
    - looks up a projected table without bounds by anything but a relation of
      `#posenc.iota` positions;
    - has an output of several weights, of several `posenc.weighted_sum` or of
      none.
  }];
  let options = [
    ListOption<"isa", "isa", "std::string",
               "instruction sets to plan for (x86-64, x86-64-avx2, "
               "x86-64-avx512, x86-64-avx512-bf16, aarch64)">,
    ListOption<"tiles", "tiles", "std::string",
               "sizes of tiles, in the place of the predicted ones: heights and "
               "keys of a block for an instruction set, x86-64-avx2=24+16x256">];
}

def PosencVerifyPlan : Pass<"posenc-verify-plan", "::mlir::ModuleOp"> {
  let summary = "Checks that plans keep the contract with the generators";
  let description = [{
    Fails when a part of a `posenc.plan` holds an operation outside the closed
    list of that part, when a table reference is dangling or of another kind or
    type, when a table of angles is not written in the one way, when a strip is
    no function of head and distance, when rows without bounds cannot be
    counted, when a step's `until` is not a map over (q_begin, q_end, lq, lk),
    when a step leaves out a mask of the last one where that hides keys, when
    two steps yield different scores at distances that both have, when
    the last step has `whole_blocks` or does not end where its masks end, when a
    scan stands in a plan that is not `descending` with one step, or when a
    score that is exponentiated is not in base 2 exactly once, or another one
    is. The input is not changed.
  }];
}

def PosencLowerDriver : Pass<"posenc-lower-driver", "::mlir::ModuleOp"> {
  let summary = "Writes the host program of a kernel around its tile functions";
  let description = [{
    Input: one kernel and its plans, best instruction set first, which must
    pass posenc-verify-plan, and the same of the kernel that fills its cache if
    it has one.
    Output: the entry points of design section 5 (the kernel, `_prepare`,
    `_prepared_bytes`, `_scratch_bytes`; of the other one itself and
    `_scratch_bytes`) as func, scf, arith, math and llvm
    operations that call the runtime of posenc/kernel_abi.h and the tile
    functions, and the kernels' descriptions as constant data. The kernels and
    the plans are erased.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect"];
}

def PosencLowerEmbed : Pass<"posenc-lower-embed", "::mlir::ModuleOp"> {
  let summary = "Writes the program of an input embedding";
  let description = [{
    Input: one posenc.embed of level 2.
    Output: the entry points NAME and NAME_scratch_bytes as func, scf, arith,
    math and llvm operations that call the runtime of posenc/kernel_abi.h, and
    the description as constant data. Each token is computed in double precision
    and rounded once. The embedding is erased.
  }];
  let options = [
    ListOption<"isa", "isa", "std::string",
               "instruction sets that the description names, best first">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect"];
}

#endif // POSENC_TRANSFORMS_PASSES_TD
