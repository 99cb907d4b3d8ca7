// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What posenc-bench prints and writes; no number is looked at, only that it is
// one.
// REQUIRES: halide
// RUN: rm -rf %t && mkdir %t
// RUN: posenc-bench %s --kernel second --lq 16,32 --repetitions 1 --isa=x86-64 --json %t/out.json | FileCheck %s
// RUN: %python %S/Inputs/check-bench.py %t/out.json second prefill:16:16 prefill:32:32
// RUN: posenc-bench %s --mode=decode --batch 2 --lk 64 --threads 2 --repetitions 1 --json %t/decode.json > /dev/null
// RUN: %python %S/Inputs/check-bench.py %t/decode.json first decode:1:64

// CHECK: second on
// CHECK-NEXT: prefill f32 x86-64 threads=1 B=1 Lq=16 Lk=16: {{.*}} GFLOP/s
// CHECK-NEXT: prefill f32 x86-64 threads=1 B=1 Lq=32 Lk=32:
// CHECK-NOT: prefill

// RUN: posenc-bench %s --lq 0 --lk 64 --repetitions 1 --isa=x86-64 | FileCheck %s --check-prefix=NOTHING
// NOTHING: prefill f32 x86-64 threads=1 B=1 Lq=0 Lk=64: {{[0-9.]+}} us, nothing to do

// RUN: posenc-bench %s --kernel state --lq 16 --repetitions 1 --isa=x86-64 --json %t/state.json | FileCheck %s --check-prefix=STATE
// RUN: FileCheck %s --check-prefix=STATE-JSON < %t/state.json
// STATE: prefill f32 x86-64 threads=1 B=1 Lq=16 Lk=16: {{[0-9.]+}} {{[mu]s}}, {{[0-9]+}} tokens/s, {{[0-9.]+}} of no encoding
// STATE-JSON-NOT: "gflops"
// STATE-JSON: "tokens_per_s": {{[0-9]}}

// RUN: not posenc-bench 2>&1 | FileCheck %s --check-prefix=NO-FILE
// RUN: not posenc-bench %s --isa=z80 2>&1 | FileCheck %s --check-prefix=ISA
// RUN: not posenc-bench %s --lq=-1 2>&1 | FileCheck %s --check-prefix=QUERIES -DGOT=-1
// RUN: not posenc-bench %s --lq 4, 2>&1 | FileCheck %s --check-prefix=QUERIES -DGOT=
// RUN: not posenc-bench %s --lk=0 2>&1 | FileCheck %s --check-prefix=SIZE -DOPTION=lk -DGOT=0
// RUN: not posenc-bench %s --batch x 2>&1 | FileCheck %s --check-prefix=SIZE -DOPTION=batch -DGOT=x
// RUN: not posenc-bench %s --listed-every 0 2>&1 | FileCheck %s --check-prefix=SIZE -DOPTION=listed-every -DGOT=0
// RUN: not posenc-bench %s --threads=-1 2>&1 | FileCheck %s --check-prefix=COUNT -DOPTION=threads -DGOT=-1
// RUN: not posenc-bench %s --repetitions 0 2>&1 | FileCheck %s --check-prefix=COUNT -DOPTION=repetitions -DGOT=0
// RUN: not posenc-bench %s --mode=training 2>&1 | FileCheck %s --check-prefix=MODE
// RUN: not posenc-bench %s --json %S/../Tools/posenc-bench.mlir 2>&1 | FileCheck %s --check-prefix=OVER-SPEC
// RUN: not posenc-bench %s --dtype=f64 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not posenc-bench %s --kernel third 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not posenc-bench %s --lq 8 --repetitions 1 --json /proc/self/out.json 2>&1 | FileCheck %s --check-prefix=JSON
// NO-FILE: posenc-bench: error: expected a specification FILE; see posenc-bench --help
// ISA: posenc-bench: error: unknown instruction set 'z80'; expected one of x86-64-avx512-bf16, x86-64-avx512, x86-64-avx2, x86-64
// QUERIES: posenc-bench: error: expected --lq to be a whole number from 0 to 1073741824, but got '[[GOT]]'
// SIZE: posenc-bench: error: expected --[[OPTION]] to be a whole number from 1 to 1073741824, but got '[[GOT]]'
// COUNT: posenc-bench: error: expected --[[OPTION]] to be a whole number from 1 to 2147483647, but got '[[GOT]]'
// MODE: posenc-bench: error: expected --mode to be one of prefill, decode, but got 'training'
// OVER-SPEC: posenc-bench: error: expected --json to be another file than the specification, but got
// TYPE: posenc-bench: error: expected --dtype=f32, bf16 or f16, found 'f64'
// KERNEL: error: expected a posenc.kernel named 'third', found first, second, state
// JSON: posenc-bench: error: cannot write '/proc/self/out.json':
posenc.kernel @first heads(4) kv_heads(2) head_dim(16) encode [#posenc.rope]
posenc.kernel @second heads(2) head_dim(8) mask(#posenc.causal) encode [#posenc.alibi]
posenc.kernel @state heads(2) head_dim(8) keys(state) mask(#posenc.causal) encode [#posenc.linear_attention]
