/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Calls compiled kernels in every wrong way and checks the status, the sentence
 * and that outputs stay as they were.
 */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "misuse_bias.h"
#include "misuse_codes.h"
#include "misuse_embed.h"
#include "misuse_listed.h"
#include "misuse_rope.h"
#include "misuse_serving.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { B = 2, H = 4, HKV = 2, LQ = 5, LK = 7, D = 16 };

static int passed, failed;

static void expect(int condition, const char *what) {
  if (condition) {
    ++passed;
    return;
  }
  ++failed;
  printf("FAILED: %s (last error: %s)\n", what, posenc_last_error());
}

/* What a call returned, and a word of its sentence. */
static void expect_status(posenc_status actual, posenc_status status,
                          const char *word, const char *what) {
  if (actual != status)
    printf("  %s: status is %s, expected %s\n", what,
           posenc_status_string(actual), posenc_status_string(status));
  expect(actual == status, what);
  if (word)
    expect(strstr(posenc_last_error(), word) != NULL, what);
}

typedef struct tensor {
  DLTensor view;
  int64_t shape[4], strides[4];
  float data[2048];
} tensor;

static void init(tensor *t, int32_t rank, int64_t a, int64_t b, int64_t c,
                 int64_t d) {
  memset(t, 0, sizeof *t);
  int64_t shape[4] = {a, b, c, d};
  memcpy(t->shape, shape, sizeof shape);
  t->view.data = t->data;
  t->view.device.device_type = kDLCPU;
  t->view.ndim = rank;
  t->view.dtype.code = kDLFloat;
  t->view.dtype.bits = 32;
  t->view.dtype.lanes = 1;
  t->view.shape = t->shape;
  for (size_t i = 0; i < sizeof t->data / sizeof *t->data; ++i)
    t->data[i] = (float)(i % 7) * 0.25f;
}

static void set_strides(tensor *t, int64_t a, int64_t b, int64_t c, int64_t d) {
  int64_t strides[4] = {a, b, c, d};
  memcpy(t->strides, strides, sizeof strides);
  t->view.strides = t->strides;
}

typedef struct rope_call {
  tensor q, k, v, o, lse;
  misuse_rope_args args;
  posenc_call call;
} rope_call;

/* A call that is right in every respect; tests spoil one thing each. */
static rope_call *make(void) {
  static rope_call c;
  init(&c.q, 4, B, H, LQ, D);
  init(&c.k, 4, B, HKV, LK, D);
  init(&c.v, 4, B, HKV, LK, D);
  init(&c.o, 4, B, H, LQ, D);
  init(&c.lse, 3, B, H, LQ, 0);
  c.args.size = sizeof c.args;
  c.args.q = &c.q.view;
  c.args.k = &c.k.view;
  c.args.v = &c.v.view;
  c.args.o = &c.o.view;
  c.args.lse = &c.lse.view;
  posenc_call call = POSENC_CALL_INIT;
  c.call = call;
  return &c;
}

static void expect_refused(rope_call *c, posenc_status status, const char *word,
                           const char *what) {
  static float before[2048];
  memcpy(before, c->o.data, sizeof before);
  expect_status(misuse_rope(&c->args, &c->call), status, word, what);
  expect(memcmp(before, c->o.data, sizeof before) == 0, what);
}

static void test_right_call(void) {
  rope_call *c = make();
  expect_status(misuse_rope(&c->args, &c->call), POSENC_OK, NULL,
                "a right call");
  expect(isfinite(c->o.data[0]) && isfinite(c->lse.data[0]), "its output");
  c = make();
  c->args.lse = NULL;
  expect_status(misuse_rope(&c->args, NULL), POSENC_OK, NULL,
                "no lse and no call");
}

static void test_structs(void) {
  rope_call *c = make();
  c->args.size = 0;
  expect_refused(c, POSENC_INVALID_ARGUMENT, "size", "args.size of 0");
  c = make();
  c->args.size = sizeof c->args + 8;
  expect_refused(c, POSENC_VERSION_MISMATCH, "size", "args of another size");
  expect_status(misuse_rope(NULL, NULL), POSENC_INVALID_ARGUMENT, "args",
                "NULL args");
  c = make();
  c->call.size = 1 << 20;
  expect_refused(c, POSENC_INVALID_ARGUMENT, "size", "absurd call.size");
}

