// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each encoding of scores means, exactly.
// RUN: posenc-opt %s --posenc-expand-encodings | FileCheck %s

// The bias is inside the scale, and slopes are interpolated.
// CHECK-LABEL: posenc.kernel @alibi_inside heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.constants<[3.125000e-02, 0.001953125]>) : !posenc.table<head>
// CHECK-NEXT: %[[V4:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V6:.*]] = posenc.relation %[[V4]], %[[V5]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V7:.*]] = posenc.bias(%[[V6]], %[[V3]]) : !posenc.relation, !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[V8:.*]]: f64, %[[V9:.*]]: f64):
// CHECK-NEXT: %[[V10:.*]] = arith.mulf %[[V8]], %[[V9]] : f64
// CHECK-NEXT: %[[V11:.*]] = arith.negf %[[V10]] : f64
// CHECK-NEXT: %[[V12:.*]] = arith.constant 5.000000e-01 : f64
// CHECK-NEXT: %[[V13:.*]] = arith.mulf %[[V11]], %[[V12]] : f64
// CHECK-NEXT: posenc.yield %[[V13]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V14:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V15:.*]] = posenc.add %[[V14]], %[[V7]]
// CHECK-NEXT: %[[V16:.*]] = posenc.select %[[V15]] mask(#posenc.causal)
// CHECK-NEXT: %[[V17:.*]] = posenc.normalize softmax %[[V16]]
// CHECK-NEXT: %[[V18:.*]] = posenc.weighted_sum %[[V17]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V18]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @alibi_inside heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.alibi<site = inside, slope_scale = 0.5>]

// Slopes, positions and products rounded to bf16; 2^-1.5 is not a bf16.
// CHECK-LABEL: posenc.kernel @alibi_rounded heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.constants<[0.353515625, 1.250000e-01]>) : !posenc.table<head>
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.bias(%[[V4]], %[[V3]]) : !posenc.coord, !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[V6:.*]]: f64, %[[V7:.*]]: f64):
// CHECK-NEXT: %[[V8:.*]] = math.absf %[[V6]] : f64
// CHECK-NEXT: %[[V9:.*]] = arith.constant 1.000000e-30 : f64
// CHECK-NEXT: %[[V10:.*]] = arith.maximumf %[[V8]], %[[V9]] : f64
// CHECK-NEXT: %[[V11:.*]] = math.log2 %[[V10]] : f64
// CHECK-NEXT: %[[V12:.*]] = math.floor %[[V11]] : f64
// CHECK-NEXT: %[[V13:.*]] = arith.constant 7.000000e+00 : f64
// CHECK-NEXT: %[[V14:.*]] = arith.subf %[[V12]], %[[V13]] : f64
// CHECK-NEXT: %[[V15:.*]] = math.exp2 %[[V14]] : f64
// CHECK-NEXT: %[[V16:.*]] = arith.divf %[[V8]], %[[V15]] : f64
// CHECK-NEXT: %[[V17:.*]] = arith.constant 5.000000e-01 : f64
// CHECK-NEXT: %[[V18:.*]] = arith.addf %[[V16]], %[[V17]] : f64
// CHECK-NEXT: %[[V19:.*]] = math.floor %[[V18]] : f64
// CHECK-NEXT: %[[V20:.*]] = arith.subf %[[V19]], %[[V16]] : f64
// CHECK-NEXT: %[[V21:.*]] = arith.constant 5.000000e-01 : f64
// CHECK-NEXT: %[[V22:.*]] = arith.cmpf oeq, %[[V20]], %[[V21]] : f64
// CHECK-NEXT: %[[V23:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V24:.*]] = arith.divf %[[V19]], %[[V23]] : f64
// CHECK-NEXT: %[[V25:.*]] = math.floor %[[V24]] : f64
// CHECK-NEXT: %[[V26:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V27:.*]] = arith.mulf %[[V25]], %[[V26]] : f64
// CHECK-NEXT: %[[V28:.*]] = arith.subf %[[V19]], %[[V27]] : f64
// CHECK-NEXT: %[[V29:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V30:.*]] = arith.select %[[V22]], %[[V28]], %[[V29]] : f64
// CHECK-NEXT: %[[V31:.*]] = arith.subf %[[V19]], %[[V30]] : f64
// CHECK-NEXT: %[[V32:.*]] = arith.mulf %[[V31]], %[[V15]] : f64
// CHECK-NEXT: %[[V33:.*]] = math.copysign %[[V32]], %[[V6]] : f64
// CHECK-NEXT: %[[V34:.*]] = arith.mulf %[[V33]], %[[V7]] : f64
// CHECK-NEXT: %[[V35:.*]] = math.absf %[[V34]] : f64
// CHECK-NEXT: %[[V36:.*]] = arith.constant 1.000000e-30 : f64
// CHECK-NEXT: %[[V37:.*]] = arith.maximumf %[[V35]], %[[V36]] : f64
// CHECK-NEXT: %[[V38:.*]] = math.log2 %[[V37]] : f64
// CHECK-NEXT: %[[V39:.*]] = math.floor %[[V38]] : f64
// CHECK-NEXT: %[[V40:.*]] = arith.constant 7.000000e+00 : f64
// CHECK-NEXT: %[[V41:.*]] = arith.subf %[[V39]], %[[V40]] : f64
// CHECK-NEXT: %[[V42:.*]] = math.exp2 %[[V41]] : f64
// CHECK-NEXT: %[[V43:.*]] = arith.divf %[[V35]], %[[V42]] : f64
// CHECK-NEXT: %[[V44:.*]] = arith.constant 5.000000e-01 : f64
// CHECK-NEXT: %[[V45:.*]] = arith.addf %[[V43]], %[[V44]] : f64
// CHECK-NEXT: %[[V46:.*]] = math.floor %[[V45]] : f64
// CHECK-NEXT: %[[V47:.*]] = arith.subf %[[V46]], %[[V43]] : f64
// CHECK-NEXT: %[[V48:.*]] = arith.constant 5.000000e-01 : f64
// CHECK-NEXT: %[[V49:.*]] = arith.cmpf oeq, %[[V47]], %[[V48]] : f64
// CHECK-NEXT: %[[V50:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V51:.*]] = arith.divf %[[V46]], %[[V50]] : f64
// CHECK-NEXT: %[[V52:.*]] = math.floor %[[V51]] : f64
// CHECK-NEXT: %[[V53:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V54:.*]] = arith.mulf %[[V52]], %[[V53]] : f64
// CHECK-NEXT: %[[V55:.*]] = arith.subf %[[V46]], %[[V54]] : f64
// CHECK-NEXT: %[[V56:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V57:.*]] = arith.select %[[V49]], %[[V55]], %[[V56]] : f64
// CHECK-NEXT: %[[V58:.*]] = arith.subf %[[V46]], %[[V57]] : f64
// CHECK-NEXT: %[[V59:.*]] = arith.mulf %[[V58]], %[[V42]] : f64
// CHECK-NEXT: %[[V60:.*]] = math.copysign %[[V59]], %[[V34]] : f64
// CHECK-NEXT: posenc.yield %[[V60]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V61:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V62:.*]] = posenc.add %[[V61]], %[[V5]]
// CHECK-NEXT: %[[V63:.*]] = posenc.select %[[V62]] mask(#posenc.causal)
// CHECK-NEXT: %[[V64:.*]] = posenc.normalize softmax %[[V63]]
// CHECK-NEXT: %[[V65:.*]] = posenc.weighted_sum %[[V64]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V65]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @alibi_rounded heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.alibi<form = key, rounding = bf16, max_exponent = 3.0>]

// CHECK-LABEL: posenc.kernel @kerple_log heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.relation %[[V3]], %[[V4]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V6:.*]] = posenc.table law(#posenc.operand<"kerple.p">) : !posenc.table<head>
// CHECK-NEXT: %[[V7:.*]] = posenc.table law(#posenc.operand<"kerple.a">) : !posenc.table<head>
// CHECK-NEXT: %[[V8:.*]] = posenc.bias(%[[V5]], %[[V6]], %[[V7]]) : !posenc.relation, !posenc.table<head>, !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[V9:.*]]: f64, %[[V10:.*]]: f64, %[[V11:.*]]: f64):
// CHECK-NEXT: %[[V12:.*]] = arith.constant 1.000000e-02 : f64
// CHECK-NEXT: %[[V13:.*]] = arith.maximumf %[[V10]], %[[V12]] : f64
// CHECK-NEXT: %[[V14:.*]] = arith.constant 1.000000e-02 : f64
// CHECK-NEXT: %[[V15:.*]] = arith.maximumf %[[V11]], %[[V14]] : f64
// CHECK-NEXT: %[[V16:.*]] = math.absf %[[V9]] : f64
// CHECK-NEXT: %[[V17:.*]] = arith.mulf %[[V15]], %[[V16]] : f64
// CHECK-NEXT: %[[V18:.*]] = math.log1p %[[V17]] : f64
// CHECK-NEXT: %[[V19:.*]] = arith.mulf %[[V13]], %[[V18]] : f64
// CHECK-NEXT: %[[V20:.*]] = arith.negf %[[V19]] : f64
// CHECK-NEXT: posenc.yield %[[V20]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V21:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V22:.*]] = posenc.add %[[V21]], %[[V8]]
// CHECK-NEXT: %[[V23:.*]] = posenc.select %[[V22]] mask(#posenc.full)
// CHECK-NEXT: %[[V24:.*]] = posenc.normalize softmax %[[V23]]
// CHECK-NEXT: %[[V25:.*]] = posenc.weighted_sum %[[V24]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V25]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @kerple_log heads(2) head_dim(4) encode [#posenc.kerple]

// CHECK-LABEL: posenc.kernel @kerple_power heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.relation %[[V3]], %[[V4]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V6:.*]] = posenc.table law(#posenc.operand<"kerple.p">) : !posenc.table<head>
// CHECK-NEXT: %[[V7:.*]] = posenc.table law(#posenc.operand<"kerple.a">) : !posenc.table<head>
// CHECK-NEXT: %[[V8:.*]] = posenc.bias(%[[V5]], %[[V6]], %[[V7]]) : !posenc.relation, !posenc.table<head>, !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[V9:.*]]: f64, %[[V10:.*]]: f64, %[[V11:.*]]: f64):
// CHECK-NEXT: %[[V12:.*]] = arith.constant 1.000000e-02 : f64
// CHECK-NEXT: %[[V13:.*]] = arith.maximumf %[[V11]], %[[V12]] : f64
// CHECK-NEXT: %[[V14:.*]] = math.absf %[[V9]] : f64
// CHECK-NEXT: %[[V15:.*]] = arith.constant 1.000000e-02 : f64
// CHECK-NEXT: %[[V16:.*]] = arith.maximumf %[[V10]], %[[V15]] : f64
// CHECK-NEXT: %[[V17:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V18:.*]] = arith.minimumf %[[V16]], %[[V17]] : f64
// CHECK-NEXT: %[[V19:.*]] = math.powf %[[V14]], %[[V18]] : f64
// CHECK-NEXT: %[[V20:.*]] = arith.mulf %[[V13]], %[[V19]] : f64
// CHECK-NEXT: %[[V21:.*]] = arith.negf %[[V20]] : f64
// CHECK-NEXT: posenc.yield %[[V21]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V22:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V23:.*]] = posenc.add %[[V22]], %[[V8]]
// CHECK-NEXT: %[[V24:.*]] = posenc.select %[[V23]] mask(#posenc.full)
// CHECK-NEXT: %[[V25:.*]] = posenc.normalize softmax %[[V24]]
// CHECK-NEXT: %[[V26:.*]] = posenc.weighted_sum %[[V25]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V26]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @kerple_power heads(2) head_dim(4) encode [#posenc.kerple<kind = power>]

// The last bias stands outside the sum over hidden units.
// CHECK-LABEL: posenc.kernel @fire heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.relation %[[V3]], %[[V4]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V6:.*]] = posenc.sum_index extent(32)
// CHECK-NEXT: %[[V7:.*]] = posenc.table law(#posenc.operand<"fire.w1", rows = 32>) : !posenc.table<row>
// CHECK-NEXT: %[[V8:.*]] = posenc.table law(#posenc.operand<"fire.b1", rows = 32>) : !posenc.table<row>
// CHECK-NEXT: %[[V9:.*]] = posenc.table law(#posenc.operand<"fire.w2", rows = 32>) : !posenc.table<row, head>
// CHECK-NEXT: %[[V10:.*]] = posenc.bias(%[[V3]], %[[V5]], %[[V6]], %[[V7]], %[[V8]], %[[V9]]) : !posenc.coord, !posenc.relation, !posenc.relation, !posenc.table<row>, !posenc.table<row>, !posenc.table<row, head> {
// CHECK-NEXT: ^bb0(%[[V11:.*]]: f64, %[[V12:.*]]: f64, %[[V13:.*]]: f64, %[[V14:.*]]: f64, %[[V15:.*]]: f64, %[[V16:.*]]: f64):
// CHECK-NEXT: %[[V17:.*]] = arith.constant 1.000000e-01 : f64
// CHECK-NEXT: %[[V18:.*]] = arith.mulf %[[V17]], %[[V12]] : f64
// CHECK-NEXT: %[[V19:.*]] = math.absf %[[V18]] : f64
// CHECK-NEXT: %[[V20:.*]] = math.log1p %[[V19]] : f64
// CHECK-NEXT: %[[V21:.*]] = arith.constant 5.120000e+02 : f64
// CHECK-NEXT: %[[V22:.*]] = arith.maximumf %[[V11]], %[[V21]] : f64
// CHECK-NEXT: %[[V23:.*]] = arith.mulf %[[V17]], %[[V22]] : f64
// CHECK-NEXT: %[[V24:.*]] = math.absf %[[V23]] : f64
// CHECK-NEXT: %[[V25:.*]] = math.log1p %[[V24]] : f64
// CHECK-NEXT: %[[V26:.*]] = arith.constant 9.9999999999999995E-7 : f64
// CHECK-NEXT: %[[V27:.*]] = arith.addf %[[V25]], %[[V26]] : f64
// CHECK-NEXT: %[[V28:.*]] = arith.divf %[[V20]], %[[V27]] : f64
// CHECK-NEXT: %[[V29:.*]] = arith.mulf %[[V14]], %[[V28]] : f64
// CHECK-NEXT: %[[V30:.*]] = arith.addf %[[V29]], %[[V15]] : f64
// CHECK-NEXT: %[[V31:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V32:.*]] = arith.maximumf %[[V30]], %[[V31]] : f64
// CHECK-NEXT: %[[V33:.*]] = arith.mulf %[[V16]], %[[V32]] : f64
// CHECK-NEXT: posenc.yield %[[V33]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V34:.*]] = posenc.table law(#posenc.operand<"fire.b2">) : !posenc.table<head>
// CHECK-NEXT: %[[V35:.*]] = posenc.bias(%[[V34]]) : !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[V11]]: f64):
// CHECK-NEXT: posenc.yield %[[V11]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V36:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V37:.*]] = posenc.add %[[V36]], %[[V10]]
// CHECK-NEXT: %[[V38:.*]] = posenc.add %[[V37]], %[[V35]]
// CHECK-NEXT: %[[V39:.*]] = posenc.select %[[V38]] mask(#posenc.full)
// CHECK-NEXT: %[[V40:.*]] = posenc.normalize softmax %[[V39]]
// CHECK-NEXT: %[[V41:.*]] = posenc.weighted_sum %[[V40]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V41]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @fire heads(2) head_dim(4) encode [#posenc.fire]

// CHECK-LABEL: posenc.kernel @fire_operands heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.relation %[[V3]], %[[V4]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V6:.*]] = posenc.table law(#posenc.operand<"fire.c">) : !posenc.table<head>
// CHECK-NEXT: %[[V7:.*]] = posenc.table law(#posenc.operand<"fire.length">) : !posenc.table<head>
// CHECK-NEXT: %[[V8:.*]] = posenc.sum_index extent(32)
// CHECK-NEXT: %[[V9:.*]] = posenc.table law(#posenc.operand<"fire.w1", rows = 32>) : !posenc.table<row>
// CHECK-NEXT: %[[V10:.*]] = posenc.table law(#posenc.operand<"fire.b1", rows = 32>) : !posenc.table<row>
// CHECK-NEXT: %[[V11:.*]] = posenc.table law(#posenc.operand<"fire.w2", rows = 32>) : !posenc.table<row, head>
// CHECK-NEXT: %[[V12:.*]] = posenc.bias(%[[V3]], %[[V5]], %[[V6]], %[[V7]], %[[V8]], %[[V9]], %[[V10]], %[[V11]]) : !posenc.coord, !posenc.relation, !posenc.table<head>, !posenc.table<head>, !posenc.relation, !posenc.table<row>, !posenc.table<row>, !posenc.table<row, head> {
// CHECK-NEXT: ^bb0(%[[V13:.*]]: f64, %[[V14:.*]]: f64, %[[V15:.*]]: f64, %[[V16:.*]]: f64, %[[V17:.*]]: f64, %[[V18:.*]]: f64, %[[V19:.*]]: f64, %[[V20:.*]]: f64):
// CHECK-NEXT: %[[V21:.*]] = arith.mulf %[[V15]], %[[V14]] : f64
// CHECK-NEXT: %[[V22:.*]] = math.absf %[[V21]] : f64
// CHECK-NEXT: %[[V23:.*]] = math.log1p %[[V22]] : f64
// CHECK-NEXT: %[[V24:.*]] = math.absf %[[V16]] : f64
// CHECK-NEXT: %[[V25:.*]] = arith.maximumf %[[V13]], %[[V24]] : f64
// CHECK-NEXT: %[[V26:.*]] = arith.mulf %[[V15]], %[[V25]] : f64
// CHECK-NEXT: %[[V27:.*]] = math.absf %[[V26]] : f64
// CHECK-NEXT: %[[V28:.*]] = math.log1p %[[V27]] : f64
// CHECK-NEXT: %[[V29:.*]] = arith.constant 9.9999999999999995E-7 : f64
// CHECK-NEXT: %[[V30:.*]] = arith.addf %[[V28]], %[[V29]] : f64
// CHECK-NEXT: %[[V31:.*]] = arith.divf %[[V23]], %[[V30]] : f64
// CHECK-NEXT: %[[V32:.*]] = arith.mulf %[[V18]], %[[V31]] : f64
// CHECK-NEXT: %[[V33:.*]] = arith.addf %[[V32]], %[[V19]] : f64
// CHECK-NEXT: %[[V34:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V35:.*]] = arith.maximumf %[[V33]], %[[V34]] : f64
// CHECK-NEXT: %[[V36:.*]] = arith.mulf %[[V20]], %[[V35]] : f64
// CHECK-NEXT: posenc.yield %[[V36]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V37:.*]] = posenc.table law(#posenc.operand<"fire.b2">) : !posenc.table<head>
// CHECK-NEXT: %[[V38:.*]] = posenc.bias(%[[V37]]) : !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[V13]]: f64):
// CHECK-NEXT: posenc.yield %[[V13]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V39:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V40:.*]] = posenc.add %[[V39]], %[[V12]]
// CHECK-NEXT: %[[V41:.*]] = posenc.add %[[V40]], %[[V38]]
// CHECK-NEXT: %[[V42:.*]] = posenc.select %[[V41]] mask(#posenc.full)
// CHECK-NEXT: %[[V43:.*]] = posenc.normalize softmax %[[V42]]
// CHECK-NEXT: %[[V44:.*]] = posenc.weighted_sum %[[V43]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V44]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @fire_operands heads(2) head_dim(4) encode [#posenc.fire<scalars = operands>]

