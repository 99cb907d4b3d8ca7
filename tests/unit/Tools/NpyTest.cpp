// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the .npy reader and writer, on bytes as NumPy writes them.

#include "posenc/Tools/Npy.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <cmath>
#include <csignal>
#include <limits>
#include <sys/resource.h>

using namespace llvm;
using namespace posenc;

namespace {

/// The file that numpy.save makes of a header's dictionary and data.
std::string makeFile(StringRef dict, StringRef data, char version = 1) {
  std::string header = dict.str();
  size_t prefix = version == 1 ? 10 : 12;
  while ((prefix + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';
  std::string file("\x93NUMPY", 6);
  file += version;
  file += '\0';
  for (unsigned i = 0, e = version == 1 ? 2 : 4; i != e; ++i)
    file += static_cast<char>(header.size() >> (8 * i) & 255);
  return file + header + data.str();
}

std::string makeDict(StringRef descr, StringRef shape,
                     StringRef fortranOrder = "False") {
  return ("{'descr': '" + descr + "', 'fortran_order': " + fortranOrder +
          ", 'shape': " + shape + ", }")
      .str();
}

std::string bytesOf(ArrayRef<float> values) {
  return std::string(reinterpret_cast<const char *>(values.data()),
                     values.size() * sizeof(float));
}

/// The sentence that a file is refused with, or "accepted".
std::string refusal(StringRef file) {
  Expected<NpyArray> array = parseNpy(file, "x.npy");
  return array ? "accepted" : toString(array.takeError());
}

template <typename T>
std::string refusal(Expected<T> value) {
  return value ? "accepted" : toString(value.takeError());
}

/// What a well-formed header with this dictionary is refused with.
std::string headerRefusal(StringRef dict) {
  return refusal(makeFile(dict, ""));
}

NpyArray parse(StringRef file) { return cantFail(parseNpy(file, "x.npy")); }

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::error_code error = sys::fs::createUniqueDirectory("posenc-npy", path);
    EXPECT_FALSE(error) << error.message();
  }
  ~TemporaryFolder() { sys::fs::remove_directories(path); }
  std::string file(StringRef name) const {
    SmallString<128> result = path;
    sys::path::append(result, name);
    return std::string(result);
  }
  unsigned countFiles() const {
    std::error_code error;
    unsigned count = 0;
    for (sys::fs::directory_iterator it(path, error), end; it != end && !error;
         it.increment(error))
      ++count;
    return count;
  }

private:
  SmallString<128> path;
};

//===----------------------------------------------------------------------===//
// What is read
//===----------------------------------------------------------------------===//

TEST(NpyTest, ReadsWhatNumpyWrites) {
  // numpy.save(f, numpy.array([[1.5, -2], [0, 3]], numpy.float32)), byte by
  // byte.
  std::string file("\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': "
                   "False, 'shape': (2, 2), }",
                   10 + 59);
  file.append(58, ' ');
  file += '\n';
  file += std::string("\x00\x00\xc0\x3f\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00"
                      "\x40\x40",
                      16);
  NpyArray array = parse(file);
  EXPECT_EQ(array.type, NpyType::F32);
  EXPECT_EQ(array.shape, (SmallVector<int64_t>{2, 2}));
  EXPECT_EQ(array.name, "x.npy");
  EXPECT_EQ(cantFail(array.toDoubles()),
            (std::vector<double>{1.5, -2.0, 0.0, 3.0}));
}

TEST(NpyTest, ReadsAllVersions) {
  for (char version : {1, 2, 3}) {
    NpyArray array =
        parse(makeFile(makeDict("<f4", "(2,)"), bytesOf({1, 2}), version));
    EXPECT_EQ(cantFail(array.toFloats()), (std::vector<float>{1, 2}));
  }
}

TEST(NpyTest, ReadsScalarsAndEmptyArrays) {
  EXPECT_EQ(parse(makeFile(makeDict("<f4", "()"), bytesOf({7}))).shape.size(),
            0u);
  NpyArray empty = parse(makeFile(makeDict("<f4", "(0, 5)"), ""));
  EXPECT_EQ(empty.getNumElements(), 0);
  EXPECT_EQ(empty.shape, (SmallVector<int64_t>{0, 5}));
}

TEST(NpyTest, ReadsKeysInAnyOrderAndQuotes) {
  NpyArray array = parse(
      makeFile("{\"shape\":(1,),\"fortran_order\":False,\"descr\":\"<f4\"}",
               bytesOf({4})));
  EXPECT_EQ(cantFail(array.toFloats()), std::vector<float>{4});
}

TEST(NpyTest, ConvertsFortranOrder) {
  // [[[0, 1, 2], [3, 4, 5]]] has the columns 0, 3; 1, 4; 2, 5.
  NpyArray array = parse(makeFile(makeDict("<f4", "(1, 2, 3)", "True"),
                                  bytesOf({0, 3, 1, 4, 2, 5})));
  EXPECT_EQ(cantFail(array.toFloats()), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  NpyArray empty = parse(makeFile(makeDict("<f4", "(3, 0, 2)", "True"), ""));
  EXPECT_EQ(empty.getNumElements(), 0);
  NpyArray scalar =
      parse(makeFile(makeDict("<f4", "()", "True"), bytesOf({7})));
  EXPECT_EQ(cantFail(scalar.toFloats()), std::vector<float>{7});
}

TEST(NpyTest, ReadsEveryElementType) {
  struct Case {
    const char *descr;
    std::string data;
    NpyType type;
    double value;
  };
  using namespace std::string_literals;
  const Case cases[] = {
      {"<f8", "\0\0\0\0\0\0\xf8\xbf"s, NpyType::F64, -1.5},
      {"<f4", "\0\0\xc0\xbf"s, NpyType::F32, -1.5},
      {"<f2", "\0\xbe"s, NpyType::F16, -1.5},
      {"<i8", "\xfe\xff\xff\xff\xff\xff\xff\xff"s, NpyType::I64, -2},
      {"<i4", "\xfe\xff\xff\xff"s, NpyType::I32, -2},
      {"=i4", "\xfe\xff\xff\xff"s, NpyType::I32, -2},
      {"|i1", "\xfe"s, NpyType::I8, -2},
      {"<u2", "\xc0\xbf"s, NpyType::U16, 0xbfc0},
      {"|u1", "\xfe"s, NpyType::U8, 254},
      {"|b1", "\x01"s, NpyType::Bool, 1},
  };
  for (const Case &c : cases) {
    NpyArray array = parse(makeFile(makeDict(c.descr, "(1,)"), c.data));
    EXPECT_EQ(array.type, c.type) << c.descr;
    EXPECT_EQ(cantFail(array.toDoubles()), std::vector<double>{c.value})
        << c.descr;
  }
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

TEST(NpyTest, RefusesOtherFiles) {
  EXPECT_EQ(refusal(""), "x.npy: expected an .npy file, found an empty file");
  EXPECT_EQ(refusal("PK\x03\x04"), "x.npy: expected an .npy file, found one "
                                   "that starts with 'PK\\03\\04'");
  std::string file = makeFile(makeDict("<f4", "()"), bytesOf({1}));
  file[6] = 4;
  EXPECT_EQ(refusal(file),
            "x.npy: expected .npy format 1.0, 2.0 or 3.0, found 4.0");
}

TEST(NpyTest, RefusesEveryTruncation) {
  for (char version : {1, 2}) {
    std::string file =
        makeFile(makeDict("<f4", "(3,)"), bytesOf({1, 2, 3}), version);
    for (size_t size = 0; size < file.size(); ++size) {
      std::string message = refusal(StringRef(file).take_front(size));
      EXPECT_TRUE(StringRef(message).starts_with("x.npy: expected "))
          << size << ": " << message;
      EXPECT_TRUE(StringRef(message).contains(", found ")) << message;
    }
    EXPECT_EQ(refusal(file), "accepted");
  }
  std::string file = makeFile(makeDict("<f4", "(3,)"), bytesOf({1, 2}));
  EXPECT_EQ(refusal(file), "x.npy: expected 12 bytes of data for shape (3,) of "
                           "f32, found 8 before the file ends");
}

TEST(NpyTest, RefusesTrailingBytes) {
  EXPECT_EQ(refusal(makeFile(makeDict("<f4", "(1,)"), bytesOf({1, 2}))),
            "x.npy: expected the file to end after the data, found 4 more "
            "bytes");
}

TEST(NpyTest, RefusesOversizedHeader) {
  std::string file("\x93NUMPY\x02\x00\x01\x00\x10\x00", 12);
  EXPECT_EQ(refusal(file),
            "x.npy: expected a header of at most 1 MiB, found 1048577 bytes");
}

TEST(NpyTest, RefusesOtherElementTypes) {
  EXPECT_EQ(refusal(makeFile(makeDict(">f4", "(1,)"), bytesOf({1}))),
            "x.npy: expected little-endian elements, found '>f4' (convert them "
            "in NumPy with a.astype(a.dtype.newbyteorder('<')))");
  for (StringRef descr : {"<c8", "|O", "<U3", "|S4", "|V2", "<f16", "<u4",
                          "<u8", "", "f4", "|f4", "<", "<f44"})
    EXPECT_TRUE(StringRef(headerRefusal(makeDict(descr, "(0,)")))
                    .starts_with("x.npy: expected elements of type <f8, "))
        << descr.str();
  EXPECT_EQ(
      headerRefusal("{'descr': [('a', '<f4')], 'fortran_order': False, "
                    "'shape': (1,), }")
          .substr(0, 65),
      "x.npy: expected an array of numbers, found the structured element");
}

TEST(NpyTest, RefusesBadShapes) {
  StringRef overflow = "x.npy: expected a shape whose size in bytes is below "
                       "2^63, found (";
  for (StringRef shape : {"(4611686018427387904,)", "(4294967296, 4294967296)",
                          "(9223372036854775807, 9223372036854775807, 0)"})
    EXPECT_TRUE(
        StringRef(headerRefusal(makeDict("<f4", shape))).starts_with(overflow))
        << shape.str();
  StringRef extent = "x.npy: expected an extent between 0 and 2^63 - 1 in the "
                     "header, found ";
  for (StringRef shape :
       {"(-1,)", "(9223372036854775808,)", "(a,)", "(,)", "(1, , 2)", "(1.5,)"})
    EXPECT_NE(headerRefusal(makeDict("<f4", shape)), "accepted") << shape.str();
  EXPECT_TRUE(
      StringRef(headerRefusal(makeDict("<f4", "(-1,)"))).starts_with(extent));
  EXPECT_EQ(headerRefusal(makeDict("<f4", "(3)")),
            "x.npy: expected the shape to be a tuple, found (3,)");
  std::string rank33 = "(";
  for (int i = 0; i < 33; ++i)
    rank33 += "1,";
  EXPECT_TRUE(StringRef(headerRefusal(makeDict("<f4", rank33 + ")")))
                  .starts_with("x.npy: expected at most 32 extents"));
}

TEST(NpyTest, RefusesWhatIsNotTheDictionary) {
  for (StringRef dict : {
           "",
           "{",
           "{}",
           "[]",
           "{'descr'",
           "{'descr':",
           "{'descr': '<f4'",
           "{'descr': '<f4', 'fortran_order': False}",
           "{'descr': '<f4', 'fortran_order': false, 'shape': (), }",
           "{'descr': '<f4', 'fortran_order': 0, 'shape': (), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': [], }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': () 'x': 1}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}",
           "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, "
           "'shape': ()}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': ()} + 1",
           "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': ()}",
           "{,'descr': '<f4', 'fortran_order': False, 'shape': ()}",
           "dict(descr='<f4', fortran_order=False, shape=())",
       }) {
    std::string message = headerRefusal(dict);
    EXPECT_TRUE(StringRef(message).starts_with("x.npy: expected "))
        << dict.str() << ": " << message;
    EXPECT_TRUE(StringRef(message).contains(" header")) << message;
  }
  EXPECT_EQ(
      headerRefusal("{'descr': '<f4', 'shape': ()}"),
      "x.npy: expected the keys 'descr', 'fortran_order' and 'shape' in the "
      "header, found no 'fortran_order'");
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

TEST(NpyTest, EveryHalfRoundTrips) {
  NpyArray array;
  array.type = NpyType::F16;
  array.shape = {65536};
  for (unsigned bits = 0; bits < 65536; ++bits) {
    array.data.push_back(static_cast<char>(bits & 255));
    array.data.push_back(static_cast<char>(bits >> 8));
  }
  for (NpyType type : {NpyType::F16, NpyType::BF16}) {
    array.type = type;
    std::vector<double> values = cantFail(array.toDoubles());
    NpyArray back = cantFail(NpyArray::fromDoubles(type, {65536}, values));
    for (unsigned bits = 0; bits < 65536; ++bits) {
      if (std::isnan(values[bits]))
        continue;
      ASSERT_EQ(array.data[2 * bits], back.data[2 * bits]) << bits;
      ASSERT_EQ(array.data[2 * bits + 1], back.data[2 * bits + 1]) << bits;
    }
  }
  array.type = NpyType::F16;
  std::vector<double> values = cantFail(array.toDoubles());
  EXPECT_EQ(values[0x0001], std::ldexp(1.0, -24));
  EXPECT_EQ(values[0x03ff], std::ldexp(1023.0, -24));
  EXPECT_EQ(values[0x0400], std::ldexp(1.0, -14));
  EXPECT_EQ(values[0x7bff], 65504.0);
  EXPECT_EQ(values[0xfc00], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(values[0x7e00]));
}

TEST(NpyTest, NarrowingRoundsOnceToNearestEven) {
  // Just above the tie of two halves, by less than a float can see.
  double value = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  NpyArray array = cantFail(NpyArray::fromDoubles(NpyType::F16, {1}, {value}));
  EXPECT_EQ(cantFail(array.toDoubles())[0], 1 + std::ldexp(1.0, -10));
  array = cantFail(
      NpyArray::fromDoubles(NpyType::F16, {1}, {1 + std::ldexp(1.0, -11)}));
  EXPECT_EQ(cantFail(array.toDoubles())[0], 1.0);
}

TEST(NpyTest, ConversionsRefuseWhatDoesNotFit) {
  double infinity = std::numeric_limits<double>::infinity();
  NpyArray f64 = cantFail(
      NpyArray::fromDoubles(NpyType::F64, {3}, {-infinity, 0.1, 1e39}));
  EXPECT_EQ(refusal(f64.toFloats()),
            "array: expected values that f32 can hold, found "
            "9.9999999999999994e+38 at element 2");
  f64 = cantFail(NpyArray::fromDoubles(
      NpyType::F64, {2}, {-infinity, std::numeric_limits<float>::max()}));
  EXPECT_EQ(cantFail(f64.toFloats()),
            (std::vector<float>{-std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::max()}));
  EXPECT_EQ(refusal(f64.toInt32s()), "array: expected integers, found f64");

  NpyArray i64 = cantFail(NpyArray::fromDoubles(
      NpyType::I64, {3}, {-2147483648.0, 2147483647.0, 16777217.0}));
  EXPECT_EQ(cantFail(i64.toInt32s()),
            (std::vector<int32_t>{INT32_MIN, INT32_MAX, 16777217}));
  EXPECT_EQ(cantFail(i64.toDoubles())[1], 2147483647.0);
  EXPECT_EQ(refusal(i64.toFloats()),
            "array: expected values that f32 can hold exactly, found "
            "2147483647 at element 1");
  i64 = cantFail(NpyArray::fromDoubles(NpyType::I64, {1}, {2147483648.0}));
  EXPECT_EQ(refusal(i64.toInt32s()),
            "array: expected integers from -2147483648 to 2147483647, found "
            "2147483648 at element 0");
  NpyArray least;
  least.type = NpyType::I64;
  least.shape = {1};
  least.data = {0, 0, 0, 0, 0, 0, 0, char(0x80)};
  EXPECT_EQ(cantFail(least.toDoubles())[0], -std::ldexp(1.0, 63));
}

TEST(NpyTest, FromDoublesRefusesWhatDoesNotFit) {
  struct Case {
    NpyType type;
    double value;
  };
  for (const Case &c : {Case{NpyType::F32, 1e39},
                        {NpyType::F16, 65520.0},
                        {NpyType::BF16, 3.4e38},
                        {NpyType::I32, 2147483648.0},
                        {NpyType::I32, 0.5},
                        {NpyType::I64, std::ldexp(1.0, 63)},
                        {NpyType::I8, -129},
                        {NpyType::U8, -1},
                        {NpyType::Bool, 2},
                        {NpyType::U16, std::nan("")}})
    EXPECT_NE(refusal(NpyArray::fromDoubles(c.type, {1}, {c.value})),
              "accepted")
        << stringifyNpyType(c.type).str();
  EXPECT_EQ(refusal(NpyArray::fromDoubles(NpyType::F32, {2}, {1.0})),
            "array: expected 8 bytes for shape (2,) of f32, found 4");
  EXPECT_EQ(refusal(NpyArray::fromDoubles(NpyType::F32, {-1}, {})),
            "array: expected a shape whose size fits, found (-1,)");
}

TEST(NpyTest, BF16IsWhatTheCallerSays) {
  NpyArray bf16 =
      cantFail(NpyArray::fromDoubles(NpyType::BF16, {2}, {1.0, -1.5}));
  std::string file = serializeNpyHeader(bf16) +
                     std::string(bf16.data.begin(), bf16.data.end());
  NpyArray u16 = parse(file);
  EXPECT_EQ(u16.type, NpyType::U16);
  EXPECT_EQ(cantFail(cantFail(u16.asBF16()).toFloats()),
            (std::vector<float>{1.0f, -1.5f}));
  EXPECT_EQ(refusal(bf16.asBF16()),
            "array: expected bfloat16 stored as u16, found bf16");
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

TEST(NpyTest, WritesWhatItReads) {
  TemporaryFolder folder;
  std::string path = folder.file("a.npy");
  for (NpyType type :
       {NpyType::F64, NpyType::F32, NpyType::F16, NpyType::I64, NpyType::I32,
        NpyType::I8, NpyType::U16, NpyType::U8, NpyType::Bool})
    for (SmallVector<int64_t> shape :
         {SmallVector<int64_t>{}, {1}, {0}, {2, 3}, {1, 2, 1, 3}}) {
      std::vector<double> values;
      int64_t count = 1;
      for (int64_t extent : shape)
        count *= extent;
      for (int64_t i = 0; i < count; ++i)
        values.push_back(static_cast<double>(i % 2));
      NpyArray array = cantFail(NpyArray::fromDoubles(type, shape, values));
      cantFail(writeNpy(path, array));
      NpyArray back = cantFail(readNpy(path));
      EXPECT_EQ(back.type, type);
      EXPECT_EQ(back.shape, shape);
      EXPECT_EQ(back.data, array.data);
      EXPECT_EQ(back.name, path);
      EXPECT_EQ(serializeNpyHeader(array).size() % 64, 0u);
    }
  EXPECT_EQ(folder.countFiles(), 1u);
}

TEST(NpyTest, ReadRefusalsNameTheFile) {
  TemporaryFolder folder;
  std::string path = folder.file("missing.npy");
  EXPECT_EQ(refusal(readNpy(path)),
            path + ": expected a readable file, found 'No such file or "
                   "directory'");
}

TEST(NpyTest, FailedWriteLeavesNothing) {
  TemporaryFolder folder;
  NpyArray array = cantFail(NpyArray::fromFloats({1}, {1.0f}));
  std::string missing = folder.file("no-such-folder/a.npy");
  std::string message = toString(writeNpy(missing, array));
  EXPECT_TRUE(
      StringRef(message).starts_with(missing + ": expected a writable file"))
      << message;

  std::string path = folder.file("a.npy");
  cantFail(writeNpy(path, array));
  NpyArray inconsistent = array;
  inconsistent.shape = {2};
  EXPECT_NE(toString(writeNpy(path, inconsistent)), "");
  EXPECT_EQ(cantFail(readNpy(path)).data, array.data);
  EXPECT_EQ(folder.countFiles(), 1u);

  std::string directory = folder.file(".");
  EXPECT_EQ(toString(writeNpy(directory, array)),
            directory + ": expected a writable file, found 'Is a directory'");
}

TEST(NpyTest, FullDiskLeavesNothing) {
  TemporaryFolder folder;
  std::string path = folder.file("a.npy");
  NpyArray small = cantFail(NpyArray::fromFloats({1}, {1.0f}));
  cantFail(writeNpy(path, small));
  std::vector<float> values(100000);
  NpyArray large = cantFail(NpyArray::fromFloats({100000}, values));

  // A limit on the size of files stands for the disk.
  auto *handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::string message = toString(writeNpy(path, large));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);

  EXPECT_EQ(message,
            path + ": expected a writable file, found 'File too large'");
  EXPECT_EQ(folder.countFiles(), 1u);
  EXPECT_EQ(cantFail(readNpy(path)).data, small.data);
}

TEST(NpyTest, FullDeviceIsAnError) {
  if (!sys::fs::exists("/dev/full"))
    GTEST_SKIP() << "no /dev/full on this system";
  NpyArray array = cantFail(NpyArray::fromFloats({1}, {1.0f}));
  EXPECT_EQ(toString(writeNpy("/dev/full", array)),
            "/dev/full: expected a writable file, found 'No space left on "
            "device'");
  EXPECT_TRUE(sys::fs::exists("/dev/full"));
  sys::fs::file_status status;
  ASSERT_FALSE(sys::fs::status("/dev/full", status));
  EXPECT_EQ(status.type(), sys::fs::file_type::character_file);
}

} // namespace