static void test_missing(void) {
  rope_call *c = make();
  c->args.q = NULL;
  expect_refused(c, POSENC_INVALID_ARGUMENT, "q", "NULL q");
  c = make();
  c->args.o = NULL;
  expect_refused(c, POSENC_INVALID_ARGUMENT, "o", "NULL o");
  c = make();
  c->k.view.data = NULL;
  expect_refused(c, POSENC_INVALID_ARGUMENT, "k", "NULL data of k");
}

static void test_shapes(void) {
  rope_call *c = make();
  c->q.view.ndim = 3;
  expect_refused(c, POSENC_SHAPE_MISMATCH, "q", "rank of q");
  c = make();
  c->k.shape[3] = D - 1;
  expect_refused(c, POSENC_SHAPE_MISMATCH, "k", "head_dim of k");
  c = make();
  c->v.shape[2] = LK - 1;
  expect_refused(c, POSENC_SHAPE_MISMATCH, "v", "length of v");
  c = make();
  c->o.shape[0] = 1;
  expect_refused(c, POSENC_SHAPE_MISMATCH, "o", "batch of o");
  c = make();
  c->k.shape[1] = c->v.shape[1] = 4;
  expect_refused(c, POSENC_SHAPE_MISMATCH, "heads", "key heads");
  c = make();
  c->lse.shape[2] = LQ + 1;
  expect_refused(c, POSENC_SHAPE_MISMATCH, "lse", "length of lse");
  c = make();
  c->q.shape[2] = c->o.shape[2] = c->lse.shape[2] = -1;
  expect_refused(c, POSENC_INVALID_ARGUMENT, "negative", "negative length");
  c = make();
  c->k.shape[2] = c->v.shape[2] = (int64_t)1 << 40;
  expect_refused(c, POSENC_OUT_OF_RANGE, "k", "absurd length");
}

static void test_types(void) {
  rope_call *c = make();
  c->k.view.dtype.bits = 16;
  expect_refused(c, POSENC_DTYPE_MISMATCH, "k", "f16 keys");
  c = make();
  c->q.view.dtype.code = kDLInt;
  expect_refused(c, POSENC_DTYPE_MISMATCH, "q", "integer queries");
  c = make();
  c->v.view.dtype.lanes = 2;
  expect_refused(c, POSENC_DTYPE_MISMATCH, "v", "vector values");
  c = make();
  c->q.view.device.device_type = kDLCUDA;
  expect_refused(c, POSENC_NO_DEVICE, "q", "a GPU tensor");
}

static void test_strides(void) {
  rope_call *c = make();
  set_strides(&c->q, H * LQ * D, LQ * D, D, 2);
  expect_refused(c, POSENC_STRIDE_UNSUPPORTED, "q", "stride in head_dim");
  c = make();
  set_strides(&c->o, 0, LQ * D, D, 1);
  expect_refused(c, POSENC_STRIDE_UNSUPPORTED, "o", "overlapping output");
  c = make();
  set_strides(&c->k, HKV * LK * D, LK * D, -D, 1);
  expect_refused(c, POSENC_STRIDE_UNSUPPORTED, "k", "negative stride");
  c = make();
  set_strides(&c->k, (int64_t)1 << 62, (int64_t)1 << 62, D, 1);
  expect_refused(c, POSENC_OVERFLOW, "k", "overflowing strides");
  c = make();
  c->q.view.data = (char *)c->q.data + 2;
  expect_refused(c, POSENC_INVALID_ARGUMENT, "aligned", "misaligned q");
}

static void test_call(void) {
  rope_call *c = make();
  c->call.first_head = 1;
  expect_refused(c, POSENC_OUT_OF_RANGE, "first_head", "first_head too large");
  c = make();
  c->call.first_head = -1;
  expect_refused(c, POSENC_OUT_OF_RANGE, "first_head", "first_head negative");
  c = make();
  char small[16];
  c->call.scratch = small;
  c->call.scratch_bytes = sizeof small;
  expect_refused(c, POSENC_INVALID_ARGUMENT, "scratch", "too little scratch");
}