// NeMo counts frequencies from 1.
// CHECK-LABEL: posenc.kernel @sandwich heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.relation %[[V3]], %[[V4]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V6:.*]] = posenc.sum_index extent(2)
// CHECK-NEXT: %[[V7:.*]] = posenc.table law(#posenc.constants<[1.000000e-02, 1.000000e-04]>) : !posenc.table<row>
// CHECK-NEXT: %[[V8:.*]] = posenc.table law(#posenc.constants<[4.000000e+00, 8.000000e+00]>) : !posenc.table<head>
// CHECK-NEXT: %[[V9:.*]] = posenc.bias(%[[V5]], %[[V6]], %[[V7]], %[[V8]]) : !posenc.relation, !posenc.relation, !posenc.table<row>, !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[V10:.*]]: f64, %[[V11:.*]]: f64, %[[V12:.*]]: f64, %[[V13:.*]]: f64):
// CHECK-NEXT: %[[V14:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V15:.*]] = arith.maximumf %[[V10]], %[[V14]] : f64
// CHECK-NEXT: %[[V16:.*]] = arith.mulf %[[V15]], %[[V12]] : f64
// CHECK-NEXT: %[[V17:.*]] = math.cos %[[V16]] : f64
// CHECK-NEXT: %[[V18:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V19:.*]] = arith.subf %[[V17]], %[[V18]] : f64
// CHECK-NEXT: %[[V20:.*]] = arith.divf %[[V19]], %[[V13]] : f64
// CHECK-NEXT: posenc.yield %[[V20]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V21:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V22:.*]] = posenc.add %[[V21]], %[[V9]]
// CHECK-NEXT: %[[V23:.*]] = posenc.select %[[V22]] mask(#posenc.full)
// CHECK-NEXT: %[[V24:.*]] = posenc.normalize softmax %[[V23]]
// CHECK-NEXT: %[[V25:.*]] = posenc.weighted_sum %[[V24]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V25]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @sandwich heads(2) head_dim(4) encode [#posenc.sandwich]

// CHECK-LABEL: posenc.kernel @swin_bias heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.relation_map(%[[V3]], %[[V4]]) : !posenc.coord, !posenc.coord rows(15) {
// CHECK-NEXT: ^bb0(%[[V6:.*]]: f64, %[[V7:.*]]: f64):
// CHECK-NEXT: %[[V8:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V9:.*]] = arith.divf %[[V6]], %[[V8]] : f64
// CHECK-NEXT: %[[V10:.*]] = math.floor %[[V9]] : f64
// CHECK-NEXT: %[[V11:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V12:.*]] = arith.divf %[[V7]], %[[V11]] : f64
// CHECK-NEXT: %[[V13:.*]] = math.floor %[[V12]] : f64
// CHECK-NEXT: %[[V14:.*]] = arith.subf %[[V10]], %[[V13]] : f64
// CHECK-NEXT: %[[V15:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V16:.*]] = arith.addf %[[V14]], %[[V15]] : f64
// CHECK-NEXT: %[[V17:.*]] = arith.constant 5.000000e+00 : f64
// CHECK-NEXT: %[[V18:.*]] = arith.mulf %[[V16]], %[[V17]] : f64
// CHECK-NEXT: %[[V19:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V20:.*]] = arith.mulf %[[V10]], %[[V19]] : f64
// CHECK-NEXT: %[[V21:.*]] = arith.subf %[[V6]], %[[V20]] : f64
// CHECK-NEXT: %[[V22:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V23:.*]] = arith.mulf %[[V13]], %[[V22]] : f64
// CHECK-NEXT: %[[V24:.*]] = arith.subf %[[V7]], %[[V23]] : f64
// CHECK-NEXT: %[[V25:.*]] = arith.subf %[[V21]], %[[V24]] : f64
// CHECK-NEXT: %[[V26:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V27:.*]] = arith.addf %[[V25]], %[[V26]] : f64
// CHECK-NEXT: %[[V28:.*]] = arith.addf %[[V18]], %[[V27]] : f64
// CHECK-NEXT: posenc.yield %[[V28]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V29:.*]] = posenc.table law(#posenc.operand<"swin_bias.table", rows = 15>) : !posenc.table<row, head>
// CHECK-NEXT: %[[V30:.*]] = posenc.bias(%[[V5]], %[[V29]]) : !posenc.relation, !posenc.table<row, head> {
// CHECK-NEXT: ^bb0(%[[V6]]: f64, %[[V7]]: f64):
// CHECK-NEXT: posenc.yield %[[V7]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V31:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V32:.*]] = posenc.add %[[V31]], %[[V30]]
// CHECK-NEXT: %[[V33:.*]] = posenc.select %[[V32]] mask(#posenc.full)
// CHECK-NEXT: %[[V34:.*]] = posenc.normalize softmax %[[V33]]
// CHECK-NEXT: %[[V35:.*]] = posenc.weighted_sum %[[V34]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V35]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @swin_bias heads(2) head_dim(4) encode [#posenc.swin_bias<height = 2, width = 3>]

// CHECK-LABEL: posenc.kernel @swin_v2_bias heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.sum_index extent(7)
// CHECK-NEXT: %[[V6:.*]] = posenc.table law(#posenc.operand<"swin_v2_bias.wy", rows = 7>) : !posenc.table<row>
// CHECK-NEXT: %[[V7:.*]] = posenc.table law(#posenc.operand<"swin_v2_bias.wx", rows = 7>) : !posenc.table<row>
// CHECK-NEXT: %[[V8:.*]] = posenc.table law(#posenc.operand<"swin_v2_bias.b1", rows = 7>) : !posenc.table<row>
// CHECK-NEXT: %[[V9:.*]] = posenc.table law(#posenc.operand<"swin_v2_bias.w2", rows = 7>) : !posenc.table<row, head>
// CHECK-NEXT: %[[V10:.*]] = posenc.bias(%[[V3]], %[[V4]], %[[V5]], %[[V6]], %[[V7]], %[[V8]], %[[V9]]) : !posenc.coord, !posenc.coord, !posenc.relation, !posenc.table<row>, !posenc.table<row>, !posenc.table<row>, !posenc.table<row, head> {
// CHECK-NEXT: ^bb0(%[[V11:.*]]: f64, %[[V12:.*]]: f64, %[[V13:.*]]: f64, %[[V14:.*]]: f64, %[[V15:.*]]: f64, %[[V16:.*]]: f64, %[[V17:.*]]: f64):
// CHECK-NEXT: %[[V18:.*]] = arith.constant 5.000000e+00 : f64
// CHECK-NEXT: %[[V19:.*]] = arith.divf %[[V11]], %[[V18]] : f64
// CHECK-NEXT: %[[V20:.*]] = math.floor %[[V19]] : f64
// CHECK-NEXT: %[[V21:.*]] = arith.constant 5.000000e+00 : f64
// CHECK-NEXT: %[[V22:.*]] = arith.divf %[[V12]], %[[V21]] : f64
// CHECK-NEXT: %[[V23:.*]] = math.floor %[[V22]] : f64
// CHECK-NEXT: %[[V24:.*]] = arith.subf %[[V20]], %[[V23]] : f64
// CHECK-NEXT: %[[V25:.*]] = arith.constant 4.000000e+00 : f64
// CHECK-NEXT: %[[V26:.*]] = arith.mulf %[[V24]], %[[V25]] : f64
// CHECK-NEXT: %[[V27:.*]] = math.absf %[[V26]] : f64
// CHECK-NEXT: %[[V28:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V29:.*]] = arith.addf %[[V27]], %[[V28]] : f64
// CHECK-NEXT: %[[V30:.*]] = math.log2 %[[V29]] : f64
// CHECK-NEXT: %[[V31:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V32:.*]] = arith.divf %[[V30]], %[[V31]] : f64
// CHECK-NEXT: %[[V33:.*]] = math.copysign %[[V32]], %[[V24]] : f64
// CHECK-NEXT: %[[V34:.*]] = arith.mulf %[[V14]], %[[V33]] : f64
// CHECK-NEXT: %[[V35:.*]] = arith.constant 5.000000e+00 : f64
// CHECK-NEXT: %[[V36:.*]] = arith.mulf %[[V20]], %[[V35]] : f64
// CHECK-NEXT: %[[V37:.*]] = arith.subf %[[V11]], %[[V36]] : f64
// CHECK-NEXT: %[[V38:.*]] = arith.constant 5.000000e+00 : f64
// CHECK-NEXT: %[[V39:.*]] = arith.mulf %[[V23]], %[[V38]] : f64
// CHECK-NEXT: %[[V40:.*]] = arith.subf %[[V12]], %[[V39]] : f64
// CHECK-NEXT: %[[V41:.*]] = arith.subf %[[V37]], %[[V40]] : f64
// CHECK-NEXT: %[[V42:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V43:.*]] = arith.mulf %[[V41]], %[[V42]] : f64
// CHECK-NEXT: %[[V44:.*]] = math.absf %[[V43]] : f64
// CHECK-NEXT: %[[V45:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V46:.*]] = arith.addf %[[V44]], %[[V45]] : f64
// CHECK-NEXT: %[[V47:.*]] = math.log2 %[[V46]] : f64
// CHECK-NEXT: %[[V48:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V49:.*]] = arith.divf %[[V47]], %[[V48]] : f64
// CHECK-NEXT: %[[V50:.*]] = math.copysign %[[V49]], %[[V41]] : f64
// CHECK-NEXT: %[[V51:.*]] = arith.mulf %[[V15]], %[[V50]] : f64
// CHECK-NEXT: %[[V52:.*]] = arith.addf %[[V34]], %[[V51]] : f64
// CHECK-NEXT: %[[V53:.*]] = arith.addf %[[V52]], %[[V16]] : f64
// CHECK-NEXT: %[[V54:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V55:.*]] = arith.maximumf %[[V53]], %[[V54]] : f64
// CHECK-NEXT: %[[V56:.*]] = arith.mulf %[[V17]], %[[V55]] : f64
// CHECK-NEXT: posenc.yield %[[V56]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V57:.*]] = posenc.map %[[V10]]() {
// CHECK-NEXT: ^bb0(%[[V11]]: f64):
// CHECK-NEXT: %[[V18]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V19]] = arith.negf %[[V11]] : f64
// CHECK-NEXT: %[[V20]] = math.exp %[[V19]] : f64
// CHECK-NEXT: %[[V21]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V22]] = arith.addf %[[V20]], %[[V21]] : f64
// CHECK-NEXT: %[[V23]] = arith.divf %[[V18]], %[[V22]] : f64
// CHECK-NEXT: %[[V25]] = arith.constant 1.600000e+01 : f64
// CHECK-NEXT: %[[V24]] = arith.mulf %[[V23]], %[[V25]] : f64
// CHECK-NEXT: posenc.yield %[[V24]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V58:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V59:.*]] = posenc.add %[[V58]], %[[V57]]
// CHECK-NEXT: %[[V60:.*]] = posenc.select %[[V59]] mask(#posenc.full)
// CHECK-NEXT: %[[V61:.*]] = posenc.normalize softmax %[[V60]]
// CHECK-NEXT: %[[V62:.*]] = posenc.weighted_sum %[[V61]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V62]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @swin_v2_bias heads(2) head_dim(4) encode [#posenc.swin_v2_bias<height = 3, width = 5, pretrained_width = 9, hidden = 7>]

// CHECK-LABEL: posenc.kernel @swin_v2_bias_logits heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.relation_map(%[[V3]], %[[V4]]) : !posenc.coord, !posenc.coord rows(15) {
// CHECK-NEXT: ^bb0(%[[V6:.*]]: f64, %[[V7:.*]]: f64):
// CHECK-NEXT: %[[V8:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V9:.*]] = arith.divf %[[V6]], %[[V8]] : f64
// CHECK-NEXT: %[[V10:.*]] = math.floor %[[V9]] : f64
// CHECK-NEXT: %[[V11:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V12:.*]] = arith.divf %[[V7]], %[[V11]] : f64
// CHECK-NEXT: %[[V13:.*]] = math.floor %[[V12]] : f64
// CHECK-NEXT: %[[V14:.*]] = arith.subf %[[V10]], %[[V13]] : f64
// CHECK-NEXT: %[[V15:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V16:.*]] = arith.addf %[[V14]], %[[V15]] : f64
// CHECK-NEXT: %[[V17:.*]] = arith.constant 5.000000e+00 : f64
// CHECK-NEXT: %[[V18:.*]] = arith.mulf %[[V16]], %[[V17]] : f64
// CHECK-NEXT: %[[V19:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V20:.*]] = arith.mulf %[[V10]], %[[V19]] : f64
// CHECK-NEXT: %[[V21:.*]] = arith.subf %[[V6]], %[[V20]] : f64
// CHECK-NEXT: %[[V22:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V23:.*]] = arith.mulf %[[V13]], %[[V22]] : f64
// CHECK-NEXT: %[[V24:.*]] = arith.subf %[[V7]], %[[V23]] : f64
// CHECK-NEXT: %[[V25:.*]] = arith.subf %[[V21]], %[[V24]] : f64
// CHECK-NEXT: %[[V26:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V27:.*]] = arith.addf %[[V25]], %[[V26]] : f64
// CHECK-NEXT: %[[V28:.*]] = arith.addf %[[V18]], %[[V27]] : f64
// CHECK-NEXT: posenc.yield %[[V28]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V29:.*]] = posenc.table law(#posenc.operand<"swin_v2_bias.table", rows = 15>) : !posenc.table<row, head>
// CHECK-NEXT: %[[V30:.*]] = posenc.bias(%[[V5]], %[[V29]]) : !posenc.relation, !posenc.table<row, head> {
// CHECK-NEXT: ^bb0(%[[V6]]: f64, %[[V7]]: f64):
// CHECK-NEXT: posenc.yield %[[V7]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V31:.*]] = posenc.map %[[V30]]() {
// CHECK-NEXT: ^bb0(%[[V6]]: f64):
// CHECK-NEXT: %[[V8]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V9]] = arith.negf %[[V6]] : f64
// CHECK-NEXT: %[[V10]] = math.exp %[[V9]] : f64
// CHECK-NEXT: %[[V11]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V12]] = arith.addf %[[V10]], %[[V11]] : f64
// CHECK-NEXT: %[[V13]] = arith.divf %[[V8]], %[[V12]] : f64
// CHECK-NEXT: %[[V15]] = arith.constant 1.600000e+01 : f64
// CHECK-NEXT: %[[V14]] = arith.mulf %[[V13]], %[[V15]] : f64
// CHECK-NEXT: posenc.yield %[[V14]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V32:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V33:.*]] = posenc.add %[[V32]], %[[V31]]
// CHECK-NEXT: %[[V34:.*]] = posenc.select %[[V33]] mask(#posenc.full)
// CHECK-NEXT: %[[V35:.*]] = posenc.normalize softmax %[[V34]]
// CHECK-NEXT: %[[V36:.*]] = posenc.weighted_sum %[[V35]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V36]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @swin_v2_bias_logits heads(2) head_dim(4) encode [#posenc.swin_v2_bias<height = 2, width = 3, form = logits>]

