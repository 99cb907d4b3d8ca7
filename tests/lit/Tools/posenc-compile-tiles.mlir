// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sizes of tiles: predicted, given, measured.
// REQUIRES: halide
// RUN: rm -rf %t && mkdir %t

// RUN: posenc-compile %s --target=x86-64,x86-64-avx2 --explain -o %t/predicted | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: cost: @tiles_x86_64_avx2 is predicted to reach {{[0-9.]+}} % of the peak with tiles of 24x256; of its time {{.*}} are products
// EXPLAIN-SAME: alternatives: {{[0-9+]+x[0-9]+}} ({{1.[0-9]+}} of the time), {{[0-9+]+x[0-9]+}} (
// RUN: FileCheck %s --check-prefix=PREDICTED < %t/predicted/tiles.json
// PREDICTED: "tiles": [
// PREDICTED: "isa": "x86-64-avx2",
// PREDICTED-NEXT: "sizes": "24x256",
// PREDICTED-NEXT: "source": "predicted"
// PREDICTED: "isa": "x86-64",
// PREDICTED: "source": "predicted"

// RUN: posenc-compile %s --target=x86-64,x86-64-avx2 --tiles=x86-64=12+8x64 -o %t/given
// RUN: FileCheck %s --check-prefix=GIVEN < %t/given/tiles.json
// GIVEN: "sizes": "24x256",
// GIVEN-NEXT: "source": "predicted"
// GIVEN: "sizes": "12+8x64",
// GIVEN-NEXT: "source": "given"
// RUN: posenc-compile %s --target=x86-64 --tiles=x86-64=12+8x64 --emit=plan -o %t/plan
// RUN: FileCheck %s --check-prefix=PLAN < %t/plan/tiles.plan.mlir
// PLAN: posenc.plan @tiles_x86_64 {{.*}} rows([12, 8]) keys(64)

// RUN: posenc-compile %s --target=x86-64 --tune -o %t/measured 2>&1 | grep -v 'WARNING: ASan' | FileCheck %s --check-prefix=TUNE
// TUNE: tiles on x86-64, 2048 queries and keys:
// TUNE-NEXT: predicted 1.000, measured 1.000 ({{[0-9.]+}} ms)
// TUNE: chosen: {{[0-9+]+x[0-9]+}}
// RUN: FileCheck %s --check-prefix=MEASURED < %t/measured/tiles.json
// MEASURED: "source": "measured"

// RUN: not posenc-compile %s --tiles=x86-64=12 -o %t/none 2>&1 | FileCheck %s --check-prefix=FORM -DGOT=x86-64=12
// RUN: not posenc-compile %s --tiles=z80=12x64 -o %t/none 2>&1 | FileCheck %s --check-prefix=FORM -DGOT=z80=12x64
// FORM: posenc-compile-tiles.mlir:{{[0-9:]+}}: error: expected 'tiles' to be like 'x86-64-avx2=24+16x256', but got '[[GOT]]'
// RUN: not posenc-compile %s --tiles=x86-64-avx512=48+16x256 -o %t/none 2>&1 | FileCheck %s --check-prefix=HEIGHTS
// HEIGHTS: error: expected 'tiles' to have one height, or a second one of at least two thirds of the first, but got 'x86-64-avx512=48+16x256'
// RUN: not posenc-compile %s --target=x86-64 --tiles=x86-64=13x64 -o %t/none 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: {{.*}}has rows of 13; expected a multiple of 4 up to 256 on x86-64
// RUN: not posenc-compile %s --tune --emit=plan -o %t/none 2>&1 | FileCheck %s --check-prefix=BESIDE
// RUN: not posenc-compile %s --tune --tiles=x86-64=12x64 -o %t/none 2>&1 | FileCheck %s --check-prefix=BESIDE
// BESIDE: error: --tune: expected neither --tiles nor --emit=plan or level2 beside it
// RUN: not ls %t/none

posenc.kernel @tiles heads(1) head_dim(16)