static void test_prepared(void) {
  rope_call *c = make();
  size_t size = misuse_rope_prepared_bytes(&c->args);
  char *buffer = calloc(1, size);
  expect(size > 0 && buffer, "prepared_bytes");
  expect_status(misuse_rope_prepare(&c->args, buffer, size - 1),
                POSENC_INVALID_ARGUMENT, "bytes",
                "a prepared buffer that is too small");
  expect_status(misuse_rope_prepare(&c->args, NULL, size),
                POSENC_INVALID_ARGUMENT, "NULL", "no prepared buffer");
  c->call.prepared = buffer;
  expect_refused(c, POSENC_INVALID_ARGUMENT, "prepared",
                 "a buffer that was not prepared");
  expect_status(misuse_rope_prepare(&c->args, buffer, size), POSENC_OK, NULL,
                "prepare");
  expect_status(misuse_rope(&c->args, &c->call), POSENC_OK, NULL,
                "prepared call");
  c->q.shape[2] = c->o.shape[2] = c->lse.shape[2] = LQ - 1;
  expect_refused(c, POSENC_INVALID_ARGUMENT, "prepared",
                 "a buffer prepared for another length");
  c = make();
  c->args.k = NULL;
  expect(misuse_rope_prepared_bytes(&c->args) == 0, "size of a wrong call");
  expect(misuse_rope_scratch_bytes(&c->args, &c->call) == 0,
         "scratch of a wrong call");
  free(buffer);
}

static void test_isa(void) {
  rope_call *c = make();
  setenv("POSENC_ISA", "z80", 1);
  expect_refused(c, POSENC_INVALID_ARGUMENT, "z80", "an unknown POSENC_ISA");
#if defined(__aarch64__)
  const char *isa = "aarch64";
#else
  const char *isa = "x86-64";
#endif
  setenv("POSENC_ISA", isa, 1);
  expect_status(misuse_rope(&c->args, &c->call), POSENC_OK, NULL,
                "the POSENC_ISA that every CPU has");
  unsetenv("POSENC_ISA");
}

static void test_operands(void) {
  enum { HEADS = 2, L = 6, DIM = 8, VALUE = 12 };
  static tensor q, k, v, o, positions, table, bias;
  init(&q, 4, 1, HEADS, L, DIM);
  init(&k, 4, 1, HEADS, L, DIM);
  init(&v, 4, 1, HEADS, L, VALUE);
  init(&o, 4, 1, HEADS, L, VALUE);
  init(&positions, 2, 1, L, 0, 0);
  init(&table, 2, 32, HEADS, 0, 0);
  init(&bias, 3, 1, L, L, 0);
  positions.view.dtype.code = kDLInt;
  memset(positions.data, 0, sizeof positions.data);
  misuse_bias_args args = {.size = sizeof args,
                           .q = &q.view,
                           .k = &k.view,
                           .v = &v.view,
                           .o = &o.view,
                           .positions = &positions.view,
                           .t5_bias_table = &table.view,
                           .bias = &bias.view};
  expect_status(misuse_bias(&args, NULL), POSENC_OK, NULL, "operands");
  args.t5_bias_table = NULL;
  expect_status(misuse_bias(&args, NULL), POSENC_INVALID_ARGUMENT,
                "t5_bias.table", "a missing table");
  args.t5_bias_table = &table.view;
  table.shape[0] = 31;
  expect_status(misuse_bias(&args, NULL), POSENC_SHAPE_MISMATCH,
                "t5_bias.table", "a table with too few buckets");
  table.shape[0] = 32;
  positions.view.dtype.code = kDLFloat;
  expect_status(misuse_bias(&args, NULL), POSENC_DTYPE_MISMATCH, "positions",
                "float positions");
  positions.view.dtype.code = kDLInt;
  bias.shape[0] = 3;
  expect_status(misuse_bias(&args, NULL), POSENC_SHAPE_MISMATCH, "bias",
                "a bias of three heads");
  bias.shape[0] = 1;
  q.shape[2] = o.shape[2] = bias.shape[1] = L + 1;
  expect_status(misuse_bias(&args, NULL), POSENC_OUT_OF_RANGE, "Lq",
                "more queries than positions");
}