// CHECK-LABEL: posenc.kernel @beit_bias heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.relation_map(%[[V3]], %[[V4]]) : !posenc.coord, !posenc.coord rows(12) {
// CHECK-NEXT: ^bb0(%[[V6:.*]]: f64, %[[V7:.*]]: f64):
// CHECK-NEXT: %[[V8:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V9:.*]] = arith.cmpf oeq, %[[V6]], %[[V8]] : f64
// CHECK-NEXT: %[[V10:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V11:.*]] = arith.cmpf oeq, %[[V7]], %[[V10]] : f64
// CHECK-NEXT: %[[V12:.*]] = arith.constant 1.100000e+01 : f64
// CHECK-NEXT: %[[V13:.*]] = arith.constant 9.000000e+00 : f64
// CHECK-NEXT: %[[V14:.*]] = arith.select %[[V11]], %[[V12]], %[[V13]] : f64
// CHECK-NEXT: %[[V15:.*]] = arith.constant 1.000000e+01 : f64
// CHECK-NEXT: %[[V16:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V17:.*]] = arith.subf %[[V6]], %[[V16]] : f64
// CHECK-NEXT: %[[V18:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V19:.*]] = arith.divf %[[V17]], %[[V18]] : f64
// CHECK-NEXT: %[[V20:.*]] = math.floor %[[V19]] : f64
// CHECK-NEXT: %[[V21:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V22:.*]] = arith.subf %[[V7]], %[[V21]] : f64
// CHECK-NEXT: %[[V23:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V24:.*]] = arith.divf %[[V22]], %[[V23]] : f64
// CHECK-NEXT: %[[V25:.*]] = math.floor %[[V24]] : f64
// CHECK-NEXT: %[[V26:.*]] = arith.subf %[[V20]], %[[V25]] : f64
// CHECK-NEXT: %[[V27:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V28:.*]] = arith.addf %[[V26]], %[[V27]] : f64
// CHECK-NEXT: %[[V29:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V30:.*]] = arith.mulf %[[V28]], %[[V29]] : f64
// CHECK-NEXT: %[[V31:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V32:.*]] = arith.mulf %[[V20]], %[[V31]] : f64
// CHECK-NEXT: %[[V33:.*]] = arith.subf %[[V17]], %[[V32]] : f64
// CHECK-NEXT: %[[V34:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V35:.*]] = arith.mulf %[[V25]], %[[V34]] : f64
// CHECK-NEXT: %[[V36:.*]] = arith.subf %[[V22]], %[[V35]] : f64
// CHECK-NEXT: %[[V37:.*]] = arith.subf %[[V33]], %[[V36]] : f64
// CHECK-NEXT: %[[V38:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V39:.*]] = arith.addf %[[V37]], %[[V38]] : f64
// CHECK-NEXT: %[[V40:.*]] = arith.addf %[[V30]], %[[V39]] : f64
// CHECK-NEXT: %[[V41:.*]] = arith.select %[[V11]], %[[V15]], %[[V40]] : f64
// CHECK-NEXT: %[[V42:.*]] = arith.select %[[V9]], %[[V14]], %[[V41]] : f64
// CHECK-NEXT: posenc.yield %[[V42]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V43:.*]] = posenc.table law(#posenc.operand<"beit_bias.table", rows = 12>) : !posenc.table<row, head>
// CHECK-NEXT: %[[V44:.*]] = posenc.bias(%[[V5]], %[[V43]]) : !posenc.relation, !posenc.table<row, head> {
// CHECK-NEXT: ^bb0(%[[V6]]: f64, %[[V7]]: f64):
// CHECK-NEXT: posenc.yield %[[V7]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V45:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V46:.*]] = posenc.add %[[V45]], %[[V44]]
// CHECK-NEXT: %[[V47:.*]] = posenc.select %[[V46]] mask(#posenc.full)
// CHECK-NEXT: %[[V48:.*]] = posenc.normalize softmax %[[V47]]
// CHECK-NEXT: %[[V49:.*]] = posenc.weighted_sum %[[V48]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V49]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @beit_bias heads(2) head_dim(4) encode [#posenc.beit_bias<height = 2, width = 2>]

// CHECK-LABEL: posenc.kernel @grid_bias heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.remap %[[V3]] {
// CHECK-NEXT: ^bb0(%[[V5:.*]]: f64):
// CHECK-NEXT: %[[V6:.*]] = arith.constant 7.000000e+00 : f64
// CHECK-NEXT: %[[V7:.*]] = arith.divf %[[V5]], %[[V6]] : f64
// CHECK-NEXT: %[[V8:.*]] = math.floor %[[V7]] : f64
// CHECK-NEXT: posenc.yield %[[V8]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V9:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V10:.*]] = posenc.remap %[[V9]] {
// CHECK-NEXT: ^bb0(%[[V5]]: f64):
// CHECK-NEXT: %[[V6]] = arith.constant 7.000000e+00 : f64
// CHECK-NEXT: %[[V7]] = arith.divf %[[V5]], %[[V6]] : f64
// CHECK-NEXT: %[[V8]] = math.floor %[[V7]] : f64
// CHECK-NEXT: posenc.yield %[[V8]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V11:.*]] = posenc.remap %[[V3]] {
// CHECK-NEXT: ^bb0(%[[V5]]: f64):
// CHECK-NEXT: %[[V6]] = arith.constant 7.000000e+00 : f64
// CHECK-NEXT: %[[V7]] = arith.divf %[[V5]], %[[V6]] : f64
// CHECK-NEXT: %[[V8]] = math.floor %[[V7]] : f64
// CHECK-NEXT: %[[V12:.*]] = arith.constant 7.000000e+00 : f64
// CHECK-NEXT: %[[V13:.*]] = arith.mulf %[[V8]], %[[V12]] : f64
// CHECK-NEXT: %[[V14:.*]] = arith.subf %[[V5]], %[[V13]] : f64
// CHECK-NEXT: posenc.yield %[[V14]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V15:.*]] = posenc.remap %[[V9]] {
// CHECK-NEXT: ^bb0(%[[V5]]: f64):
// CHECK-NEXT: %[[V6]] = arith.constant 7.000000e+00 : f64
// CHECK-NEXT: %[[V7]] = arith.divf %[[V5]], %[[V6]] : f64
// CHECK-NEXT: %[[V8]] = math.floor %[[V7]] : f64
// CHECK-NEXT: %[[V12]] = arith.constant 7.000000e+00 : f64
// CHECK-NEXT: %[[V13]] = arith.mulf %[[V8]], %[[V12]] : f64
// CHECK-NEXT: %[[V14]] = arith.subf %[[V5]], %[[V13]] : f64
// CHECK-NEXT: posenc.yield %[[V14]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V16:.*]] = posenc.relation_map(%[[V4]], %[[V10]], %[[V11]], %[[V15]]) : !posenc.coord, !posenc.coord, !posenc.coord, !posenc.coord rows(35) {
// CHECK-NEXT: ^bb0(%[[V5]]: f64, %[[V17:.*]]: f64, %[[V18:.*]]: f64, %[[V19:.*]]: f64):
// CHECK-NEXT: %[[V7]] = arith.subf %[[V5]], %[[V17]] : f64
// CHECK-NEXT: %[[V6]] = arith.constant -2.000000e+00 : f64
// CHECK-NEXT: %[[V8]] = arith.maximumf %[[V7]], %[[V6]] : f64
// CHECK-NEXT: %[[V12]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V13]] = arith.minimumf %[[V8]], %[[V12]] : f64
// CHECK-NEXT: %[[V20:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V14]] = arith.addf %[[V13]], %[[V20]] : f64
// CHECK-NEXT: %[[V21:.*]] = arith.constant 7.000000e+00 : f64
// CHECK-NEXT: %[[V22:.*]] = arith.mulf %[[V14]], %[[V21]] : f64
// CHECK-NEXT: %[[V23:.*]] = arith.subf %[[V18]], %[[V19]] : f64
// CHECK-NEXT: %[[V24:.*]] = arith.constant -3.000000e+00 : f64
// CHECK-NEXT: %[[V25:.*]] = arith.maximumf %[[V23]], %[[V24]] : f64
// CHECK-NEXT: %[[V26:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V27:.*]] = arith.minimumf %[[V25]], %[[V26]] : f64
// CHECK-NEXT: %[[V28:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V29:.*]] = arith.addf %[[V27]], %[[V28]] : f64
// CHECK-NEXT: %[[V30:.*]] = arith.addf %[[V22]], %[[V29]] : f64
// CHECK-NEXT: posenc.yield %[[V30]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V31:.*]] = posenc.table law(#posenc.operand<"grid_bias.table", rows = 35>) : !posenc.table<row, head>
// CHECK-NEXT: %[[V32:.*]] = posenc.bias(%[[V16]], %[[V31]]) : !posenc.relation, !posenc.table<row, head> {
// CHECK-NEXT: ^bb0(%[[V5]]: f64, %[[V17]]: f64):
// CHECK-NEXT: posenc.yield %[[V17]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V33:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V34:.*]] = posenc.add %[[V33]], %[[V32]]
// CHECK-NEXT: %[[V35:.*]] = posenc.select %[[V34]] mask(#posenc.full)
// CHECK-NEXT: %[[V36:.*]] = posenc.normalize softmax %[[V35]]
// CHECK-NEXT: %[[V37:.*]] = posenc.weighted_sum %[[V36]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V37]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @grid_bias heads(2) head_dim(4) encode [#posenc.grid_bias<width = 7, max_row = 2, max_column = 3>]

// CHECK-LABEL: posenc.kernel @grid_bias_separable heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.position_tensor<name = "grid_bias.coordinates", axes = 2>)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.position_tensor<name = "grid_bias.coordinates", axes = 2>)
// CHECK-NEXT: %[[V5:.*]] = posenc.position query law(#posenc.position_tensor<name = "grid_bias.coordinates", axes = 2, axis = 1>)
// CHECK-NEXT: %[[V6:.*]] = posenc.position key law(#posenc.position_tensor<name = "grid_bias.coordinates", axes = 2, axis = 1>)
// CHECK-NEXT: %[[V7:.*]] = posenc.relation_map(%[[V3]], %[[V4]]) : !posenc.coord, !posenc.coord rows(3) {
// CHECK-NEXT: ^bb0(%[[V8:.*]]: f64, %[[V9:.*]]: f64):
// CHECK-NEXT: %[[V10:.*]] = arith.subf %[[V9]], %[[V8]] : f64
// CHECK-NEXT: %[[V11:.*]] = math.absf %[[V10]] : f64
// CHECK-NEXT: %[[V12:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V13:.*]] = arith.minimumf %[[V11]], %[[V12]] : f64
// CHECK-NEXT: posenc.yield %[[V13]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V14:.*]] = posenc.table law(#posenc.operand<"grid_bias.rows", rows = 3>) : !posenc.table<row, head>
// CHECK-NEXT: %[[V15:.*]] = posenc.bias(%[[V7]], %[[V14]]) : !posenc.relation, !posenc.table<row, head> {
// CHECK-NEXT: ^bb0(%[[V8]]: f64, %[[V9]]: f64):
// CHECK-NEXT: posenc.yield %[[V9]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V16:.*]] = posenc.relation_map(%[[V5]], %[[V6]]) : !posenc.coord, !posenc.coord rows(4) {
// CHECK-NEXT: ^bb0(%[[V8]]: f64, %[[V9]]: f64):
// CHECK-NEXT: %[[V10]] = arith.subf %[[V9]], %[[V8]] : f64
// CHECK-NEXT: %[[V11]] = math.absf %[[V10]] : f64
// CHECK-NEXT: %[[V12]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V13]] = arith.minimumf %[[V11]], %[[V12]] : f64
// CHECK-NEXT: posenc.yield %[[V13]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V17:.*]] = posenc.table law(#posenc.operand<"grid_bias.columns", rows = 4>) : !posenc.table<row, head>
// CHECK-NEXT: %[[V18:.*]] = posenc.bias(%[[V16]], %[[V17]]) : !posenc.relation, !posenc.table<row, head> {
// CHECK-NEXT: ^bb0(%[[V8]]: f64, %[[V9]]: f64):
// CHECK-NEXT: posenc.yield %[[V9]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V19:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V20:.*]] = posenc.add %[[V19]], %[[V15]]
// CHECK-NEXT: %[[V21:.*]] = posenc.add %[[V20]], %[[V18]]
// CHECK-NEXT: %[[V22:.*]] = posenc.select %[[V21]] mask(#posenc.full)
// CHECK-NEXT: %[[V23:.*]] = posenc.normalize softmax %[[V22]]
// CHECK-NEXT: %[[V24:.*]] = posenc.weighted_sum %[[V23]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V24]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @grid_bias_separable heads(2) head_dim(4) encode [#posenc.grid_bias<coordinates = tensor, max_row = 2, max_column = 3, layout = separable, distance = absolute, orientation = key_minus_query>]

// CHECK-LABEL: posenc.kernel @region_bias heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.position_tensor<name = "regions">)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.position_tensor<name = "regions">)
// CHECK-NEXT: %[[V5:.*]] = posenc.bias(%[[V3]], %[[V4]]) : !posenc.coord, !posenc.coord {
// CHECK-NEXT: ^bb0(%[[V6:.*]]: f64, %[[V7:.*]]: f64):
// CHECK-NEXT: %[[V8:.*]] = arith.cmpf oeq, %[[V6]], %[[V7]] : f64
// CHECK-NEXT: %[[V9:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V10:.*]] = arith.constant -1.000000e+02 : f64
// CHECK-NEXT: %[[V11:.*]] = arith.select %[[V8]], %[[V9]], %[[V10]] : f64
// CHECK-NEXT: posenc.yield %[[V11]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V12:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V13:.*]] = posenc.add %[[V12]], %[[V5]]
// CHECK-NEXT: %[[V14:.*]] = posenc.select %[[V13]] mask(#posenc.causal)
// CHECK-NEXT: %[[V15:.*]] = posenc.normalize softmax %[[V14]]
// CHECK-NEXT: %[[V16:.*]] = posenc.weighted_sum %[[V15]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V16]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @region_bias heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.region_bias]

// TUPE-A with numbers for the class token.
// CHECK-LABEL: posenc.kernel @tupe heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.sum_index extent(4)
// CHECK-NEXT: %[[V6:.*]] = posenc.table law(#posenc.operand<"tupe.queries", rows = 5, channels = 4>) : !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V7:.*]] = posenc.table law(#posenc.operand<"tupe.keys", rows = 5, channels = 4>) : !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V8:.*]] = posenc.bias(%[[V5]], %[[V3]], %[[V6]], %[[V4]], %[[V7]]) : !posenc.relation, !posenc.coord, !posenc.table<row, head, channel>, !posenc.coord, !posenc.table<row, head, channel> {
// CHECK-NEXT: ^bb0(%[[V9:.*]]: f64, %[[V10:.*]]: f64, %[[V11:.*]]: f64, %[[V12:.*]]: f64, %[[V13:.*]]: f64):
// CHECK-NEXT: %[[V14:.*]] = arith.mulf %[[V11]], %[[V13]] : f64
// CHECK-NEXT: %[[V15:.*]] = arith.constant 0.35355339059327373 : f64
// CHECK-NEXT: %[[V16:.*]] = arith.mulf %[[V14]], %[[V15]] : f64
// CHECK-NEXT: posenc.yield %[[V16]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V17:.*]] = posenc.table law(#posenc.operand<"tupe.theta1">) : !posenc.table<head>
// CHECK-NEXT: %[[V18:.*]] = posenc.table law(#posenc.operand<"tupe.theta2">) : !posenc.table<head>
// CHECK-NEXT: %[[V19:.*]] = posenc.map %[[V8]](%[[V3]], %[[V4]], %[[V17]], %[[V18]]) : !posenc.coord, !posenc.coord, !posenc.table<head>, !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[V9]]: f64, %[[V10]]: f64, %[[V11]]: f64, %[[V12]]: f64, %[[V13]]: f64):
// CHECK-NEXT: %[[V15]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V14]] = arith.cmpf oeq, %[[V10]], %[[V15]] : f64
// CHECK-NEXT: %[[V20:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V16]] = arith.cmpf oeq, %[[V11]], %[[V20]] : f64
// CHECK-NEXT: %[[V21:.*]] = arith.select %[[V16]], %[[V13]], %[[V9]] : f64
// CHECK-NEXT: %[[V22:.*]] = arith.select %[[V14]], %[[V12]], %[[V21]] : f64
// CHECK-NEXT: posenc.yield %[[V22]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V23:.*]] = posenc.dot %[[V0]], %[[V1]] scale(0.35355339059327373)
// CHECK-NEXT: %[[V24:.*]] = posenc.add %[[V23]], %[[V19]]
// CHECK-NEXT: %[[V25:.*]] = posenc.select %[[V24]] mask(#posenc.full)
// CHECK-NEXT: %[[V26:.*]] = posenc.normalize softmax %[[V25]]
// CHECK-NEXT: %[[V27:.*]] = posenc.weighted_sum %[[V26]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V27]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @tupe heads(2) head_dim(4) encode [#posenc.tupe<length = 5>]