typedef struct serving_call {
  tensor q, k, v, o, bounds, lengths, pages;
  misuse_serving_args args;
} serving_call;

static void set_ints(tensor *t, int32_t rank, int64_t a, int64_t b,
                     const int32_t *numbers) {
  init(t, rank, a, b, 0, 0);
  t->view.dtype.code = kDLInt;
  memcpy(t->data, numbers, sizeof *numbers * (size_t)(rank > 1 ? a * b : a));
}

static void init_16_bits(tensor *t, int32_t rank, int64_t a, int64_t b,
                         int64_t c, int64_t d, uint8_t code) {
  init(t, rank, a, b, c, d);
  memset(t->data, 0, sizeof t->data);
  t->view.dtype.code = code;
  t->view.dtype.bits = 16;
}

/* Two sequences with 3 and 2 queries (bf16) and 5 and 2 keys (f16) in pages of
 * 4. */
static serving_call *make_serving(void) {
  enum { TQ = 5, HEADS = 2, PAGES = 4, PAGE = 4, DIM = 8 };
  static const int32_t bounds[] = {0, 3, 5}, lengths[] = {5, 2};
  static const int32_t pages[] = {3, 0, 2, -1};
  static serving_call c;
  init_16_bits(&c.q, 3, TQ, HEADS, DIM, 0, kDLBfloat);
  init_16_bits(&c.o, 3, TQ, HEADS, DIM, 0, kDLBfloat);
  init_16_bits(&c.k, 4, PAGES, PAGE, 1, DIM, kDLFloat);
  init_16_bits(&c.v, 4, PAGES, PAGE, 1, DIM, kDLFloat);
  set_ints(&c.bounds, 1, 3, 0, bounds);
  set_ints(&c.lengths, 1, 2, 0, lengths);
  set_ints(&c.pages, 2, 2, 2, pages);
  misuse_serving_args args = {.size = sizeof args,
                              .q = &c.q.view,
                              .k = &c.k.view,
                              .v = &c.v.view,
                              .o = &c.o.view,
                              .cu_seqlens_q = &c.bounds.view,
                              .key_lengths = &c.lengths.view,
                              .page_table = &c.pages.view};
  c.args = args;
  return &c;
}

static void expect_serving_refused(serving_call *c, posenc_status status,
                                   const char *word, const char *what) {
  static float before[2048];
  memcpy(before, c->o.data, sizeof before);
  expect_status(misuse_serving(&c->args, NULL), status, word, what);
  expect(memcmp(before, c->o.data, sizeof before) == 0, what);
}

static void set_int(tensor *t, size_t index, int32_t number) {
  memcpy((char *)t->data + index * sizeof number, &number, sizeof number);
}

static void test_sequences(void) {
  serving_call *c = make_serving();
  expect_status(misuse_serving(&c->args, NULL), POSENC_OK, NULL, "sequences");
  c->args.page_table = NULL;
  expect_serving_refused(c, POSENC_INVALID_ARGUMENT, "page_table",
                         "no page table");
  c = make_serving();
  set_int(&c->bounds, 0, 1);
  expect_serving_refused(c, POSENC_OUT_OF_RANGE, "cu_seqlens_q",
                         "a first sequence that begins at 1");
  c = make_serving();
  set_int(&c->bounds, 1, 6);
  expect_serving_refused(c, POSENC_OUT_OF_RANGE, "cu_seqlens_q",
                         "bounds that fall");
  c = make_serving();
  set_int(&c->bounds, 2, 6);
  expect_serving_refused(c, POSENC_OUT_OF_RANGE, "cu_seqlens_q",
                         "bounds beyond the queries");
  c = make_serving();
  c->bounds.shape[0] = 4;
  expect_serving_refused(c, POSENC_SHAPE_MISMATCH, "key_lengths",
                         "bounds of another batch");
  c = make_serving();
  c->bounds.view.dtype.bits = 64;
  expect_serving_refused(c, POSENC_DTYPE_MISMATCH, "cu_seqlens_q",
                         "bounds of 64 bits");
  c = make_serving();
  set_int(&c->lengths, 0, -1);
  expect_serving_refused(c, POSENC_OUT_OF_RANGE, "key_lengths",
                         "a negative length");
  c = make_serving();
  set_int(&c->lengths, 0, 9);
  expect_serving_refused(c, POSENC_OUT_OF_RANGE, "key_lengths",
                         "more keys than pages");
  c = make_serving();
  set_int(&c->pages, 1, 4);
  expect_serving_refused(c, POSENC_OUT_OF_RANGE, "page_table",
                         "a page that is not there");
  c = make_serving();
  set_int(&c->pages, 2, -1);
  expect_serving_refused(c, POSENC_OUT_OF_RANGE, "page_table",
                         "a negative page");
  c = make_serving();
  c->v.shape[1] = 3;
  expect_serving_refused(c, POSENC_SHAPE_MISMATCH, "v",
                         "values in smaller pages");
  c = make_serving();
  c->q.view.ndim = 4;
  expect_serving_refused(c, POSENC_SHAPE_MISMATCH, "q",
                         "packed queries with a batch axis");
}