// TUPE-R with the class token's rows.
// CHECK-LABEL: posenc.kernel @tupe_rows heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.sum_index extent(4)
// CHECK-NEXT: %[[V6:.*]] = posenc.table law(#posenc.operand<"tupe.queries", rows = 6, channels = 4>) : !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V7:.*]] = posenc.table law(#posenc.operand<"tupe.keys", rows = 6, channels = 4>) : !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V8:.*]] = posenc.remap %[[V3]] {
// CHECK-NEXT: ^bb0(%[[V9:.*]]: f64):
// CHECK-NEXT: %[[V10:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V11:.*]] = arith.addf %[[V9]], %[[V10]] : f64
// CHECK-NEXT: posenc.yield %[[V11]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V12:.*]] = posenc.remap %[[V4]] {
// CHECK-NEXT: ^bb0(%[[V9]]: f64):
// CHECK-NEXT: %[[V10]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V11]] = arith.addf %[[V9]], %[[V10]] : f64
// CHECK-NEXT: posenc.yield %[[V11]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V13:.*]] = posenc.bias(%[[V5]], %[[V8]], %[[V6]], %[[V12]], %[[V7]]) : !posenc.relation, !posenc.coord, !posenc.table<row, head, channel>, !posenc.coord, !posenc.table<row, head, channel> {
// CHECK-NEXT: ^bb0(%[[V9]]: f64, %[[V14:.*]]: f64, %[[V15:.*]]: f64, %[[V16:.*]]: f64, %[[V17:.*]]: f64):
// CHECK-NEXT: %[[V11]] = arith.mulf %[[V15]], %[[V17]] : f64
// CHECK-NEXT: %[[V10]] = arith.constant 0.35355339059327373 : f64
// CHECK-NEXT: %[[V18:.*]] = arith.mulf %[[V11]], %[[V10]] : f64
// CHECK-NEXT: posenc.yield %[[V18]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V19:.*]] = posenc.relation_map() rows(6) {
// CHECK-NEXT: %[[V10]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: posenc.yield %[[V10]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V20:.*]] = posenc.bias(%[[V5]], %[[V19]], %[[V6]], %[[V19]], %[[V7]]) : !posenc.relation, !posenc.relation, !posenc.table<row, head, channel>, !posenc.relation, !posenc.table<row, head, channel> {
// CHECK-NEXT: ^bb0(%[[V9]]: f64, %[[V14]]: f64, %[[V15]]: f64, %[[V16]]: f64, %[[V17]]: f64):
// CHECK-NEXT: %[[V11]] = arith.mulf %[[V15]], %[[V17]] : f64
// CHECK-NEXT: %[[V10]] = arith.constant 0.35355339059327373 : f64
// CHECK-NEXT: %[[V18]] = arith.mulf %[[V11]], %[[V10]] : f64
// CHECK-NEXT: posenc.yield %[[V18]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V21:.*]] = posenc.relation_map() rows(6) {
// CHECK-NEXT: %[[V10]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: posenc.yield %[[V10]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V22:.*]] = posenc.bias(%[[V5]], %[[V21]], %[[V6]], %[[V21]], %[[V7]]) : !posenc.relation, !posenc.relation, !posenc.table<row, head, channel>, !posenc.relation, !posenc.table<row, head, channel> {
// CHECK-NEXT: ^bb0(%[[V9]]: f64, %[[V14]]: f64, %[[V15]]: f64, %[[V16]]: f64, %[[V17]]: f64):
// CHECK-NEXT: %[[V11]] = arith.mulf %[[V15]], %[[V17]] : f64
// CHECK-NEXT: %[[V10]] = arith.constant 0.35355339059327373 : f64
// CHECK-NEXT: %[[V18]] = arith.mulf %[[V11]], %[[V10]] : f64
// CHECK-NEXT: posenc.yield %[[V18]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V23:.*]] = posenc.map %[[V13]], %[[V20]], %[[V22]](%[[V3]], %[[V4]]) : !posenc.coord, !posenc.coord {
// CHECK-NEXT: ^bb0(%[[V9]]: f64, %[[V14]]: f64, %[[V15]]: f64, %[[V16]]: f64, %[[V17]]: f64):
// CHECK-NEXT: %[[V10]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V11]] = arith.cmpf oeq, %[[V16]], %[[V10]] : f64
// CHECK-NEXT: %[[V24:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V18]] = arith.cmpf oeq, %[[V17]], %[[V24]] : f64
// CHECK-NEXT: %[[V25:.*]] = arith.select %[[V18]], %[[V15]], %[[V9]] : f64
// CHECK-NEXT: %[[V26:.*]] = arith.select %[[V11]], %[[V14]], %[[V25]] : f64
// CHECK-NEXT: posenc.yield %[[V26]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V27:.*]] = posenc.relation %[[V3]], %[[V4]] law(#posenc.threshold_bucket<[1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91], future_offset = 16>)
// CHECK-NEXT: %[[V28:.*]] = posenc.relation_map(%[[V27]], %[[V3]], %[[V4]]) : !posenc.relation, !posenc.coord, !posenc.coord rows(33) {
// CHECK-NEXT: ^bb0(%[[V9]]: f64, %[[V14]]: f64, %[[V15]]: f64):
// CHECK-NEXT: %[[V10]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V11]] = arith.cmpf oeq, %[[V14]], %[[V10]] : f64
// CHECK-NEXT: %[[V24]] = arith.constant 1.600000e+01 : f64
// CHECK-NEXT: %[[V29:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V18]] = arith.cmpf oeq, %[[V15]], %[[V29]] : f64
// CHECK-NEXT: %[[V30:.*]] = arith.constant 3.200000e+01 : f64
// CHECK-NEXT: %[[V25]] = arith.select %[[V18]], %[[V30]], %[[V9]] : f64
// CHECK-NEXT: %[[V26]] = arith.select %[[V11]], %[[V24]], %[[V25]] : f64
// CHECK-NEXT: posenc.yield %[[V26]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V31:.*]] = posenc.table law(#posenc.operand<"tupe.table", rows = 33>) : !posenc.table<row, head>
// CHECK-NEXT: %[[V32:.*]] = posenc.bias(%[[V28]], %[[V31]]) : !posenc.relation, !posenc.table<row, head> {
// CHECK-NEXT: ^bb0(%[[V9]]: f64, %[[V14]]: f64):
// CHECK-NEXT: posenc.yield %[[V14]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V33:.*]] = posenc.dot %[[V0]], %[[V1]] scale(0.35355339059327373)
// CHECK-NEXT: %[[V34:.*]] = posenc.add %[[V33]], %[[V23]]
// CHECK-NEXT: %[[V35:.*]] = posenc.add %[[V34]], %[[V32]]
// CHECK-NEXT: %[[V36:.*]] = posenc.select %[[V35]] mask(#posenc.full)
// CHECK-NEXT: %[[V37:.*]] = posenc.normalize softmax %[[V36]]
// CHECK-NEXT: %[[V38:.*]] = posenc.weighted_sum %[[V37]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V38]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @tupe_rows heads(2) head_dim(4) encode [#posenc.tupe<length = 5, variant = relative, theta = rows>]

// The bias before it goes through the network, that behind it does not.
// CHECK-LABEL: posenc.kernel @dape heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.constants<[6.250000e-02, 3.906250e-03]>) : !posenc.table<head>
// CHECK-NEXT: %[[V4:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V6:.*]] = posenc.relation %[[V4]], %[[V5]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V7:.*]] = posenc.bias(%[[V6]], %[[V3]]) : !posenc.relation, !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[V8:.*]]: f64, %[[V9:.*]]: f64):
// CHECK-NEXT: %[[V10:.*]] = math.absf %[[V8]] : f64
// CHECK-NEXT: %[[V11:.*]] = arith.mulf %[[V10]], %[[V9]] : f64
// CHECK-NEXT: %[[V12:.*]] = arith.negf %[[V11]] : f64
// CHECK-NEXT: posenc.yield %[[V12]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V13:.*]] = posenc.table law(#posenc.operand<"dape.w1", rows = 4, channels = 3>) : !posenc.table<row, channel>
// CHECK-NEXT: %[[V14:.*]] = posenc.table law(#posenc.operand<"dape.b1", channels = 3>) : !posenc.table<channel>
// CHECK-NEXT: %[[V15:.*]] = posenc.table law(#posenc.operand<"dape.w2", rows = 3>) : !posenc.table<row, head>
// CHECK-NEXT: %[[V16:.*]] = posenc.table law(#posenc.operand<"dape.b2">) : !posenc.table<head>
// CHECK-NEXT: %[[V17:.*]] = posenc.table law(#posenc.operand<"bias">) : !posenc.table<head, query, key>
// CHECK-NEXT: %[[V18:.*]] = posenc.bias(%[[V17]]) : !posenc.table<head, query, key> {
// CHECK-NEXT: ^bb0(%[[V8]]: f64):
// CHECK-NEXT: posenc.yield %[[V8]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V19:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V20:.*]] = posenc.head_mlp(%[[V19]], %[[V7]]) weights(%[[V13]], %[[V14]], %[[V15]], %[[V16]]) taps(1) {
// CHECK-NEXT: ^bb0(%[[V8]]: f64):
// CHECK-NEXT: %[[V21:.*]] = arith.constant 1.000000e-02 : f64
// CHECK-NEXT: %[[V10]] = arith.mulf %[[V8]], %[[V21]] : f64
// CHECK-NEXT: %[[V11]] = arith.maximumf %[[V8]], %[[V10]] : f64
// CHECK-NEXT: posenc.yield %[[V11]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V22:.*]] = posenc.add %[[V19]], %[[V7]]
// CHECK-NEXT: %[[V23:.*]] = posenc.add %[[V22]], %[[V20]]
// CHECK-NEXT: %[[V24:.*]] = posenc.add %[[V23]], %[[V18]]
// CHECK-NEXT: %[[V25:.*]] = posenc.select %[[V24]] mask(#posenc.full)
// CHECK-NEXT: %[[V26:.*]] = posenc.normalize softmax %[[V25]]
// CHECK-NEXT: %[[V27:.*]] = posenc.weighted_sum %[[V26]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V27]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @dape heads(2) head_dim(4) encode [#posenc.alibi<form = symmetric>, #posenc.dape<hidden = 3>, #posenc.dense_bias]

// Without a bias it is 0; the mask comes before the convolutions, too.
// CHECK-LABEL: posenc.kernel @dape_v2 heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.operand<"dape.w1", rows = 12, channels = 3>) : !posenc.table<row, channel>
// CHECK-NEXT: %[[V4:.*]] = posenc.table law(#posenc.operand<"dape.b1", channels = 3>) : !posenc.table<channel>
// CHECK-NEXT: %[[V5:.*]] = posenc.table law(#posenc.operand<"dape.w2", rows = 9>) : !posenc.table<row, head>
// CHECK-NEXT: %[[V6:.*]] = posenc.table law(#posenc.operand<"dape.b2">) : !posenc.table<head>
// CHECK-NEXT: %[[V7:.*]] = posenc.bias() {
// CHECK-NEXT: %[[V8:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: posenc.yield %[[V8]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V9:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V10:.*]] = posenc.select %[[V9]] mask(#posenc.causal)
// CHECK-NEXT: %[[V11:.*]] = posenc.select %[[V7]] mask(#posenc.causal)
// CHECK-NEXT: %[[V12:.*]] = posenc.head_mlp(%[[V10]], %[[V11]]) weights(%[[V3]], %[[V4]], %[[V5]], %[[V6]]) taps(3) {
// CHECK-NEXT: ^bb0(%[[V13:.*]]: f64):
// CHECK-NEXT: %[[V8]] = arith.constant 1.000000e-02 : f64
// CHECK-NEXT: %[[V14:.*]] = arith.mulf %[[V13]], %[[V8]] : f64
// CHECK-NEXT: %[[V15:.*]] = arith.maximumf %[[V13]], %[[V14]] : f64
// CHECK-NEXT: posenc.yield %[[V15]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V16:.*]] = posenc.add %[[V10]], %[[V11]]
// CHECK-NEXT: %[[V17:.*]] = posenc.add %[[V16]], %[[V12]]
// CHECK-NEXT: %[[V18:.*]] = posenc.select %[[V17]] mask(#posenc.causal)
// CHECK-NEXT: %[[V19:.*]] = posenc.normalize softmax %[[V18]]
// CHECK-NEXT: %[[V20:.*]] = posenc.weighted_sum %[[V19]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V20]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @dape_v2 heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.dape<version = v2, hidden = 3>]

// CHECK-LABEL: posenc.kernel @shaw heads(2) head_dim(4) value_dim(6) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.relation %[[V3]], %[[V4]] law(#posenc.clipped_distance<key_minus_query, max = 3>)
// CHECK-NEXT: %[[V6:.*]] = posenc.table law(#posenc.operand<"shaw.keys", rows = 7, channels = 4>) : !posenc.table<row, channel>
// CHECK-NEXT: %[[V7:.*]] = posenc.table_dot %[[V0]], %[[V6]] at(%[[V5]]) scale(5.000000e-01) : !posenc.query, !posenc.table<row, channel>, !posenc.relation
// CHECK-NEXT: %[[V8:.*]] = posenc.table law(#posenc.operand<"shaw.values", rows = 7, channels = 6>) : !posenc.table<row, channel>
// CHECK-NEXT: %[[V9:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V10:.*]] = posenc.add %[[V9]], %[[V7]]
// CHECK-NEXT: %[[V11:.*]] = posenc.select %[[V10]] mask(#posenc.full)
// CHECK-NEXT: %[[V12:.*]] = posenc.normalize softmax %[[V11]]
// CHECK-NEXT: %[[V13:.*]] = posenc.weighted_sum %[[V12]], %[[V2]]
// CHECK-NEXT: %[[V14:.*]] = posenc.value_table %[[V12]], %[[V8]] at(%[[V5]]) : !posenc.table<row, channel>
// CHECK-NEXT: %[[V15:.*]] = posenc.add %[[V13]], %[[V14]] : !posenc.output
// CHECK-NEXT: posenc.yield %[[V15]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @shaw heads(2) head_dim(4) value_dim(6) encode [#posenc.shaw<max_distance = 3>]

// CHECK-LABEL: posenc.kernel @shaw_variants heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.relation %[[V3]], %[[V4]] law(#posenc.clipped_distance<query_minus_key, max = 3>)
// CHECK-NEXT: %[[V6:.*]] = posenc.table law(#posenc.operand<"shaw.keys", rows = 7, channels = 4>) : !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V7:.*]] = posenc.table_dot %[[V0]], %[[V6]] at(%[[V5]]) scale(1.000000e+00) : !posenc.query, !posenc.table<row, head, channel>, !posenc.relation
// CHECK-NEXT: %[[V8:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V9:.*]] = posenc.add %[[V8]], %[[V7]]
// CHECK-NEXT: %[[V10:.*]] = posenc.select %[[V9]] mask(#posenc.full)
// CHECK-NEXT: %[[V11:.*]] = posenc.normalize softmax %[[V10]]
// CHECK-NEXT: %[[V12:.*]] = posenc.weighted_sum %[[V11]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V12]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @shaw_variants heads(2) head_dim(4) encode [#posenc.shaw<max_distance = 3, values = off, tables = per_head, orientation = query_minus_key, site = outside>]

// One table for keys and values.
// CHECK-LABEL: posenc.kernel @nezha heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.relation %[[V3]], %[[V4]] law(#posenc.clipped_distance<key_minus_query, max = 3>)
// CHECK-NEXT: %[[V6:.*]] = posenc.table_map channels(4) {
// CHECK-NEXT: ^bb0(%[[V7:.*]]: f64, %[[V8:.*]]: f64):
// CHECK-NEXT: %[[V9:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V10:.*]] = arith.divf %[[V8]], %[[V9]] : f64
// CHECK-NEXT: %[[V11:.*]] = math.floor %[[V10]] : f64
// CHECK-NEXT: %[[V12:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V13:.*]] = arith.mulf %[[V11]], %[[V12]] : f64
// CHECK-NEXT: %[[V14:.*]] = arith.subf %[[V8]], %[[V13]] : f64
// CHECK-NEXT: %[[V15:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V16:.*]] = arith.cmpf oeq, %[[V14]], %[[V15]] : f64
// CHECK-NEXT: %[[V17:.*]] = arith.constant 1.000000e+04 : f64
// CHECK-NEXT: %[[V18:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V19:.*]] = arith.divf %[[V11]], %[[V18]] : f64
// CHECK-NEXT: %[[V20:.*]] = arith.negf %[[V19]] : f64
// CHECK-NEXT: %[[V21:.*]] = math.powf %[[V17]], %[[V20]] : f64
// CHECK-NEXT: %[[V22:.*]] = arith.mulf %[[V7]], %[[V21]] : f64
// CHECK-NEXT: %[[V23:.*]] = math.cos %[[V22]] : f64
// CHECK-NEXT: %[[V24:.*]] = math.sin %[[V22]] : f64
// CHECK-NEXT: %[[V25:.*]] = arith.select %[[V16]], %[[V23]], %[[V24]] : f64
// CHECK-NEXT: posenc.yield %[[V25]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V26:.*]] = posenc.table_dot %[[V0]], %[[V6]] at(%[[V5]]) scale(5.000000e-01) : !posenc.query, !posenc.table<row, channel>, !posenc.relation
// CHECK-NEXT: %[[V27:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V28:.*]] = posenc.add %[[V27]], %[[V26]]
// CHECK-NEXT: %[[V29:.*]] = posenc.select %[[V28]] mask(#posenc.full)
// CHECK-NEXT: %[[V30:.*]] = posenc.normalize softmax %[[V29]]
// CHECK-NEXT: %[[V31:.*]] = posenc.weighted_sum %[[V30]], %[[V2]]
// CHECK-NEXT: %[[V32:.*]] = posenc.value_table %[[V30]], %[[V6]] at(%[[V5]]) : !posenc.table<row, channel>
// CHECK-NEXT: %[[V33:.*]] = posenc.add %[[V31]], %[[V32]] : !posenc.output
// CHECK-NEXT: posenc.yield %[[V33]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @nezha heads(2) head_dim(4) encode [#posenc.nezha<max_distance = 3>]

// u belongs to the content and v to the position.
// CHECK-LABEL: posenc.kernel @transformer_xl heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.relation %[[V3]], %[[V4]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V6:.*]] = posenc.table_map channels(8) {
// CHECK-NEXT: ^bb0(%[[V7:.*]]: f64, %[[V8:.*]]: f64):
// CHECK-NEXT: %[[V9:.*]] = arith.constant 4.000000e+00 : f64
// CHECK-NEXT: %[[V10:.*]] = arith.divf %[[V8]], %[[V9]] : f64
// CHECK-NEXT: %[[V11:.*]] = math.floor %[[V10]] : f64
// CHECK-NEXT: %[[V12:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V13:.*]] = arith.cmpf oeq, %[[V11]], %[[V12]] : f64
// CHECK-NEXT: %[[V14:.*]] = arith.constant 1.000000e+04 : f64
// CHECK-NEXT: %[[V15:.*]] = arith.constant 4.000000e+00 : f64
// CHECK-NEXT: %[[V16:.*]] = arith.mulf %[[V11]], %[[V15]] : f64
// CHECK-NEXT: %[[V17:.*]] = arith.subf %[[V8]], %[[V16]] : f64
// CHECK-NEXT: %[[V18:.*]] = arith.constant 4.000000e+00 : f64
// CHECK-NEXT: %[[V19:.*]] = arith.divf %[[V17]], %[[V18]] : f64
// CHECK-NEXT: %[[V20:.*]] = arith.negf %[[V19]] : f64
// CHECK-NEXT: %[[V21:.*]] = math.powf %[[V14]], %[[V20]] : f64
// CHECK-NEXT: %[[V22:.*]] = arith.mulf %[[V7]], %[[V21]] : f64
// CHECK-NEXT: %[[V23:.*]] = math.cos %[[V22]] : f64
// CHECK-NEXT: %[[V24:.*]] = math.sin %[[V22]] : f64
// CHECK-NEXT: %[[V25:.*]] = arith.select %[[V13]], %[[V23]], %[[V24]] : f64
// CHECK-NEXT: posenc.yield %[[V25]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V26:.*]] = posenc.table law(#posenc.operand<"transformer_xl.w", rows = 8, channels = 4>) : !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V27:.*]] = posenc.project %[[V6]], %[[V26]] : !posenc.table<row, channel>, !posenc.table<row, head, channel> -> !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V28:.*]] = posenc.table law(#posenc.operand<"transformer_xl.v", channels = 4>) : !posenc.table<head, channel>
// CHECK-NEXT: %[[V29:.*]] = posenc.vadd %[[V0]], %[[V28]] : !posenc.query, !posenc.table<head, channel>
// CHECK-NEXT: %[[V30:.*]] = posenc.table_dot %[[V29]], %[[V27]] at(%[[V5]]) scale(5.000000e-01) : !posenc.query, !posenc.table<row, head, channel>, !posenc.relation
// CHECK-NEXT: %[[V31:.*]] = posenc.table law(#posenc.operand<"transformer_xl.u", channels = 4>) : !posenc.table<head, channel>
// CHECK-NEXT: %[[V32:.*]] = posenc.vadd %[[V0]], %[[V31]] : !posenc.query, !posenc.table<head, channel>
// CHECK-NEXT: %[[V33:.*]] = posenc.dot %[[V32]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V34:.*]] = posenc.add %[[V33]], %[[V30]]
// CHECK-NEXT: %[[V35:.*]] = posenc.select %[[V34]] mask(#posenc.causal)
// CHECK-NEXT: %[[V36:.*]] = posenc.normalize softmax %[[V35]]
// CHECK-NEXT: %[[V37:.*]] = posenc.weighted_sum %[[V36]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V37]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @transformer_xl heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.transformer_xl]