typedef struct listed_call {
  tensor q, k, v, o, lengths, offsets, indices;
  misuse_listed_args args;
} listed_call;

/* Two sequences that have come to 9 and 2 keys, of which rings of 6 keep the
 * last: 3 queries that see 3 keys before their own. Queries are in blocks of 2,
 * keys in blocks of 4. */
static listed_call *make_listed(void) {
  enum { BATCH = 2, HEADS = 2, QUERIES = 3, CAPACITY = 6, DIM = 8 };
  static const int32_t lengths[] = {9, 2}, offsets[] = {0, 2, 4};
  static const int32_t indices[] = {0, 1, 1, 2};
  static listed_call c;
  init(&c.q, 4, BATCH, HEADS, QUERIES, DIM);
  init(&c.o, 4, BATCH, HEADS, QUERIES, DIM);
  init(&c.k, 4, BATCH, 1, CAPACITY, DIM);
  init(&c.v, 4, BATCH, 1, CAPACITY, DIM);
  set_ints(&c.lengths, 1, 2, 0, lengths);
  set_ints(&c.offsets, 1, 3, 0, offsets);
  c.offsets.view.ndim = 3;
  c.offsets.shape[0] = c.offsets.shape[1] = 1;
  c.offsets.shape[2] = 3;
  set_ints(&c.indices, 1, 4, 0, indices);
  misuse_listed_args args = {.size = sizeof args,
                             .q = &c.q.view,
                             .k = &c.k.view,
                             .v = &c.v.view,
                             .o = &c.o.view,
                             .key_lengths = &c.lengths.view,
                             .blocks_offsets = &c.offsets.view,
                             .blocks_indices = &c.indices.view};
  c.args = args;
  return &c;
}

static void expect_listed_refused(listed_call *c, posenc_status status,
                                  const char *word, const char *what) {
  static float before[2048];
  memcpy(before, c->o.data, sizeof before);
  expect_status(misuse_listed(&c->args, NULL), status, word, what);
  expect(memcmp(before, c->o.data, sizeof before) == 0, what);
}

static void test_ring(void) {
  listed_call *c = make_listed();
  expect_status(misuse_listed(&c->args, NULL), POSENC_OK, NULL, "a ring");
  c = make_listed();
  c->k.shape[2] = c->v.shape[2] = 5;
  expect_listed_refused(c, POSENC_SHAPE_MISMATCH,
                        "k has extent 5 on axis 2, but must have at least 6: a "
                        "query sees 3 keys before its own, and Lq is 3",
                        "a ring that is too small");
  c = make_listed();
  c->v.shape[2] = 7;
  expect_listed_refused(c, POSENC_SHAPE_MISMATCH, "(capacity)",
                        "values in a larger ring");
  c = make_listed();
  set_int(&c->lengths, 0, -1);
  expect_listed_refused(c, POSENC_OUT_OF_RANGE, "key_lengths",
                        "a ring of negative length");
  c = make_listed();
  set_int(&c->lengths, 0, (1 << 30) + 1);
  expect_listed_refused(c, POSENC_OUT_OF_RANGE, "the most keys of a sequence",
                        "a ring that has seen too much");
  c = make_listed();
  set_strides(&c->k, 1 << 30, 8, 1 << 29, 1);
  expect_listed_refused(c, POSENC_STRIDE_UNSUPPORTED, "slots",
                        "slots that are far apart");
}