// Clamped distances have rows that count from -clamp_len.
// CHECK-LABEL: posenc.kernel @xlnet heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.relation %[[V3]], %[[V4]] law(#posenc.clipped_distance<key_minus_query, max = 5>)
// CHECK-NEXT: %[[V6:.*]] = posenc.table_map channels(6) {
// CHECK-NEXT: ^bb0(%[[V7:.*]]: f64, %[[V8:.*]]: f64):
// CHECK-NEXT: %[[V9:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V10:.*]] = arith.divf %[[V8]], %[[V9]] : f64
// CHECK-NEXT: %[[V11:.*]] = math.floor %[[V10]] : f64
// CHECK-NEXT: %[[V12:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V13:.*]] = arith.cmpf oeq, %[[V11]], %[[V12]] : f64
// CHECK-NEXT: %[[V14:.*]] = arith.constant 5.000000e+00 : f64
// CHECK-NEXT: %[[V15:.*]] = arith.subf %[[V7]], %[[V14]] : f64
// CHECK-NEXT: %[[V16:.*]] = arith.constant 1.000000e+04 : f64
// CHECK-NEXT: %[[V17:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V18:.*]] = arith.mulf %[[V11]], %[[V17]] : f64
// CHECK-NEXT: %[[V19:.*]] = arith.subf %[[V8]], %[[V18]] : f64
// CHECK-NEXT: %[[V20:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V21:.*]] = arith.divf %[[V19]], %[[V20]] : f64
// CHECK-NEXT: %[[V22:.*]] = arith.negf %[[V21]] : f64
// CHECK-NEXT: %[[V23:.*]] = math.powf %[[V16]], %[[V22]] : f64
// CHECK-NEXT: %[[V24:.*]] = arith.mulf %[[V15]], %[[V23]] : f64
// CHECK-NEXT: %[[V25:.*]] = math.cos %[[V24]] : f64
// CHECK-NEXT: %[[V26:.*]] = math.sin %[[V24]] : f64
// CHECK-NEXT: %[[V27:.*]] = arith.select %[[V13]], %[[V25]], %[[V26]] : f64
// CHECK-NEXT: posenc.yield %[[V27]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V28:.*]] = posenc.table law(#posenc.operand<"xlnet.w", rows = 6, channels = 4>) : !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V29:.*]] = posenc.project %[[V6]], %[[V28]] : !posenc.table<row, channel>, !posenc.table<row, head, channel> -> !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V30:.*]] = posenc.table law(#posenc.operand<"xlnet.v", channels = 4>) : !posenc.table<head, channel>
// CHECK-NEXT: %[[V31:.*]] = posenc.vadd %[[V0]], %[[V30]] : !posenc.query, !posenc.table<head, channel>
// CHECK-NEXT: %[[V32:.*]] = posenc.table_dot %[[V31]], %[[V29]] at(%[[V5]]) scale(5.000000e-01) : !posenc.query, !posenc.table<row, head, channel>, !posenc.relation
// CHECK-NEXT: %[[V33:.*]] = posenc.table law(#posenc.operand<"xlnet.u", channels = 4>) : !posenc.table<head, channel>
// CHECK-NEXT: %[[V34:.*]] = posenc.vadd %[[V0]], %[[V33]] : !posenc.query, !posenc.table<head, channel>
// CHECK-NEXT: %[[V35:.*]] = posenc.position query law(#posenc.position_tensor<name = "xlnet.segment_ids">)
// CHECK-NEXT: %[[V36:.*]] = posenc.position key law(#posenc.position_tensor<name = "xlnet.segment_ids">)
// CHECK-NEXT: %[[V37:.*]] = posenc.relation_map(%[[V35]], %[[V36]]) : !posenc.coord, !posenc.coord rows(2) {
// CHECK-NEXT: ^bb0(%[[V7]]: f64, %[[V8]]: f64):
// CHECK-NEXT: %[[V10]] = arith.cmpf oeq, %[[V7]], %[[V8]] : f64
// CHECK-NEXT: %[[V9]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V12]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V11]] = arith.select %[[V10]], %[[V9]], %[[V12]] : f64
// CHECK-NEXT: posenc.yield %[[V11]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V38:.*]] = posenc.table law(#posenc.operand<"xlnet.e", rows = 2, channels = 4>) : !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V39:.*]] = posenc.table law(#posenc.operand<"xlnet.s", channels = 4>) : !posenc.table<head, channel>
// CHECK-NEXT: %[[V40:.*]] = posenc.vadd %[[V0]], %[[V39]] : !posenc.query, !posenc.table<head, channel>
// CHECK-NEXT: %[[V41:.*]] = posenc.table_dot %[[V40]], %[[V38]] at(%[[V37]]) scale(5.000000e-01) : !posenc.query, !posenc.table<row, head, channel>, !posenc.relation
// CHECK-NEXT: %[[V42:.*]] = posenc.dot %[[V34]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V43:.*]] = posenc.add %[[V42]], %[[V32]]
// CHECK-NEXT: %[[V44:.*]] = posenc.add %[[V43]], %[[V41]]
// CHECK-NEXT: %[[V45:.*]] = posenc.select %[[V44]] mask(#posenc.full)
// CHECK-NEXT: %[[V46:.*]] = posenc.normalize softmax %[[V45]]
// CHECK-NEXT: %[[V47:.*]] = posenc.weighted_sum %[[V46]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V47]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @xlnet heads(2) head_dim(4) encode [#posenc.xlnet<model_dim = 6, clamp_len = 5, segments = on, orientation = key_minus_query>]

// CHECK-LABEL: posenc.kernel @tener heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table_map channels(4) {
// CHECK-NEXT: ^bb0(%[[V4:.*]]: f64, %[[V5:.*]]: f64):
// CHECK-NEXT: %[[V6:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V7:.*]] = arith.divf %[[V5]], %[[V6]] : f64
// CHECK-NEXT: %[[V8:.*]] = math.floor %[[V7]] : f64
// CHECK-NEXT: %[[V9:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V10:.*]] = arith.cmpf oeq, %[[V8]], %[[V9]] : f64
// CHECK-NEXT: %[[V11:.*]] = arith.constant 1.000000e+04 : f64
// CHECK-NEXT: %[[V12:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V13:.*]] = arith.mulf %[[V8]], %[[V12]] : f64
// CHECK-NEXT: %[[V14:.*]] = arith.subf %[[V5]], %[[V13]] : f64
// CHECK-NEXT: %[[V15:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V16:.*]] = arith.divf %[[V14]], %[[V15]] : f64
// CHECK-NEXT: %[[V17:.*]] = arith.negf %[[V16]] : f64
// CHECK-NEXT: %[[V18:.*]] = math.powf %[[V11]], %[[V17]] : f64
// CHECK-NEXT: %[[V19:.*]] = arith.mulf %[[V4]], %[[V18]] : f64
// CHECK-NEXT: %[[V20:.*]] = math.cos %[[V19]] : f64
// CHECK-NEXT: %[[V21:.*]] = math.sin %[[V19]] : f64
// CHECK-NEXT: %[[V22:.*]] = arith.select %[[V10]], %[[V20]], %[[V21]] : f64
// CHECK-NEXT: posenc.yield %[[V22]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V23:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V24:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V25:.*]] = posenc.relation %[[V23]], %[[V24]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V26:.*]] = posenc.relation %[[V23]], %[[V24]] law(#posenc.difference<key_minus_query>)
// CHECK-NEXT: %[[V27:.*]] = posenc.table law(#posenc.operand<"tener.v", channels = 4>) : !posenc.table<head, channel>
// CHECK-NEXT: %[[V28:.*]] = posenc.vadd %[[V0]], %[[V27]] : !posenc.query, !posenc.table<head, channel>
// CHECK-NEXT: %[[V29:.*]] = posenc.table_dot %[[V28]], %[[V3]] at(%[[V26]]) scale(1.000000e+00) : !posenc.query, !posenc.table<row, channel>, !posenc.relation
// CHECK-NEXT: %[[V30:.*]] = posenc.table_dot %[[V1]], %[[V3]] at(%[[V25]]) scale(1.000000e+00) : !posenc.key, !posenc.table<row, channel>, !posenc.relation
// CHECK-NEXT: %[[V31:.*]] = posenc.table law(#posenc.operand<"tener.u", channels = 4>) : !posenc.table<head, channel>
// CHECK-NEXT: %[[V32:.*]] = posenc.vadd %[[V0]], %[[V31]] : !posenc.query, !posenc.table<head, channel>
// CHECK-NEXT: %[[V33:.*]] = posenc.dot %[[V32]], %[[V1]] scale(1.000000e+00)
// CHECK-NEXT: %[[V34:.*]] = posenc.add %[[V33]], %[[V29]]
// CHECK-NEXT: %[[V35:.*]] = posenc.add %[[V34]], %[[V30]]
// CHECK-NEXT: %[[V36:.*]] = posenc.select %[[V35]] mask(#posenc.full)
// CHECK-NEXT: %[[V37:.*]] = posenc.normalize softmax %[[V36]]
// CHECK-NEXT: %[[V38:.*]] = posenc.weighted_sum %[[V37]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V38]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @tener heads(2) head_dim(4) encode [#posenc.tener]

// CHECK-LABEL: posenc.kernel @tener_paper heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table_map channels(4) {
// CHECK-NEXT: ^bb0(%[[V4:.*]]: f64, %[[V5:.*]]: f64):
// CHECK-NEXT: %[[V6:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V7:.*]] = arith.divf %[[V5]], %[[V6]] : f64
// CHECK-NEXT: %[[V8:.*]] = math.floor %[[V7]] : f64
// CHECK-NEXT: %[[V9:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V10:.*]] = arith.cmpf oeq, %[[V8]], %[[V9]] : f64
// CHECK-NEXT: %[[V11:.*]] = arith.constant 1.000000e+04 : f64
// CHECK-NEXT: %[[V12:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V13:.*]] = arith.mulf %[[V8]], %[[V12]] : f64
// CHECK-NEXT: %[[V14:.*]] = arith.subf %[[V5]], %[[V13]] : f64
// CHECK-NEXT: %[[V15:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V16:.*]] = arith.divf %[[V14]], %[[V15]] : f64
// CHECK-NEXT: %[[V17:.*]] = arith.negf %[[V16]] : f64
// CHECK-NEXT: %[[V18:.*]] = math.powf %[[V11]], %[[V17]] : f64
// CHECK-NEXT: %[[V19:.*]] = arith.mulf %[[V4]], %[[V18]] : f64
// CHECK-NEXT: %[[V20:.*]] = math.cos %[[V19]] : f64
// CHECK-NEXT: %[[V21:.*]] = math.sin %[[V19]] : f64
// CHECK-NEXT: %[[V22:.*]] = arith.select %[[V10]], %[[V20]], %[[V21]] : f64
// CHECK-NEXT: posenc.yield %[[V22]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V23:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V24:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V25:.*]] = posenc.relation %[[V23]], %[[V24]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V26:.*]] = posenc.table law(#posenc.operand<"tener.v", channels = 4>) : !posenc.table<head, channel>
// CHECK-NEXT: %[[V27:.*]] = posenc.vadd %[[V0]], %[[V26]] : !posenc.query, !posenc.table<head, channel>
// CHECK-NEXT: %[[V28:.*]] = posenc.table_dot %[[V27]], %[[V3]] at(%[[V25]]) scale(5.000000e-01) : !posenc.query, !posenc.table<row, channel>, !posenc.relation
// CHECK-NEXT: %[[V29:.*]] = posenc.table law(#posenc.operand<"tener.u", channels = 4>) : !posenc.table<head, channel>
// CHECK-NEXT: %[[V30:.*]] = posenc.vadd %[[V0]], %[[V29]] : !posenc.query, !posenc.table<head, channel>
// CHECK-NEXT: %[[V31:.*]] = posenc.dot %[[V30]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V32:.*]] = posenc.add %[[V31]], %[[V28]]
// CHECK-NEXT: %[[V33:.*]] = posenc.select %[[V32]] mask(#posenc.full)
// CHECK-NEXT: %[[V34:.*]] = posenc.normalize softmax %[[V33]]
// CHECK-NEXT: %[[V35:.*]] = posenc.weighted_sum %[[V34]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V35]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @tener_paper heads(2) head_dim(4) encode [#posenc.tener<law = paper, exponent = half, scaled = on>]

// CHECK-LABEL: posenc.kernel @deberta heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.operand<"deberta.keys", rows = 6, channels = 4>) : !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V4:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V6:.*]] = posenc.relation %[[V4]], %[[V5]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V7:.*]] = posenc.relation_map(%[[V6]]) : !posenc.relation rows(6) {
// CHECK-NEXT: ^bb0(%[[V8:.*]]: f64):
// CHECK-NEXT: %[[V9:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V10:.*]] = arith.addf %[[V8]], %[[V9]] : f64
// CHECK-NEXT: %[[V11:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V12:.*]] = arith.maximumf %[[V10]], %[[V11]] : f64
// CHECK-NEXT: %[[V13:.*]] = arith.constant 5.000000e+00 : f64
// CHECK-NEXT: %[[V14:.*]] = arith.minimumf %[[V12]], %[[V13]] : f64
// CHECK-NEXT: posenc.yield %[[V14]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V15:.*]] = posenc.table_dot %[[V0]], %[[V3]] at(%[[V7]]) scale(0.28867513459481292) : !posenc.query, !posenc.table<row, head, channel>, !posenc.relation
// CHECK-NEXT: %[[V16:.*]] = posenc.table law(#posenc.operand<"deberta.queries", rows = 6, channels = 4>) : !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V17:.*]] = posenc.relation %[[V4]], %[[V5]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V18:.*]] = posenc.relation_map(%[[V17]]) : !posenc.relation rows(6) {
// CHECK-NEXT: ^bb0(%[[V8]]: f64):
// CHECK-NEXT: %[[V9]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V10]] = arith.addf %[[V8]], %[[V9]] : f64
// CHECK-NEXT: %[[V11]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V12]] = arith.maximumf %[[V10]], %[[V11]] : f64
// CHECK-NEXT: %[[V13]] = arith.constant 5.000000e+00 : f64
// CHECK-NEXT: %[[V14]] = arith.minimumf %[[V12]], %[[V13]] : f64
// CHECK-NEXT: posenc.yield %[[V14]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V19:.*]] = posenc.table_dot %[[V1]], %[[V16]] at(%[[V18]]) scale(0.28867513459481292) : !posenc.key, !posenc.table<row, head, channel>, !posenc.relation
// CHECK-NEXT: %[[V20:.*]] = posenc.dot %[[V0]], %[[V1]] scale(0.28867513459481292)
// CHECK-NEXT: %[[V21:.*]] = posenc.add %[[V20]], %[[V15]]
// CHECK-NEXT: %[[V22:.*]] = posenc.add %[[V21]], %[[V19]]
// CHECK-NEXT: %[[V23:.*]] = posenc.select %[[V22]] mask(#posenc.full)
// CHECK-NEXT: %[[V24:.*]] = posenc.normalize softmax %[[V23]]
// CHECK-NEXT: %[[V25:.*]] = posenc.weighted_sum %[[V24]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V25]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @deberta heads(2) head_dim(4) encode [#posenc.deberta<max_distance = 3>]

// The paper's index of position to content.
// CHECK-LABEL: posenc.kernel @deberta_paper heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.operand<"deberta.queries", rows = 6, channels = 4>) : !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V4:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V6:.*]] = posenc.relation %[[V4]], %[[V5]] law(#posenc.difference<key_minus_query>)
// CHECK-NEXT: %[[V7:.*]] = posenc.relation_map(%[[V6]]) : !posenc.relation rows(6) {
// CHECK-NEXT: ^bb0(%[[V8:.*]]: f64):
// CHECK-NEXT: %[[V9:.*]] = arith.constant 3.000000e+00 : f64
// CHECK-NEXT: %[[V10:.*]] = arith.addf %[[V8]], %[[V9]] : f64
// CHECK-NEXT: %[[V11:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V12:.*]] = arith.maximumf %[[V10]], %[[V11]] : f64
// CHECK-NEXT: %[[V13:.*]] = arith.constant 5.000000e+00 : f64
// CHECK-NEXT: %[[V14:.*]] = arith.minimumf %[[V12]], %[[V13]] : f64
// CHECK-NEXT: posenc.yield %[[V14]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V15:.*]] = posenc.table_dot %[[V1]], %[[V3]] at(%[[V7]]) scale(0.35355339059327373) : !posenc.key, !posenc.table<row, head, channel>, !posenc.relation
// CHECK-NEXT: %[[V16:.*]] = posenc.dot %[[V0]], %[[V1]] scale(0.35355339059327373)
// CHECK-NEXT: %[[V17:.*]] = posenc.add %[[V16]], %[[V15]]
// CHECK-NEXT: %[[V18:.*]] = posenc.select %[[V17]] mask(#posenc.full)
// CHECK-NEXT: %[[V19:.*]] = posenc.normalize softmax %[[V18]]
// CHECK-NEXT: %[[V20:.*]] = posenc.weighted_sum %[[V19]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V20]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @deberta_paper heads(2) head_dim(4) encode [#posenc.deberta<max_distance = 3, c2p = off, p2c_index = paper>]

// Distances are clamped to 15: no eighth bucket.
// CHECK-LABEL: posenc.kernel @deberta_buckets heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.operand<"deberta.keys", rows = 16, channels = 4>) : !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V4:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V6:.*]] = posenc.relation %[[V4]], %[[V5]] law(#posenc.threshold_bucket<[1, 2, 3, 4, 5, 7, 10], future_offset = 8>)
// CHECK-NEXT: %[[V7:.*]] = posenc.relation_map(%[[V6]]) : !posenc.relation rows(16) {
// CHECK-NEXT: ^bb0(%[[V8:.*]]: f64):
// CHECK-NEXT: %[[V9:.*]] = arith.constant 8.000000e+00 : f64
// CHECK-NEXT: %[[V10:.*]] = arith.cmpf ole, %[[V9]], %[[V8]] : f64
// CHECK-NEXT: %[[V11:.*]] = arith.constant 8.000000e+00 : f64
// CHECK-NEXT: %[[V12:.*]] = arith.subf %[[V11]], %[[V8]] : f64
// CHECK-NEXT: %[[V13:.*]] = arith.select %[[V10]], %[[V12]], %[[V8]] : f64
// CHECK-NEXT: %[[V14:.*]] = arith.constant 8.000000e+00 : f64
// CHECK-NEXT: %[[V15:.*]] = arith.addf %[[V13]], %[[V14]] : f64
// CHECK-NEXT: %[[V16:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V17:.*]] = arith.maximumf %[[V15]], %[[V16]] : f64
// CHECK-NEXT: %[[V18:.*]] = arith.constant 1.500000e+01 : f64
// CHECK-NEXT: %[[V19:.*]] = arith.minimumf %[[V17]], %[[V18]] : f64
// CHECK-NEXT: posenc.yield %[[V19]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V20:.*]] = posenc.table_dot %[[V0]], %[[V3]] at(%[[V7]]) scale(0.35355339059327373) : !posenc.query, !posenc.table<row, head, channel>, !posenc.relation
// CHECK-NEXT: %[[V21:.*]] = posenc.dot %[[V0]], %[[V1]] scale(0.35355339059327373)
// CHECK-NEXT: %[[V22:.*]] = posenc.add %[[V21]], %[[V20]]
// CHECK-NEXT: %[[V23:.*]] = posenc.select %[[V22]] mask(#posenc.full)
// CHECK-NEXT: %[[V24:.*]] = posenc.normalize softmax %[[V23]]
// CHECK-NEXT: %[[V25:.*]] = posenc.weighted_sum %[[V24]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V25]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @deberta_buckets heads(2) head_dim(4) encode [#posenc.deberta<buckets = 8, max_distance = 16, p2c = off>]

// CHECK-LABEL: posenc.kernel @deberta_buckets_hf heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.operand<"deberta.queries", rows = 16, channels = 4>) : !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V4:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V6:.*]] = posenc.relation %[[V4]], %[[V5]] law(#posenc.threshold_bucket<[1, 2, 3, 4, 5, 7, 10, 16], future_offset = 9>)
// CHECK-NEXT: %[[V7:.*]] = posenc.relation_map(%[[V6]]) : !posenc.relation rows(16) {
// CHECK-NEXT: ^bb0(%[[V8:.*]]: f64):
// CHECK-NEXT: %[[V9:.*]] = arith.constant 8.000000e+00 : f64
// CHECK-NEXT: %[[V10:.*]] = arith.constant 9.000000e+00 : f64
// CHECK-NEXT: %[[V11:.*]] = arith.cmpf ole, %[[V10]], %[[V8]] : f64
// CHECK-NEXT: %[[V12:.*]] = arith.constant 9.000000e+00 : f64
// CHECK-NEXT: %[[V13:.*]] = arith.subf %[[V12]], %[[V8]] : f64
// CHECK-NEXT: %[[V14:.*]] = arith.select %[[V11]], %[[V13]], %[[V8]] : f64
// CHECK-NEXT: %[[V15:.*]] = arith.subf %[[V9]], %[[V14]] : f64
// CHECK-NEXT: %[[V16:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V17:.*]] = arith.maximumf %[[V15]], %[[V16]] : f64
// CHECK-NEXT: %[[V18:.*]] = arith.constant 1.500000e+01 : f64
// CHECK-NEXT: %[[V19:.*]] = arith.minimumf %[[V17]], %[[V18]] : f64
// CHECK-NEXT: posenc.yield %[[V19]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V20:.*]] = posenc.table_dot %[[V1]], %[[V3]] at(%[[V7]]) scale(0.35355339059327373) : !posenc.key, !posenc.table<row, head, channel>, !posenc.relation
// CHECK-NEXT: %[[V21:.*]] = posenc.dot %[[V0]], %[[V1]] scale(0.35355339059327373)
// CHECK-NEXT: %[[V22:.*]] = posenc.add %[[V21]], %[[V20]]
// CHECK-NEXT: %[[V23:.*]] = posenc.select %[[V22]] mask(#posenc.full)
// CHECK-NEXT: %[[V24:.*]] = posenc.normalize softmax %[[V23]]
// CHECK-NEXT: %[[V25:.*]] = posenc.weighted_sum %[[V24]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V25]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @deberta_buckets_hf heads(2) head_dim(4) encode [#posenc.deberta<buckets = 8, max_distance = 16, clamp = hf, c2p = off, p2c_index = paper>]

// CHECK-LABEL: posenc.kernel @mtf_contextual heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.relation %[[V3]], %[[V4]] law(#posenc.threshold_bucket<[1, 2, 4], future_offset = -1>)
// CHECK-NEXT: %[[V6:.*]] = posenc.table law(#posenc.operand<"mtf_contextual.table", rows = 4, channels = 4>) : !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V7:.*]] = posenc.table_dot %[[V0]], %[[V6]] at(%[[V5]]) scale(1.000000e+00) : !posenc.query, !posenc.table<row, head, channel>, !posenc.relation
// CHECK-NEXT: %[[V8:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V9:.*]] = posenc.add %[[V8]], %[[V7]]
// CHECK-NEXT: %[[V10:.*]] = posenc.select %[[V9]] mask(#posenc.causal)
// CHECK-NEXT: %[[V11:.*]] = posenc.normalize softmax %[[V10]]
// CHECK-NEXT: %[[V12:.*]] = posenc.weighted_sum %[[V11]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V12]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @mtf_contextual heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.mtf_contextual<buckets = 4, max_distance = 8>]

// CHECK-LABEL: posenc.kernel @softcap heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.constants<[6.250000e-02, 3.906250e-03]>) : !posenc.table<head>
// CHECK-NEXT: %[[V4:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V6:.*]] = posenc.relation %[[V4]], %[[V5]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V7:.*]] = posenc.bias(%[[V6]], %[[V3]]) : !posenc.relation, !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[V8:.*]]: f64, %[[V9:.*]]: f64):
// CHECK-NEXT: %[[V10:.*]] = arith.mulf %[[V8]], %[[V9]] : f64
// CHECK-NEXT: %[[V11:.*]] = arith.negf %[[V10]] : f64
// CHECK-NEXT: posenc.yield %[[V11]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V12:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V13:.*]] = posenc.map %[[V12]]() {
// CHECK-NEXT: ^bb0(%[[V8]]: f64):
// CHECK-NEXT: %[[V14:.*]] = arith.constant 5.000000e+01 : f64
// CHECK-NEXT: %[[V10]] = arith.divf %[[V8]], %[[V14]] : f64
// CHECK-NEXT: %[[V11]] = math.tanh %[[V10]] : f64
// CHECK-NEXT: %[[V15:.*]] = arith.constant 5.000000e+01 : f64
// CHECK-NEXT: %[[V16:.*]] = arith.mulf %[[V11]], %[[V15]] : f64
// CHECK-NEXT: posenc.yield %[[V16]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V17:.*]] = posenc.add %[[V13]], %[[V7]]
// CHECK-NEXT: %[[V18:.*]] = posenc.select %[[V17]] mask(#posenc.causal)
// CHECK-NEXT: %[[V19:.*]] = posenc.normalize softmax %[[V18]]
// CHECK-NEXT: %[[V20:.*]] = posenc.weighted_sum %[[V19]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V20]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @softcap heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.alibi, #posenc.softcap]

// CHECK-LABEL: posenc.kernel @softcap_after heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.constants<[6.250000e-02, 3.906250e-03]>) : !posenc.table<head>
// CHECK-NEXT: %[[V4:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V6:.*]] = posenc.relation %[[V4]], %[[V5]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V7:.*]] = posenc.bias(%[[V6]], %[[V3]]) : !posenc.relation, !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[V8:.*]]: f64, %[[V9:.*]]: f64):
// CHECK-NEXT: %[[V10:.*]] = arith.mulf %[[V8]], %[[V9]] : f64
// CHECK-NEXT: %[[V11:.*]] = arith.negf %[[V10]] : f64
// CHECK-NEXT: posenc.yield %[[V11]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V12:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V13:.*]] = posenc.add %[[V12]], %[[V7]]
// CHECK-NEXT: %[[V14:.*]] = posenc.map %[[V13]]() {
// CHECK-NEXT: ^bb0(%[[V8]]: f64):
// CHECK-NEXT: %[[V15:.*]] = arith.constant 5.000000e+01 : f64
// CHECK-NEXT: %[[V10]] = arith.divf %[[V8]], %[[V15]] : f64
// CHECK-NEXT: %[[V11]] = math.tanh %[[V10]] : f64
// CHECK-NEXT: %[[V16:.*]] = arith.constant 5.000000e+01 : f64
// CHECK-NEXT: %[[V17:.*]] = arith.mulf %[[V11]], %[[V16]] : f64
// CHECK-NEXT: posenc.yield %[[V17]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V18:.*]] = posenc.select %[[V14]] mask(#posenc.causal)
// CHECK-NEXT: %[[V19:.*]] = posenc.normalize softmax %[[V18]]
// CHECK-NEXT: %[[V20:.*]] = posenc.weighted_sum %[[V19]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V20]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @softcap_after heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.softcap<site = after_bias>, #posenc.alibi]

// Counts are of masked scores.
// CHECK-LABEL: posenc.kernel @cope heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.operand<"cope.embedding", rows = 64, channels = 4>) : !posenc.table<row, channel>
// CHECK-NEXT: %[[V4:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V5:.*]] = posenc.select %[[V4]] mask(#posenc.causal)
// CHECK-NEXT: %[[V6:.*]] = posenc.rowscan %[[V5]] inclusive {
// CHECK-NEXT: ^bb0(%[[V7:.*]]: f64):
// CHECK-NEXT: %[[V8:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V9:.*]] = arith.negf %[[V7]] : f64
// CHECK-NEXT: %[[V10:.*]] = math.exp %[[V9]] : f64
// CHECK-NEXT: %[[V11:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V12:.*]] = arith.addf %[[V10]], %[[V11]] : f64
// CHECK-NEXT: %[[V13:.*]] = arith.divf %[[V8]], %[[V12]] : f64
// CHECK-NEXT: posenc.yield %[[V13]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V14:.*]] = posenc.table_dot %[[V0]], %[[V3]] at(%[[V6]]) scale(1.000000e+00) : !posenc.query, !posenc.table<row, channel>, !posenc.score
// CHECK-NEXT: %[[V15:.*]] = posenc.add %[[V5]], %[[V14]]
// CHECK-NEXT: %[[V16:.*]] = posenc.normalize softmax %[[V15]]
// CHECK-NEXT: %[[V17:.*]] = posenc.weighted_sum %[[V16]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V17]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @cope heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.cope]

// CHECK-LABEL: posenc.kernel @cope_per_head heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.operand<"cope.embedding", rows = 5, channels = 4>) : !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V4:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V5:.*]] = posenc.select %[[V4]] mask(#posenc.causal)
// CHECK-NEXT: %[[V6:.*]] = posenc.rowscan %[[V5]] inclusive {
// CHECK-NEXT: ^bb0(%[[V7:.*]]: f64):
// CHECK-NEXT: %[[V8:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V9:.*]] = arith.negf %[[V7]] : f64
// CHECK-NEXT: %[[V10:.*]] = math.exp %[[V9]] : f64
// CHECK-NEXT: %[[V11:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V12:.*]] = arith.addf %[[V10]], %[[V11]] : f64
// CHECK-NEXT: %[[V13:.*]] = arith.divf %[[V8]], %[[V12]] : f64
// CHECK-NEXT: posenc.yield %[[V13]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V14:.*]] = posenc.table_dot %[[V0]], %[[V3]] at(%[[V6]]) scale(5.000000e-01) : !posenc.query, !posenc.table<row, head, channel>, !posenc.score
// CHECK-NEXT: %[[V15:.*]] = posenc.add %[[V5]], %[[V14]]
// CHECK-NEXT: %[[V16:.*]] = posenc.normalize softmax %[[V15]]
// CHECK-NEXT: %[[V17:.*]] = posenc.weighted_sum %[[V16]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V17]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @cope_per_head heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.cope<tables = per_head, site = inside, positions = 5>]

// CHECK-LABEL: posenc.kernel @fox heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.operand<"fox.gates">) : !posenc.table<batch, head, key>
// CHECK-NEXT: %[[V4:.*]] = posenc.prefix_sum %[[V3]] : !posenc.table<batch, head, key> {
// CHECK-NEXT: ^bb0(%[[V5:.*]]: f64):
// CHECK-NEXT: %[[V6:.*]] = arith.negf %[[V5]] : f64
// CHECK-NEXT: %[[V7:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V8:.*]] = arith.maximumf %[[V6]], %[[V7]] : f64
// CHECK-NEXT: %[[V9:.*]] = math.absf %[[V6]] : f64
// CHECK-NEXT: %[[V10:.*]] = arith.negf %[[V9]] : f64
// CHECK-NEXT: %[[V11:.*]] = math.exp %[[V10]] : f64
// CHECK-NEXT: %[[V12:.*]] = math.log1p %[[V11]] : f64
// CHECK-NEXT: %[[V13:.*]] = arith.addf %[[V8]], %[[V12]] : f64
// CHECK-NEXT: %[[V14:.*]] = arith.negf %[[V13]] : f64
// CHECK-NEXT: posenc.yield %[[V14]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V15:.*]] = posenc.at_query %[[V4]] top_left : !posenc.table<batch, head, key> -> !posenc.table<batch, head, query>
// CHECK-NEXT: %[[V16:.*]] = posenc.bias(%[[V15]], %[[V4]]) : !posenc.table<batch, head, query>, !posenc.table<batch, head, key> {
// CHECK-NEXT: ^bb0(%[[V5]]: f64, %[[V17:.*]]: f64):
// CHECK-NEXT: %[[V6]] = arith.subf %[[V5]], %[[V17]] : f64
// CHECK-NEXT: posenc.yield %[[V6]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V18:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V19:.*]] = posenc.add %[[V18]], %[[V16]]
// CHECK-NEXT: %[[V20:.*]] = posenc.select %[[V19]] mask(#posenc.causal<top_left>)
// CHECK-NEXT: %[[V21:.*]] = posenc.normalize softmax %[[V20]]
// CHECK-NEXT: %[[V22:.*]] = posenc.weighted_sum %[[V21]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V22]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @fox heads(2) head_dim(4) mask(#posenc.causal<top_left>) encode [#posenc.fox]

// CHECK-LABEL: posenc.kernel @fox_log heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.operand<"fox.gates">) : !posenc.table<batch, head, key>
// CHECK-NEXT: %[[V4:.*]] = posenc.prefix_sum %[[V3]] : !posenc.table<batch, head, key> {
// CHECK-NEXT: ^bb0(%[[V5:.*]]: f64):
// CHECK-NEXT: posenc.yield %[[V5]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V6:.*]] = posenc.at_query %[[V4]] bottom_right : !posenc.table<batch, head, key> -> !posenc.table<batch, head, query>
// CHECK-NEXT: %[[V7:.*]] = posenc.bias(%[[V6]], %[[V4]]) : !posenc.table<batch, head, query>, !posenc.table<batch, head, key> {
// CHECK-NEXT: ^bb0(%[[V5]]: f64, %[[V8:.*]]: f64):
// CHECK-NEXT: %[[V9:.*]] = arith.subf %[[V5]], %[[V8]] : f64
// CHECK-NEXT: posenc.yield %[[V9]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V10:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V11:.*]] = posenc.add %[[V10]], %[[V7]]
// CHECK-NEXT: %[[V12:.*]] = posenc.select %[[V11]] mask(#posenc.causal)
// CHECK-NEXT: %[[V13:.*]] = posenc.normalize softmax %[[V12]]
// CHECK-NEXT: %[[V14:.*]] = posenc.weighted_sum %[[V13]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V14]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @fox_log heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.fox<gates = log>]

// CHECK-LABEL: posenc.kernel @retention_decay heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.constants<[-0.69314718055994529, -0.2876820724517809]>) : !posenc.table<head>
// CHECK-NEXT: %[[V4:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V6:.*]] = posenc.relation %[[V4]], %[[V5]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V7:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V8:.*]] = posenc.map %[[V7]](%[[V6]], %[[V3]]) : !posenc.relation, !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[V9:.*]]: f64, %[[V10:.*]]: f64, %[[V11:.*]]: f64):
// CHECK-NEXT: %[[V12:.*]] = arith.mulf %[[V10]], %[[V11]] : f64
// CHECK-NEXT: %[[V13:.*]] = math.exp %[[V12]] : f64
// CHECK-NEXT: %[[V14:.*]] = arith.mulf %[[V9]], %[[V13]] : f64
// CHECK-NEXT: posenc.yield %[[V14]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V15:.*]] = posenc.select %[[V8]] mask(#posenc.causal)
// CHECK-NEXT: %[[V16:.*]] = posenc.normalize softmax %[[V15]]
// CHECK-NEXT: %[[V17:.*]] = posenc.weighted_sum %[[V16]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V17]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @retention_decay heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.retention_decay<first_exponent = 1.0>]