static void test_ring_append(void) {
  listed_call *c = make_listed();
  misuse_listed_append_args args = {.size = sizeof args,
                                    .k = &c->q.view,
                                    .v = &c->o.view,
                                    .k_cache = &c->k.view,
                                    .v_cache = &c->v.view,
                                    .key_lengths = &c->lengths.view};
  c->q.shape[1] = c->o.shape[1] = 1;
  expect_status(misuse_listed_append_kv(&args, NULL), POSENC_OUT_OF_RANGE,
                "must count them too", "a length without new tokens");
  set_int(&c->lengths, 1, 3);
  expect_status(misuse_listed_append_kv(&args, NULL), POSENC_OK, NULL,
                "new tokens for a ring");
  c->k.shape[2] = c->v.shape[2] = 2;
  expect_status(misuse_listed_append_kv(&args, NULL), POSENC_OK, NULL,
                "more new tokens than slots");
}

static void test_block_lists(void) {
  listed_call *c = make_listed();
  set_int(&c->indices, 3, 3);
  expect_listed_refused(
      c, POSENC_OUT_OF_RANGE,
      "blocks.indices holds 3 at 3, but must have from 0 to 2",
      "a block behind the keys");
  c = make_listed();
  set_int(&c->lengths, 0, 0);
  set_int(&c->lengths, 1, 0);
  expect_listed_refused(
      c, POSENC_OUT_OF_RANGE,
      "blocks.indices holds 0 at 0, but must have none there, since Lk is 0",
      "a block where there are no keys");
  c = make_listed();
  set_int(&c->indices, 0, -1);
  expect_listed_refused(c, POSENC_OUT_OF_RANGE, "blocks.indices",
                        "a negative block");
  c = make_listed();
  set_int(&c->indices, 3, 1);
  expect_listed_refused(c, POSENC_OUT_OF_RANGE,
                        "blocks.indices holds 1 at 3 behind 1, but must rise",
                        "a block twice");
  c = make_listed();
  set_int(&c->offsets, 1, 5);
  expect_listed_refused(c, POSENC_OUT_OF_RANGE, "blocks.offsets",
                        "an offset behind the indices");
  c = make_listed();
  set_int(&c->offsets, 2, 1);
  expect_listed_refused(c, POSENC_OUT_OF_RANGE,
                        "blocks.offsets holds 1 at [0, 0, 2], but must have "
                        "from 2, the number before it, to N = 4",
                        "offsets that fall");
  c = make_listed();
  set_int(&c->offsets, 0, -1);
  expect_listed_refused(c, POSENC_OUT_OF_RANGE, "blocks.offsets",
                        "a negative offset");
  c = make_listed();
  c->offsets.shape[2] = 2;
  expect_listed_refused(c, POSENC_SHAPE_MISMATCH, "at least 3",
                        "lists of too few blocks of queries");
  c = make_listed();
  c->offsets.shape[0] = 3;
  expect_listed_refused(c, POSENC_SHAPE_MISMATCH, "1 or B = 2",
                        "lists of another batch");
  c = make_listed();
  c->offsets.shape[1] = 3;
  expect_listed_refused(c, POSENC_SHAPE_MISMATCH, "1 or H = 2",
                        "lists of other heads");
  c = make_listed();
  c->args.blocks_indices = NULL;
  expect_listed_refused(c, POSENC_INVALID_ARGUMENT, "blocks.indices",
                        "no lists");
  c = make_listed();
  c->indices.view.dtype.bits = 64;
  expect_listed_refused(c, POSENC_DTYPE_MISMATCH, "blocks.indices",
                        "lists of 64 bits");
}