// CHECK-LABEL: posenc.kernel @retention_decay_operands heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.operand<"retention_decay.gamma">) : !posenc.table<head>
// CHECK-NEXT: %[[V4:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V6:.*]] = posenc.relation %[[V4]], %[[V5]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V7:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V8:.*]] = posenc.map %[[V7]](%[[V6]], %[[V3]]) : !posenc.relation, !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[V9:.*]]: f64, %[[V10:.*]]: f64, %[[V11:.*]]: f64):
// CHECK-NEXT: %[[V12:.*]] = math.log %[[V11]] : f64
// CHECK-NEXT: %[[V13:.*]] = arith.mulf %[[V10]], %[[V12]] : f64
// CHECK-NEXT: %[[V14:.*]] = math.exp %[[V13]] : f64
// CHECK-NEXT: %[[V15:.*]] = arith.mulf %[[V9]], %[[V14]] : f64
// CHECK-NEXT: posenc.yield %[[V15]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V16:.*]] = posenc.select %[[V8]] mask(#posenc.causal)
// CHECK-NEXT: %[[V17:.*]] = posenc.normalize softmax %[[V16]]
// CHECK-NEXT: %[[V18:.*]] = posenc.weighted_sum %[[V17]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V18]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @retention_decay_operands heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.retention_decay<decay = operands>]

// The released code repeats a product.
// CHECK-LABEL: posenc.kernel @complex_attention heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.dot %[[V0]], %[[V1]] scale(1.000000e+00) channels([0, 0, 2])
// CHECK-NEXT: %[[V4:.*]] = posenc.dot %[[V0]], %[[V1]] scale(1.000000e+00) channels([2, 2, 2])
// CHECK-NEXT: %[[V5:.*]] = posenc.dot %[[V0]], %[[V1]] scale(1.000000e+00) channels([0, 2, 2])
// CHECK-NEXT: %[[V6:.*]] = posenc.map %[[V3]], %[[V4]], %[[V5]]() {
// CHECK-NEXT: ^bb0(%[[V7:.*]]: f64, %[[V8:.*]]: f64, %[[V9:.*]]: f64):
// CHECK-NEXT: %[[V10:.*]] = arith.subf %[[V7]], %[[V8]] : f64
// CHECK-NEXT: %[[V11:.*]] = arith.mulf %[[V10]], %[[V10]] : f64
// CHECK-NEXT: %[[V12:.*]] = arith.addf %[[V9]], %[[V9]] : f64
// CHECK-NEXT: %[[V13:.*]] = arith.mulf %[[V12]], %[[V12]] : f64
// CHECK-NEXT: %[[V14:.*]] = arith.addf %[[V11]], %[[V13]] : f64
// CHECK-NEXT: %[[V15:.*]] = math.sqrt %[[V14]] : f64
// CHECK-NEXT: %[[V16:.*]] = arith.constant 0.70710678118654746 : f64
// CHECK-NEXT: %[[V17:.*]] = arith.mulf %[[V15]], %[[V16]] : f64
// CHECK-NEXT: posenc.yield %[[V17]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V18:.*]] = posenc.select %[[V6]] mask(#posenc.full)
// CHECK-NEXT: %[[V19:.*]] = posenc.normalize softmax %[[V18]]
// CHECK-NEXT: %[[V20:.*]] = posenc.weighted_sum %[[V19]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V20]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @complex_attention heads(2) head_dim(4) encode [#posenc.complex_attention]

// CHECK-LABEL: posenc.kernel @complex_attention_correct heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.dot %[[V0]], %[[V1]] scale(1.000000e+00) channels([0, 0, 2])
// CHECK-NEXT: %[[V4:.*]] = posenc.dot %[[V0]], %[[V1]] scale(1.000000e+00) channels([2, 2, 2])
// CHECK-NEXT: %[[V5:.*]] = posenc.dot %[[V0]], %[[V1]] scale(1.000000e+00) channels([0, 2, 2])
// CHECK-NEXT: %[[V6:.*]] = posenc.dot %[[V0]], %[[V1]] scale(1.000000e+00) channels([2, 0, 2])
// CHECK-NEXT: %[[V7:.*]] = posenc.map %[[V3]], %[[V4]], %[[V5]], %[[V6]]() {
// CHECK-NEXT: ^bb0(%[[V8:.*]]: f64, %[[V9:.*]]: f64, %[[V10:.*]]: f64, %[[V11:.*]]: f64):
// CHECK-NEXT: %[[V12:.*]] = arith.subf %[[V8]], %[[V9]] : f64
// CHECK-NEXT: %[[V13:.*]] = arith.mulf %[[V12]], %[[V12]] : f64
// CHECK-NEXT: %[[V14:.*]] = arith.addf %[[V10]], %[[V11]] : f64
// CHECK-NEXT: %[[V15:.*]] = arith.mulf %[[V14]], %[[V14]] : f64
// CHECK-NEXT: %[[V16:.*]] = arith.addf %[[V13]], %[[V15]] : f64
// CHECK-NEXT: %[[V17:.*]] = math.sqrt %[[V16]] : f64
// CHECK-NEXT: %[[V18:.*]] = arith.constant 0.70710678118654746 : f64
// CHECK-NEXT: %[[V19:.*]] = arith.mulf %[[V17]], %[[V18]] : f64
// CHECK-NEXT: posenc.yield %[[V19]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V20:.*]] = posenc.select %[[V7]] mask(#posenc.full)
// CHECK-NEXT: %[[V21:.*]] = posenc.normalize softmax %[[V20]]
// CHECK-NEXT: %[[V22:.*]] = posenc.weighted_sum %[[V21]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V22]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @complex_attention_correct heads(2) head_dim(4) encode [#posenc.complex_attention<term = correct>]

// CHECK-LABEL: posenc.kernel @attention_sink heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.operand<"sink.logits">) : !posenc.table<head>
// CHECK-NEXT: %[[V4:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V5:.*]] = posenc.select %[[V4]] mask(#posenc.full)
// CHECK-NEXT: %[[V6:.*]] = posenc.normalize softmax %[[V5]] sink(%[[V3]] : !posenc.table<head>)
// CHECK-NEXT: %[[V7:.*]] = posenc.weighted_sum %[[V6]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V7]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @attention_sink heads(2) head_dim(4) encode [#posenc.attention_sink]

// CHECK-LABEL: posenc.kernel @attention_sink_values heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.constants<[5.000000e-01, -1.000000e+00]>) : !posenc.table<head>
// CHECK-NEXT: %[[V4:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V5:.*]] = posenc.select %[[V4]] mask(#posenc.full)
// CHECK-NEXT: %[[V6:.*]] = posenc.normalize softmax %[[V5]] sink(%[[V3]] : !posenc.table<head>)
// CHECK-NEXT: %[[V7:.*]] = posenc.weighted_sum %[[V6]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V7]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @attention_sink_values heads(2) head_dim(4) encode [#posenc.attention_sink<values = [0.5, -1.0]>]

// CHECK-LABEL: posenc.kernel @softmax_off_by_one heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.constants<[0.000000e+00, 0.000000e+00]>) : !posenc.table<head>
// CHECK-NEXT: %[[V4:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V5:.*]] = posenc.select %[[V4]] mask(#posenc.full)
// CHECK-NEXT: %[[V6:.*]] = posenc.normalize softmax %[[V5]] sink(%[[V3]] : !posenc.table<head>)
// CHECK-NEXT: %[[V7:.*]] = posenc.weighted_sum %[[V6]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V7]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @softmax_off_by_one heads(2) head_dim(4) encode [#posenc.softmax_off_by_one]

// CHECK-LABEL: posenc.kernel @stick_breaking heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V6:.*]] = posenc.select %[[V5]] mask(#posenc.causal)
// CHECK-NEXT: %[[V7:.*]] = posenc.select %[[V6]] where(%[[V3]], %[[V4]]) : !posenc.coord, !posenc.coord {
// CHECK-NEXT: ^bb0(%[[V8:.*]]: f64, %[[V9:.*]]: f64):
// CHECK-NEXT: %[[V10:.*]] = arith.cmpf olt, %[[V9]], %[[V8]] : f64
// CHECK-NEXT: posenc.yield %[[V10]] : i1
// CHECK-NEXT: }
// CHECK-NEXT: %[[V11:.*]] = posenc.rowscan %[[V7]] exclusive {
// CHECK-NEXT: ^bb0(%[[V8]]: f64):
// CHECK-NEXT: %[[V12:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V10]] = arith.maximumf %[[V8]], %[[V12]] : f64
// CHECK-NEXT: %[[V13:.*]] = math.absf %[[V8]] : f64
// CHECK-NEXT: %[[V14:.*]] = arith.negf %[[V13]] : f64
// CHECK-NEXT: %[[V15:.*]] = math.exp %[[V14]] : f64
// CHECK-NEXT: %[[V16:.*]] = math.log1p %[[V15]] : f64
// CHECK-NEXT: %[[V17:.*]] = arith.addf %[[V10]], %[[V16]] : f64
// CHECK-NEXT: posenc.yield %[[V17]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V18:.*]] = posenc.map %[[V7]], %[[V11]]() {
// CHECK-NEXT: ^bb0(%[[V8]]: f64, %[[V9]]: f64):
// CHECK-NEXT: %[[V10]] = arith.negf %[[V8]] : f64
// CHECK-NEXT: %[[V12]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V13]] = arith.maximumf %[[V10]], %[[V12]] : f64
// CHECK-NEXT: %[[V14]] = math.absf %[[V10]] : f64
// CHECK-NEXT: %[[V15]] = arith.negf %[[V14]] : f64
// CHECK-NEXT: %[[V16]] = math.exp %[[V15]] : f64
// CHECK-NEXT: %[[V17]] = math.log1p %[[V16]] : f64
// CHECK-NEXT: %[[V19:.*]] = arith.addf %[[V13]], %[[V17]] : f64
// CHECK-NEXT: %[[V20:.*]] = arith.negf %[[V19]] : f64
// CHECK-NEXT: %[[V21:.*]] = arith.subf %[[V20]], %[[V9]] : f64
// CHECK-NEXT: posenc.yield %[[V21]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V22:.*]] = posenc.normalize exp %[[V18]]
// CHECK-NEXT: %[[V23:.*]] = posenc.weighted_sum %[[V22]], %[[V2]]
// CHECK-NEXT: %[[V24:.*]] = posenc.remainder %[[V22]], %[[V2]]
// CHECK-NEXT: %[[V25:.*]] = posenc.add %[[V23]], %[[V24]] : !posenc.output
// CHECK-NEXT: posenc.yield %[[V25]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @stick_breaking heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.stick_breaking<remainder = value>]

// CHECK-LABEL: posenc.kernel @stick_breaking_current heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V4:.*]] = posenc.select %[[V3]] mask(#posenc.causal)
// CHECK-NEXT: %[[V5:.*]] = posenc.rowscan %[[V4]] exclusive {
// CHECK-NEXT: ^bb0(%[[V6:.*]]: f64):
// CHECK-NEXT: %[[V7:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V8:.*]] = arith.maximumf %[[V6]], %[[V7]] : f64
// CHECK-NEXT: %[[V9:.*]] = math.absf %[[V6]] : f64
// CHECK-NEXT: %[[V10:.*]] = arith.negf %[[V9]] : f64
// CHECK-NEXT: %[[V11:.*]] = math.exp %[[V10]] : f64
// CHECK-NEXT: %[[V12:.*]] = math.log1p %[[V11]] : f64
// CHECK-NEXT: %[[V13:.*]] = arith.addf %[[V8]], %[[V12]] : f64
// CHECK-NEXT: posenc.yield %[[V13]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V14:.*]] = posenc.map %[[V4]], %[[V5]]() {
// CHECK-NEXT: ^bb0(%[[V6]]: f64, %[[V15:.*]]: f64):
// CHECK-NEXT: %[[V8]] = arith.negf %[[V6]] : f64
// CHECK-NEXT: %[[V7]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V9]] = arith.maximumf %[[V8]], %[[V7]] : f64
// CHECK-NEXT: %[[V10]] = math.absf %[[V8]] : f64
// CHECK-NEXT: %[[V11]] = arith.negf %[[V10]] : f64
// CHECK-NEXT: %[[V12]] = math.exp %[[V11]] : f64
// CHECK-NEXT: %[[V13]] = math.log1p %[[V12]] : f64
// CHECK-NEXT: %[[V16:.*]] = arith.addf %[[V9]], %[[V13]] : f64
// CHECK-NEXT: %[[V17:.*]] = arith.negf %[[V16]] : f64
// CHECK-NEXT: %[[V18:.*]] = arith.subf %[[V17]], %[[V15]] : f64
// CHECK-NEXT: posenc.yield %[[V18]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V19:.*]] = posenc.normalize exp %[[V14]]
// CHECK-NEXT: %[[V20:.*]] = posenc.weighted_sum %[[V19]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V20]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @stick_breaking_current heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.stick_breaking<kind = attend_current>]

// Angles with the denominator n - 1.
// CHECK-LABEL: posenc.kernel @retention heads(2) head_dim(6) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.freqs law(#posenc.frequencies<[1.000000e+00, 1.000000e-02, 1.000000e-04]>)
// CHECK-NEXT: %[[V4:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.rotate %[[V0]] by(%[[V4]]) freqs(%[[V3]]) pairing(interleaved) first_dim(0) : !posenc.query
// CHECK-NEXT: %[[V6:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V7:.*]] = posenc.rotate %[[V1]] by(%[[V6]]) freqs(%[[V3]]) pairing(interleaved) first_dim(0) : !posenc.key
// CHECK-NEXT: %[[V8:.*]] = posenc.table law(#posenc.constants<[-0.031748698314580298, -0.015748356968139168]>) : !posenc.table<head>
// CHECK-NEXT: %[[V9:.*]] = posenc.relation %[[V4]], %[[V6]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V10:.*]] = posenc.table law(#posenc.constants<[3.125000e-02, 1.562500e-02]>) : !posenc.table<head>
// CHECK-NEXT: %[[V11:.*]] = posenc.dot %[[V5]], %[[V7]] scale(0.40824829046386307)
// CHECK-NEXT: %[[V12:.*]] = posenc.map %[[V11]](%[[V9]], %[[V8]], %[[V4]], %[[V10]]) : !posenc.relation, !posenc.table<head>, !posenc.coord, !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[V13:.*]]: f64, %[[V14:.*]]: f64, %[[V15:.*]]: f64, %[[V16:.*]]: f64, %[[V17:.*]]: f64):
// CHECK-NEXT: %[[V18:.*]] = arith.mulf %[[V14]], %[[V15]] : f64
// CHECK-NEXT: %[[V19:.*]] = math.exp %[[V18]] : f64
// CHECK-NEXT: %[[V20:.*]] = arith.mulf %[[V13]], %[[V19]] : f64
// CHECK-NEXT: %[[V21:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V22:.*]] = arith.addf %[[V16]], %[[V21]] : f64
// CHECK-NEXT: %[[V23:.*]] = arith.mulf %[[V22]], %[[V15]] : f64
// CHECK-NEXT: %[[V24:.*]] = math.expm1 %[[V23]] : f64
// CHECK-NEXT: %[[V25:.*]] = arith.negf %[[V24]] : f64
// CHECK-NEXT: %[[V26:.*]] = arith.divf %[[V25]], %[[V17]] : f64
// CHECK-NEXT: %[[V27:.*]] = math.sqrt %[[V26]] : f64
// CHECK-NEXT: %[[V28:.*]] = arith.divf %[[V20]], %[[V27]] : f64
// CHECK-NEXT: posenc.yield %[[V28]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V29:.*]] = posenc.select %[[V12]] mask(#posenc.causal)
// CHECK-NEXT: %[[V30:.*]] = posenc.normalize abs_sum %[[V29]] bounds([1.000000e+00, 5.000000e+04])
// CHECK-NEXT: %[[V31:.*]] = posenc.weighted_sum %[[V30]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V31]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @retention heads(2) head_dim(6) mask(#posenc.causal) encode [#posenc.retention]

// CHECK-LABEL: posenc.kernel @retention_plain heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table law(#posenc.constants<[-0.031748698314580298, -0.015748356968139168]>) : !posenc.table<head>
// CHECK-NEXT: %[[V4:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V6:.*]] = posenc.relation %[[V4]], %[[V5]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V7:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V8:.*]] = posenc.map %[[V7]](%[[V6]], %[[V3]]) : !posenc.relation, !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[V9:.*]]: f64, %[[V10:.*]]: f64, %[[V11:.*]]: f64):
// CHECK-NEXT: %[[V12:.*]] = arith.mulf %[[V10]], %[[V11]] : f64
// CHECK-NEXT: %[[V13:.*]] = math.exp %[[V12]] : f64
// CHECK-NEXT: %[[V14:.*]] = arith.mulf %[[V9]], %[[V13]] : f64
// CHECK-NEXT: posenc.yield %[[V14]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V15:.*]] = posenc.select %[[V8]] mask(#posenc.causal)
// CHECK-NEXT: %[[V16:.*]] = posenc.normalize identity %[[V15]]
// CHECK-NEXT: %[[V17:.*]] = posenc.weighted_sum %[[V16]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V17]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @retention_plain heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.retention<rotation = off, decay_norm = off, score_norm = off>]