static void test_16_bits(void) {
  serving_call *c = make_serving();
  c->q.view.dtype.code = kDLFloat;
  expect_serving_refused(c, POSENC_DTYPE_MISMATCH, "bfloat16", "f16 queries");
  c = make_serving();
  c->k.view.dtype.code = kDLBfloat;
  expect_serving_refused(c, POSENC_DTYPE_MISMATCH, "float16", "bf16 keys");
  c = make_serving();
  c->o.view.dtype.code = kDLFloat;
  c->o.view.dtype.bits = 32;
  expect_serving_refused(c, POSENC_DTYPE_MISMATCH, "o", "f32 outputs");
  c = make_serving();
  c->v.view.data = (char *)c->v.data + 1;
  expect_serving_refused(c, POSENC_INVALID_ARGUMENT, "aligned",
                         "values at an odd address");
}

typedef struct codes_call {
  tensor q, k, v, o, k_scales, v_scales, lengths, table, new_k, new_v;
  misuse_codes_args args;
  misuse_codes_append_args append;
} codes_call;

static void init_codes(tensor *t, int64_t capacity, int64_t dim) {
  init(t, 4, 1, 1, capacity, dim);
  memset(t->data, 0, sizeof t->data);
  t->view.dtype.code = POSENC_DTYPE_FLOAT8_E4M3FN;
  t->view.dtype.bits = 8;
}

/* A sequence with 3 of 4 keys, the last of which is appended. */
static codes_call *make_codes(void) {
  enum { HEADS = 2, CAPACITY = 4, DIM = 8, BUCKETS = 32 };
  static const int32_t lengths[] = {3};
  static codes_call c;
  init(&c.q, 4, 1, HEADS, 1, DIM);
  init(&c.o, 4, 1, HEADS, 1, DIM);
  init_codes(&c.k, CAPACITY, DIM);
  init_codes(&c.v, CAPACITY, DIM);
  init(&c.k_scales, 3, 1, 1, CAPACITY, 0);
  init(&c.v_scales, 3, 1, 1, CAPACITY, 0);
  set_ints(&c.lengths, 1, 1, 0, lengths);
  init_16_bits(&c.table, 2, BUCKETS, HEADS, 0, 0, kDLBfloat);
  init(&c.new_k, 4, 1, 1, 1, DIM);
  init(&c.new_v, 4, 1, 1, 1, DIM);
  misuse_codes_args args = {.size = sizeof args,
                            .q = &c.q.view,
                            .k = &c.k.view,
                            .v = &c.v.view,
                            .o = &c.o.view,
                            .k_scales = &c.k_scales.view,
                            .v_scales = &c.v_scales.view,
                            .key_lengths = &c.lengths.view,
                            .t5_bias_table = &c.table.view};
  misuse_codes_append_args append = {.size = sizeof append,
                                     .k = &c.new_k.view,
                                     .v = &c.new_v.view,
                                     .k_cache = &c.k.view,
                                     .v_cache = &c.v.view,
                                     .k_scales = &c.k_scales.view,
                                     .v_scales = &c.v_scales.view,
                                     .key_lengths = &c.lengths.view};
  c.args = args;
  c.append = append;
  return &c;
}

static void expect_codes(posenc_status status, const char *word, codes_call *c,
                         const char *what) {
  static float before[2048];
  memcpy(before, c->o.data, sizeof before);
  expect_status(misuse_codes(&c->args, NULL), status, word, what);
  expect((memcmp(before, c->o.data, sizeof before) == 0) == (status != 0),
         what);
}

static void test_codes(void) {
  codes_call *c = make_codes();
  expect_status(misuse_codes_append_kv(&c->append, NULL), POSENC_OK, NULL,
                "appending codes");
  /* Values 0, 0.25, ... 1.5 by 1.5 / 448, in the third row. */
  expect(c->v_scales.data[2] == 1.5f / 448, "the scale of the new token");
  expect(((const uint8_t *)c->v.data)[2 * 8 + 6] == 0x7e, "its largest code");
  expect(c->v_scales.data[1] == 0.25f && ((const uint8_t *)c->v.data)[15] == 0,
         "other tokens stay");
  expect_codes(POSENC_OK, NULL, c, "attention over codes");
  c = make_codes();
  c->k_scales.data[1] = NAN;
  expect_codes(POSENC_OK, NULL, c, "a scale of NaN");
  expect(isnan(c->o.data[0]), "gives NaN");
  c = make_codes();
  c->args.k_scales = NULL;
  expect_codes(POSENC_INVALID_ARGUMENT, "k_scales", c, "no scales");
  c = make_codes();
  c->k.view.dtype.code = kDLUInt;
  expect_codes(POSENC_DTYPE_MISMATCH, "float8_e4m3fn", c, "bytes for codes");
  c = make_codes();
  c->k.view.dtype.code = kDLInt;
  expect_codes(POSENC_DTYPE_MISMATCH, "int8", c, "int8 for float8");
  c = make_codes();
  c->v_scales.view.dtype.bits = 16;
  expect_codes(POSENC_DTYPE_MISMATCH, "v_scales", c, "scales in f16");
  c = make_codes();
  c->v_scales.shape[2] = 3;
  expect_codes(POSENC_SHAPE_MISMATCH, "v_scales", c, "too few scales");
  c = make_codes();
  c->v_scales.view.ndim = 1;
  expect_codes(POSENC_SHAPE_MISMATCH, "v_scales", c, "scales of heads");
  c = make_codes();
  c->table.view.dtype.code = kDLFloat;
  expect_codes(POSENC_DTYPE_MISMATCH, "t5_bias.table", c, "a table in f16");
  c = make_codes();
  c->append.v_scales = NULL;
  expect_status(misuse_codes_append_kv(&c->append, NULL),
                POSENC_INVALID_ARGUMENT, "v_scales",
                "appending without scales");
  c = make_codes();
  set_strides(&c->k_scales, 4, 4, 0, 0);
  expect_status(misuse_codes_append_kv(&c->append, NULL),
                POSENC_STRIDE_UNSUPPORTED, "k_scales",
                "scales that share an address");
}

static void test_embedding(void) {
  enum { L = 5, DIM = 8, ROWS = 16 };
  static tensor x, y, table;
  init(&x, 3, 2, L, DIM, 0);
  init(&y, 3, 2, L, DIM, 0);
  init(&table, 2, ROWS, DIM, 0, 0);
  misuse_embed_args args = {.size = sizeof args,
                            .x = &x.view,
                            .y = &y.view,
                            .learned_absolute_table = &table.view};
  expect_status(misuse_embed(&args, NULL), POSENC_OK, NULL, "an embedding");
  expect_status(misuse_embed(NULL, NULL), POSENC_INVALID_ARGUMENT, "args",
                "an embedding of NULL");
  args.size = sizeof args - 8;
  expect_status(misuse_embed(&args, NULL), POSENC_VERSION_MISMATCH, "size",
                "an embedding of another version");
  args.size = sizeof args;
  args.x = NULL;
  expect_status(misuse_embed(&args, NULL), POSENC_INVALID_ARGUMENT, "x",
                "an embedding without x");
  args.x = &x.view;
  y.shape[1] = L - 1;
  expect_status(misuse_embed(&args, NULL), POSENC_SHAPE_MISMATCH, "y",
                "an embedding of another length");
  y.shape[1] = L;
  table.shape[1] = DIM + 1;
  expect_status(misuse_embed(&args, NULL), POSENC_SHAPE_MISMATCH,
                "learned_absolute.table", "a table of another size");
  table.shape[1] = DIM;
  y.view.dtype.bits = 16;
  expect_status(misuse_embed(&args, NULL), POSENC_DTYPE_MISMATCH, "y",
                "an embedding in f16");
  y.view.dtype.bits = 32;
  set_strides(&y, 0, DIM, 1, 0);
  expect_status(misuse_embed(&args, NULL), POSENC_STRIDE_UNSUPPORTED, "y",
                "batch entries that share an output");
  y.view.strides = NULL;
  x.shape[1] = y.shape[1] = ROWS + 1;
  expect_status(misuse_embed(&args, NULL), POSENC_OUT_OF_RANGE, "token",
                "more tokens than rows");
}

int main(void) {
  test_right_call();
  test_structs();
  test_missing();
  test_shapes();
  test_types();
  test_strides();
  test_call();
  test_prepared();
  test_isa();
  test_operands();
  test_sequences();
  test_ring();
  test_ring_append();
  test_block_lists();
  test_16_bits();
  test_codes();
  test_embedding();
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