// The sums are of vectors that are not rotated.
// CHECK-LABEL: posenc.kernel @linear_attention heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.vector_map %[[V0]] : !posenc.query {
// CHECK-NEXT: ^bb0(%[[V4:.*]]: f64):
// CHECK-NEXT: %[[V5:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V6:.*]] = arith.cmpf olt, %[[V5]], %[[V4]] : f64
// CHECK-NEXT: %[[V7:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V8:.*]] = arith.addf %[[V4]], %[[V7]] : f64
// CHECK-NEXT: %[[V9:.*]] = math.exp %[[V4]] : f64
// CHECK-NEXT: %[[V10:.*]] = arith.select %[[V6]], %[[V8]], %[[V9]] : f64
// CHECK-NEXT: posenc.yield %[[V10]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V11:.*]] = posenc.vector_map %[[V1]] : !posenc.key {
// CHECK-NEXT: ^bb0(%[[V4]]: f64):
// CHECK-NEXT: %[[V5]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V6]] = arith.cmpf olt, %[[V5]], %[[V4]] : f64
// CHECK-NEXT: %[[V7]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V8]] = arith.addf %[[V4]], %[[V7]] : f64
// CHECK-NEXT: %[[V9]] = math.exp %[[V4]] : f64
// CHECK-NEXT: %[[V10]] = arith.select %[[V6]], %[[V8]], %[[V9]] : f64
// CHECK-NEXT: posenc.yield %[[V10]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V12:.*]] = posenc.freqs law(#posenc.geometric<base = 1.000000e+04, dims = 4>)
// CHECK-NEXT: %[[V13:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V14:.*]] = posenc.rotate %[[V3]] by(%[[V13]]) freqs(%[[V12]]) pairing(half) first_dim(0) : !posenc.query
// CHECK-NEXT: %[[V15:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V16:.*]] = posenc.rotate %[[V11]] by(%[[V15]]) freqs(%[[V12]]) pairing(half) first_dim(0) : !posenc.key
// CHECK-NEXT: %[[V17:.*]] = posenc.dot %[[V14]], %[[V16]] scale(1.000000e+00)
// CHECK-NEXT: %[[V18:.*]] = posenc.select %[[V17]] mask(#posenc.causal)
// CHECK-NEXT: %[[V19:.*]] = posenc.dot %[[V3]], %[[V11]] scale(1.000000e+00)
// CHECK-NEXT: %[[V20:.*]] = posenc.select %[[V19]] mask(#posenc.causal)
// CHECK-NEXT: %[[V21:.*]] = posenc.normalize linear %[[V18]] by(%[[V20]])
// CHECK-NEXT: %[[V22:.*]] = posenc.weighted_sum %[[V21]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V22]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @linear_attention heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.linear_attention, #posenc.rope]

// CHECK-LABEL: posenc.kernel @linear_attention_relu heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.vector_map %[[V0]] : !posenc.query {
// CHECK-NEXT: ^bb0(%[[V4:.*]]: f64):
// CHECK-NEXT: %[[V5:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V6:.*]] = arith.maximumf %[[V4]], %[[V5]] : f64
// CHECK-NEXT: posenc.yield %[[V6]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V7:.*]] = posenc.vector_map %[[V1]] : !posenc.key {
// CHECK-NEXT: ^bb0(%[[V4]]: f64):
// CHECK-NEXT: %[[V5]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V6]] = arith.maximumf %[[V4]], %[[V5]] : f64
// CHECK-NEXT: posenc.yield %[[V6]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V8:.*]] = posenc.dot %[[V3]], %[[V7]] scale(1.000000e+00)
// CHECK-NEXT: %[[V9:.*]] = posenc.select %[[V8]] mask(#posenc.full)
// CHECK-NEXT: %[[V10:.*]] = posenc.dot %[[V3]], %[[V7]] scale(1.000000e+00)
// CHECK-NEXT: %[[V11:.*]] = posenc.select %[[V10]] mask(#posenc.full)
// CHECK-NEXT: %[[V12:.*]] = posenc.normalize linear %[[V9]] by(%[[V11]])
// CHECK-NEXT: %[[V13:.*]] = posenc.weighted_sum %[[V12]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V13]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @linear_attention_relu heads(2) head_dim(4) encode [#posenc.linear_attention<map = relu>]

// The sum is outside of the product.
// CHECK-LABEL: posenc.kernel @kerple_weight heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V4:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V5:.*]] = posenc.relation %[[V3]], %[[V4]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V6:.*]] = posenc.table law(#posenc.operand<"kerple.p">) : !posenc.table<head>
// CHECK-NEXT: %[[V7:.*]] = posenc.table law(#posenc.operand<"kerple.a">) : !posenc.table<head>
// CHECK-NEXT: %[[V8:.*]] = posenc.table law(#posenc.operand<"kerple.weight_p">) : !posenc.table<head>
// CHECK-NEXT: %[[V9:.*]] = posenc.table law(#posenc.operand<"kerple.weight_a">) : !posenc.table<head>
// CHECK-NEXT: %[[V10:.*]] = posenc.bias(%[[V5]], %[[V6]], %[[V7]]) : !posenc.relation, !posenc.table<head>, !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[V11:.*]]: f64, %[[V12:.*]]: f64, %[[V13:.*]]: f64):
// CHECK-NEXT: %[[V14:.*]] = arith.constant 1.000000e-02 : f64
// CHECK-NEXT: %[[V15:.*]] = arith.maximumf %[[V13]], %[[V14]] : f64
// CHECK-NEXT: %[[V16:.*]] = math.absf %[[V11]] : f64
// CHECK-NEXT: %[[V17:.*]] = arith.constant 1.000000e-02 : f64
// CHECK-NEXT: %[[V18:.*]] = arith.maximumf %[[V12]], %[[V17]] : f64
// CHECK-NEXT: %[[V19:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V20:.*]] = arith.minimumf %[[V18]], %[[V19]] : f64
// CHECK-NEXT: %[[V21:.*]] = math.powf %[[V16]], %[[V20]] : f64
// CHECK-NEXT: %[[V22:.*]] = arith.mulf %[[V15]], %[[V21]] : f64
// CHECK-NEXT: %[[V23:.*]] = arith.negf %[[V22]] : f64
// CHECK-NEXT: posenc.yield %[[V23]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V24:.*]] = posenc.dot %[[V0]], %[[V1]] scale(5.000000e-01)
// CHECK-NEXT: %[[V25:.*]] = posenc.map %[[V24]](%[[V5]], %[[V8]], %[[V9]]) : !posenc.relation, !posenc.table<head>, !posenc.table<head> {
// CHECK-NEXT: ^bb0(%[[V11]]: f64, %[[V12]]: f64, %[[V13]]: f64, %[[V26:.*]]: f64):
// CHECK-NEXT: %[[V14]] = arith.constant 1.000000e-02 : f64
// CHECK-NEXT: %[[V15]] = arith.maximumf %[[V26]], %[[V14]] : f64
// CHECK-NEXT: %[[V16]] = math.absf %[[V12]] : f64
// CHECK-NEXT: %[[V17]] = arith.constant 1.000000e-02 : f64
// CHECK-NEXT: %[[V18]] = arith.maximumf %[[V13]], %[[V17]] : f64
// CHECK-NEXT: %[[V19]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V20]] = arith.minimumf %[[V18]], %[[V19]] : f64
// CHECK-NEXT: %[[V21]] = math.powf %[[V16]], %[[V20]] : f64
// CHECK-NEXT: %[[V22]] = arith.mulf %[[V15]], %[[V21]] : f64
// CHECK-NEXT: %[[V23]] = arith.negf %[[V22]] : f64
// CHECK-NEXT: %[[V27:.*]] = math.exp %[[V23]] : f64
// CHECK-NEXT: %[[V28:.*]] = arith.mulf %[[V11]], %[[V27]] : f64
// CHECK-NEXT: posenc.yield %[[V28]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V29:.*]] = posenc.add %[[V25]], %[[V10]]
// CHECK-NEXT: %[[V30:.*]] = posenc.select %[[V29]] mask(#posenc.full)
// CHECK-NEXT: %[[V31:.*]] = posenc.normalize softmax %[[V30]]
// CHECK-NEXT: %[[V32:.*]] = posenc.weighted_sum %[[V31]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V32]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @kerple_weight heads(2) head_dim(4) encode [#posenc.kerple<kind = power, weight = on>]

// The parts of the query, one after the other, against one table.
// CHECK-LABEL: posenc.kernel @complex_attention_positions heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.table_map channels(4) {
// CHECK-NEXT: ^bb0(%[[V4:.*]]: f64, %[[V5:.*]]: f64):
// CHECK-NEXT: %[[V6:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V7:.*]] = arith.divf %[[V5]], %[[V6]] : f64
// CHECK-NEXT: %[[V8:.*]] = math.floor %[[V7]] : f64
// CHECK-NEXT: %[[V9:.*]] = arith.constant 1.000000e+00 : f64
// CHECK-NEXT: %[[V10:.*]] = arith.cmpf oeq, %[[V8]], %[[V9]] : f64
// CHECK-NEXT: %[[V11:.*]] = arith.constant 1.000000e+04 : f64
// CHECK-NEXT: %[[V12:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V13:.*]] = arith.mulf %[[V8]], %[[V12]] : f64
// CHECK-NEXT: %[[V14:.*]] = arith.subf %[[V5]], %[[V13]] : f64
// CHECK-NEXT: %[[V15:.*]] = arith.constant 2.000000e+00 : f64
// CHECK-NEXT: %[[V16:.*]] = arith.divf %[[V14]], %[[V15]] : f64
// CHECK-NEXT: %[[V17:.*]] = arith.negf %[[V16]] : f64
// CHECK-NEXT: %[[V18:.*]] = math.powf %[[V11]], %[[V17]] : f64
// CHECK-NEXT: %[[V19:.*]] = arith.mulf %[[V4]], %[[V18]] : f64
// CHECK-NEXT: %[[V20:.*]] = math.cos %[[V19]] : f64
// CHECK-NEXT: %[[V21:.*]] = math.sin %[[V19]] : f64
// CHECK-NEXT: %[[V22:.*]] = arith.select %[[V10]], %[[V20]], %[[V21]] : f64
// CHECK-NEXT: posenc.yield %[[V22]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V23:.*]] = posenc.table law(#posenc.operand<"complex_attention.w", rows = 4, channels = 4>) : !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V24:.*]] = posenc.project %[[V3]], %[[V23]] : !posenc.table<row, channel>, !posenc.table<row, head, channel> -> !posenc.table<row, head, channel>
// CHECK-NEXT: %[[V25:.*]] = posenc.position query law(#posenc.iota)
// CHECK-NEXT: %[[V26:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V27:.*]] = posenc.relation %[[V25]], %[[V26]] law(#posenc.difference<query_minus_key>)
// CHECK-NEXT: %[[V28:.*]] = posenc.table law(#posenc.operand<"complex_attention.v", channels = 4>) : !posenc.table<head, channel>
// CHECK-NEXT: %[[V29:.*]] = posenc.vadd %[[V0]], %[[V28]] : !posenc.query, !posenc.table<head, channel>
// CHECK-NEXT: %[[V30:.*]] = posenc.table law(#posenc.constants<[1.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00]>) : !posenc.table<channel>
// CHECK-NEXT: %[[V31:.*]] = posenc.channel_scale %[[V29]], %[[V30]] offset(0.000000e+00) : !posenc.query, !posenc.table<channel>
// CHECK-NEXT: %[[V32:.*]] = posenc.table_dot %[[V31]], %[[V24]] at(%[[V27]]) scale(1.000000e+00) : !posenc.query, !posenc.table<row, head, channel>, !posenc.relation
// CHECK-NEXT: %[[V33:.*]] = posenc.table law(#posenc.constants<[0.000000e+00, 0.000000e+00, 1.000000e+00, 1.000000e+00]>) : !posenc.table<channel>
// CHECK-NEXT: %[[V34:.*]] = posenc.channel_scale %[[V29]], %[[V33]] offset(0.000000e+00) : !posenc.query, !posenc.table<channel>
// CHECK-NEXT: %[[V35:.*]] = posenc.table_dot %[[V34]], %[[V24]] at(%[[V27]]) scale(1.000000e+00) : !posenc.query, !posenc.table<row, head, channel>, !posenc.relation
// CHECK-NEXT: %[[V36:.*]] = posenc.map %[[V32]], %[[V35]]() {
// CHECK-NEXT: ^bb0(%[[V4]]: f64, %[[V5]]: f64):
// CHECK-NEXT: %[[V7]] = arith.mulf %[[V4]], %[[V4]] : f64
// CHECK-NEXT: %[[V8]] = arith.mulf %[[V5]], %[[V5]] : f64
// CHECK-NEXT: %[[V10]] = arith.addf %[[V7]], %[[V8]] : f64
// CHECK-NEXT: %[[V13]] = math.sqrt %[[V10]] : f64
// CHECK-NEXT: %[[V6]] = arith.constant 0.70710678118654746 : f64
// CHECK-NEXT: %[[V14]] = arith.mulf %[[V13]], %[[V6]] : f64
// CHECK-NEXT: posenc.yield %[[V14]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V37:.*]] = posenc.table law(#posenc.operand<"complex_attention.u", channels = 4>) : !posenc.table<head, channel>
// CHECK-NEXT: %[[V38:.*]] = posenc.vadd %[[V0]], %[[V37]] : !posenc.query, !posenc.table<head, channel>
// CHECK-NEXT: %[[V39:.*]] = posenc.dot %[[V38]], %[[V1]] scale(1.000000e+00) channels([0, 0, 2])
// CHECK-NEXT: %[[V40:.*]] = posenc.dot %[[V38]], %[[V1]] scale(1.000000e+00) channels([2, 2, 2])
// CHECK-NEXT: %[[V41:.*]] = posenc.dot %[[V38]], %[[V1]] scale(1.000000e+00) channels([0, 2, 2])
// CHECK-NEXT: %[[V42:.*]] = posenc.map %[[V39]], %[[V40]], %[[V41]]() {
// CHECK-NEXT: ^bb0(%[[V4]]: f64, %[[V5]]: f64, %[[V43:.*]]: f64):
// CHECK-NEXT: %[[V7]] = arith.subf %[[V4]], %[[V5]] : f64
// CHECK-NEXT: %[[V8]] = arith.mulf %[[V7]], %[[V7]] : f64
// CHECK-NEXT: %[[V10]] = arith.addf %[[V43]], %[[V43]] : f64
// CHECK-NEXT: %[[V13]] = arith.mulf %[[V10]], %[[V10]] : f64
// CHECK-NEXT: %[[V14]] = arith.addf %[[V8]], %[[V13]] : f64
// CHECK-NEXT: %[[V16]] = math.sqrt %[[V14]] : f64
// CHECK-NEXT: %[[V6]] = arith.constant 0.70710678118654746 : f64
// CHECK-NEXT: %[[V17]] = arith.mulf %[[V16]], %[[V6]] : f64
// CHECK-NEXT: posenc.yield %[[V17]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V44:.*]] = posenc.add %[[V42]], %[[V36]]
// CHECK-NEXT: %[[V45:.*]] = posenc.select %[[V44]] mask(#posenc.causal)
// CHECK-NEXT: %[[V46:.*]] = posenc.normalize softmax %[[V45]]
// CHECK-NEXT: %[[V47:.*]] = posenc.weighted_sum %[[V46]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V47]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @complex_attention_positions heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.complex_attention<positions = on>]

// The first key brings the epsilon of a row.
// CHECK-LABEL: posenc.kernel @linear_attention_epsilon heads(2) head_dim(4) {
// CHECK-NEXT: ^bb0(%[[V0:.*]]: !posenc.query, %[[V1:.*]]: !posenc.key, %[[V2:.*]]: !posenc.value):
// CHECK-NEXT: %[[V3:.*]] = posenc.vector_map %[[V0]] : !posenc.query {
// CHECK-NEXT: ^bb0(%[[V4:.*]]: f64):
// CHECK-NEXT: %[[V5:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V6:.*]] = arith.maximumf %[[V4]], %[[V5]] : f64
// CHECK-NEXT: posenc.yield %[[V6]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V7:.*]] = posenc.vector_map %[[V1]] : !posenc.key {
// CHECK-NEXT: ^bb0(%[[V4]]: f64):
// CHECK-NEXT: %[[V5]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V6]] = arith.maximumf %[[V4]], %[[V5]] : f64
// CHECK-NEXT: posenc.yield %[[V6]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V8:.*]] = posenc.dot %[[V3]], %[[V7]] scale(1.000000e+00)
// CHECK-NEXT: %[[V9:.*]] = posenc.select %[[V8]] mask(#posenc.causal)
// CHECK-NEXT: %[[V10:.*]] = posenc.dot %[[V3]], %[[V7]] scale(1.000000e+00)
// CHECK-NEXT: %[[V11:.*]] = posenc.position key law(#posenc.iota)
// CHECK-NEXT: %[[V12:.*]] = posenc.bias(%[[V11]]) : !posenc.coord {
// CHECK-NEXT: ^bb0(%[[V4]]: f64):
// CHECK-NEXT: %[[V5]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V6]] = arith.cmpf oeq, %[[V4]], %[[V5]] : f64
// CHECK-NEXT: %[[V13:.*]] = arith.constant 9.9999999999999995E-7 : f64
// CHECK-NEXT: %[[V14:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT: %[[V15:.*]] = arith.select %[[V6]], %[[V13]], %[[V14]] : f64
// CHECK-NEXT: posenc.yield %[[V15]] : f64
// CHECK-NEXT: }
// CHECK-NEXT: %[[V16:.*]] = posenc.add %[[V10]], %[[V12]]
// CHECK-NEXT: %[[V17:.*]] = posenc.select %[[V16]] mask(#posenc.causal)
// CHECK-NEXT: %[[V18:.*]] = posenc.normalize linear %[[V9]] by(%[[V17]])
// CHECK-NEXT: %[[V19:.*]] = posenc.weighted_sum %[[V18]], %[[V2]]
// CHECK-NEXT: posenc.yield %[[V19]] : !posenc.output
// CHECK-NEXT: }
posenc.kernel @linear_attention_epsilon heads(2) head_dim(4) mask(#posenc.causal) encode [#posenc.linear_attention<map = relu, epsilon = 1.0e-6>]
