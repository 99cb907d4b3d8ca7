// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes NumPy's .npy files.

#include "posenc/Tools/Npy.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

using namespace llvm;
using namespace posenc;

namespace {

struct TypeInfo {
  NpyType type;
  StringRef name;
  size_t size;
  StringRef descr; // without the byte order
};

// U16 comes before BF16, so that '<u2' is read as U16.
constexpr TypeInfo types[] = {
    {NpyType::F64, "f64", 8, "f8"},   {NpyType::F32, "f32", 4, "f4"},
    {NpyType::F16, "f16", 2, "f2"},   {NpyType::I64, "i64", 8, "i8"},
    {NpyType::I32, "i32", 4, "i4"},   {NpyType::I8, "i8", 1, "i1"},
    {NpyType::U16, "u16", 2, "u2"},   {NpyType::U8, "u8", 1, "u1"},
    {NpyType::Bool, "bool", 1, "b1"}, {NpyType::BF16, "bf16", 2, "u2"},
};

constexpr StringRef magic("\x93NUMPY", 6);
constexpr size_t maxHeaderSize = size_t(1) << 20;
constexpr size_t maxRank = 32;

const TypeInfo &getInfo(NpyType type) {
  for (const TypeInfo &info : types)
    if (info.type == type)
      return info;
  llvm_unreachable("every element type is in the table");
}

Error failure(StringRef name, const Twine &expected, const Twine &found) {
  return createStringError(inconvertibleErrorCode(), name + ": expected " +
                                                         expected + ", found " +
                                                         found);
}

/// A piece of the input in a message: printable and short.
std::string quote(StringRef text) {
  constexpr size_t limit = 48;
  std::string result;
  raw_string_ostream os(result);
  os << '\'';
  printEscapedString(text.take_front(limit), os);
  os << (text.size() > limit ? "..." : "") << '\'';
  return result;
}

std::string formatShape(ArrayRef<int64_t> shape) {
  std::string result;
  raw_string_ostream os(result);
  os << '(';
  interleaveComma(shape, os);
  os << (shape.size() == 1 ? ",)" : ")");
  return result;
}

/// The number of elements, or nothing if some extent is negative or the size in
/// bytes does not fit. Extents of 0 are left out of the product while it is
/// checked, so that strides fit as well.
std::optional<int64_t> countElements(ArrayRef<int64_t> shape,
                                     size_t elementSize) {
  int64_t product = static_cast<int64_t>(elementSize);
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    if (extent == 0)
      empty = true;
    else if (MulOverflow(product, extent, product))
      return std::nullopt;
  }
  return empty ? 0 : product / static_cast<int64_t>(elementSize);
}

//===----------------------------------------------------------------------===//
// The header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
//===----------------------------------------------------------------------===//

class HeaderParser {
public:
  HeaderParser(StringRef header, StringRef name) : rest(header), name(name) {}

  Error parse();

  std::optional<StringRef> descr;
  std::optional<bool> fortranOrder;
  std::optional<SmallVector<int64_t>> shape;

private:
  Error fail(const Twine &expected) {
    std::string found =
        rest.empty() ? std::string("the header's end") : quote(rest);
    return failure(name, expected + " in the header", found);
  }

  void skipSpace() { rest = rest.ltrim(" \t\n"); }

  bool consume(char c) {
    skipSpace();
    return rest.consume_front(StringRef(&c, 1));
  }

  Error parseString(StringRef &result, const Twine &what) {
    skipSpace();
    if (!rest.starts_with("'") && !rest.starts_with("\""))
      return fail(what);
    size_t end = rest.find(rest.front(), 1);
    if (end == StringRef::npos)
      return fail(what + " with a closing quote");
    result = rest.slice(1, end);
    if (result.contains('\\'))
      return fail(what + " without escapes");
    rest = rest.drop_front(end + 1);
    return Error::success();
  }

  Error parseDescr();
  Error parseFortranOrder();
  Error parseShape();

  StringRef rest;
  StringRef name;
};

Error HeaderParser::parse() {
  if (!consume('{'))
    return fail("'{'");
  while (!consume('}')) {
    StringRef key;
    StringRef start = rest;
    if (Error error = parseString(key, "a quoted key or '}'"))
      return error;
    if (!consume(':'))
      return fail("':'");
    bool duplicate = (key == "descr" && descr) ||
                     (key == "fortran_order" && fortranOrder) ||
                     (key == "shape" && shape);
    if (duplicate)
      return failure(name, "each key once in the header", quote(start));
    Error error = Error::success();
    if (key == "descr")
      error = parseDescr();
    else if (key == "fortran_order")
      error = parseFortranOrder();
    else if (key == "shape")
      error = parseShape();
    else
      error = failure(name,
                      "the keys 'descr', 'fortran_order' and 'shape' in the "
                      "header",
                      quote(key));
    if (error)
      return error;
    if (!consume(',')) {
      if (!consume('}'))
        return fail("',' or '}'");
      break;
    }
  }
  skipSpace();
  if (!rest.empty())
    return fail("nothing after '}'");
  if (!descr || !fortranOrder || !shape)
    return failure(name,
                   "the keys 'descr', 'fortran_order' and 'shape' in the "
                   "header",
                   Twine("no '") +
                       (!descr          ? "descr"
                        : !fortranOrder ? "fortran_order"
                                        : "shape") +
                       "'");
  return Error::success();
}

Error HeaderParser::parseDescr() {
  skipSpace();
  if (rest.starts_with("[") || rest.starts_with("("))
    return failure(name, "an array of numbers",
                   "the structured elements " + quote(rest));
  StringRef value;
  if (Error error = parseString(value, "a quoted element type"))
    return error;
  descr = value;
  return Error::success();
}

Error HeaderParser::parseFortranOrder() {
  skipSpace();
  if (rest.consume_front("True"))
    fortranOrder = true;
  else if (rest.consume_front("False"))
    fortranOrder = false;
  else
    return fail("True or False");
  return Error::success();
}

Error HeaderParser::parseShape() {
  if (!consume('('))
    return fail("the shape's '('");
  SmallVector<int64_t> extents;
  bool comma = false;
  while (!consume(')')) {
    if (!extents.empty() && !comma)
      return fail("',' or ')'");
    if (extents.size() == maxRank)
      return fail("at most " + Twine(maxRank) + " extents");
    skipSpace();
    StringRef digits = rest.take_while(isDigit);
    int64_t extent = 0;
    if (digits.empty() || digits.getAsInteger(10, extent))
      return fail("an extent between 0 and 2^63 - 1");
    rest = rest.drop_front(digits.size());
    extents.push_back(extent);
    comma = consume(',');
  }
  // (3) is a number in Python, and no writer makes it.
  if (extents.size() == 1 && !comma)
    return failure(name, "the shape to be a tuple", formatShape(extents));
  shape = std::move(extents);
  return Error::success();
}

Expected<NpyType> parseElementType(StringRef descr, StringRef name) {
  StringRef order = descr.take_front(1), code = descr.drop_front(order.size());
  for (const TypeInfo &info : types) {
    if (code != info.descr)
      continue;
    if (order == "<" || order == "=" || (order == "|" && info.size == 1))
      return info.type;
    if (order == ">")
      return failure(name, "little-endian elements",
                     quote(descr) + " (convert them in NumPy with "
                                    "a.astype(a.dtype.newbyteorder('<')))");
  }
  return failure(name,
                 "elements of type <f8, <f4, <f2, <i8, <i4, |i1, <u2, |u1 or "
                 "|b1",
                 quote(descr));
}

/// Column-major bytes to row-major.
std::vector<char> transposeToC(StringRef source, ArrayRef<int64_t> shape,
                               size_t size) {
  std::vector<char> result(source.size());
  SmallVector<size_t> strides(shape.size());
  size_t stride = size;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    strides[axis] = stride;
    stride *= static_cast<size_t>(shape[axis]);
  }
  SmallVector<int64_t> index(shape.size(), 0);
  size_t from = 0;
  for (size_t to = 0; to < result.size(); to += size) {
    std::memcpy(&result[to], source.data() + from, size);
    for (size_t axis = shape.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < shape[axis])
        break;
      from -= strides[axis] * static_cast<size_t>(shape[axis]);
      index[axis] = 0;
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

template <typename T>
T load(const std::vector<char> &data, size_t index) {
  return support::endian::read<T, endianness::little>(data.data() +
                                                      index * sizeof(T));
}

template <typename T>
void store(std::vector<char> &data, size_t index, T value) {
  support::endian::write<T, endianness::little>(data.data() + index * sizeof(T),
                                                value);
}

float decodeHalf(uint16_t bits) {
  uint32_t exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  float value;
  if (exponent == 31)
    value = bit_cast<float>(0x7f800000u | mantissa << 13);
  else if (exponent == 0)
    value = std::ldexp(static_cast<float>(mantissa), -24);
  else
    value = bit_cast<float>((exponent + 112) << 23 | mantissa << 13);
  return bits & 0x8000 ? -value : value;
}

float decodeBF16(uint16_t bits) {
  return bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t encode16(double value, const fltSemantics &semantics) {
  APFloat number(value);
  bool losesInfo;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

std::string formatDouble(double value) {
  std::string result;
  raw_string_ostream os(result);
  os << format("%.17g", value);
  return result;
}

/// Calls `function(index, value)` for each element, in the array's own type
/// (f16 and bf16 as float), until it returns false.
template <typename Function>
void forEach(const NpyArray &array, Function function) {
  auto run = [&](auto get) {
    for (size_t i = 0, e = array.data.size() / getNpyTypeSize(array.type);
         i != e; ++i)
      if (!function(i, get(i)))
        return;
  };
  const std::vector<char> &data = array.data;
  switch (array.type) {
  case NpyType::F64:
    return run([&](size_t i) { return load<double>(data, i); });
  case NpyType::F32:
    return run([&](size_t i) { return load<float>(data, i); });
  case NpyType::F16:
    return run([&](size_t i) { return decodeHalf(load<uint16_t>(data, i)); });
  case NpyType::BF16:
    return run([&](size_t i) { return decodeBF16(load<uint16_t>(data, i)); });
  case NpyType::I64:
    return run([&](size_t i) { return load<int64_t>(data, i); });
  case NpyType::I32:
    return run([&](size_t i) { return load<int32_t>(data, i); });
  case NpyType::I8:
    return run([&](size_t i) { return load<int8_t>(data, i); });
  case NpyType::U16:
    return run([&](size_t i) { return load<uint16_t>(data, i); });
  case NpyType::U8:
    return run([&](size_t i) { return load<uint8_t>(data, i); });
  case NpyType::Bool:
    return run([&](size_t i) { return uint8_t(data[i] != 0); });
  }
}

/// Whether `from` has a value of To that stands for it; if so, in `to`.
template <typename To, typename From>
bool convert(From from, To &to) {
  if constexpr (std::is_floating_point_v<To> &&
                std::is_floating_point_v<From>) {
    // Out of range is undefined for the cast; halfway to the next power of two
    // is where rounding to the nearest overflows.
    if constexpr (sizeof(To) < sizeof(From)) {
      if (std::isfinite(from) && std::fabs(from) >= 0x1.ffffffp127)
        return false;
    }
    to = static_cast<To>(from);
    return true;
  } else if constexpr (std::is_floating_point_v<To>) {
    // The magnitude as uint64_t, without trailing zeros, must fit the mantissa.
    uint64_t bits = from < 0 ? 0 - static_cast<uint64_t>(from)
                             : static_cast<uint64_t>(from);
    if (bits && Log2_64(bits) - countr_zero(bits) >=
                    unsigned(std::numeric_limits<To>::digits))
      return false;
    to = static_cast<To>(from);
    return true;
  } else {
    if (static_cast<int64_t>(from) < std::numeric_limits<To>::min() ||
        static_cast<int64_t>(from) > std::numeric_limits<To>::max())
      return false;
    to = static_cast<To>(from);
    return true;
  }
}

template <typename To>
Expected<std::vector<To>> convertAll(const NpyArray &array, StringRef toName) {
  std::vector<To> result(static_cast<size_t>(array.getNumElements()));
  Error error = Error::success();
  forEach(array, [&](size_t index, auto value) {
    using From = decltype(value);
    if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
      consumeError(std::move(error));
      error = failure(array.name, "integers", stringifyNpyType(array.type));
      return false;
    } else {
      if (convert(value, result[index]))
        return true;
      std::string text = std::is_integral_v<From>
                             ? std::to_string(value)
                             : formatDouble(static_cast<double>(value));
      consumeError(std::move(error));
      std::string expected =
          std::is_integral_v<To>
              ? "integers from " +
                    std::to_string(std::numeric_limits<To>::min()) + " to " +
                    std::to_string(std::numeric_limits<To>::max())
              : ("values that " + toName + " can hold" +
                 (std::is_integral_v<From> ? " exactly" : ""))
                    .str();
      error =
          failure(array.name, expected, text + " at element " + Twine(index));
      return false;
    }
  });
  if (error)
    return error;
  return result;
}

Error checkData(const NpyArray &array) {
  size_t size = getNpyTypeSize(array.type);
  std::optional<int64_t> count = countElements(array.shape, size);
  if (!count || array.shape.size() > maxRank)
    return failure(array.name, "a shape whose size fits",
                   formatShape(array.shape));
  uint64_t bytes = static_cast<uint64_t>(*count) * size;
  if (array.data.size() != bytes)
    return failure(array.name,
                   Twine(bytes) + " bytes for shape " +
                       formatShape(array.shape) + " of " +
                       stringifyNpyType(array.type),
                   Twine(array.data.size()));
  return Error::success();
}

} // namespace

//===----------------------------------------------------------------------===//
// NpyArray
//===----------------------------------------------------------------------===//

StringRef posenc::stringifyNpyType(NpyType type) { return getInfo(type).name; }

size_t posenc::getNpyTypeSize(NpyType type) { return getInfo(type).size; }

int64_t NpyArray::getNumElements() const {
  return static_cast<int64_t>(data.size() / getNpyTypeSize(type));
}

Expected<NpyArray> NpyArray::asBF16() const {
  if (type != NpyType::U16)
    return failure(name, "bfloat16 stored as u16", stringifyNpyType(type));
  NpyArray result = *this;
  result.type = NpyType::BF16;
  return result;
}

Expected<std::vector<double>> NpyArray::toDoubles() const {
  return convertAll<double>(*this, "f64");
}

Expected<std::vector<float>> NpyArray::toFloats() const {
  return convertAll<float>(*this, "f32");
}

Expected<std::vector<int32_t>> NpyArray::toInt32s() const {
  return convertAll<int32_t>(*this, "i32");
}

Expected<NpyArray> NpyArray::fromDoubles(NpyType type, ArrayRef<int64_t> shape,
                                         ArrayRef<double> values) {
  NpyArray result;
  result.type = type;
  result.shape.assign(shape.begin(), shape.end());
  result.data.resize(values.size() * getNpyTypeSize(type));
  if (Error error = checkData(result))
    return error;
  for (size_t i = 0; i != values.size(); ++i) {
    double value = values[i];
    bool fits = true;
    auto storeInteger = [&](auto least, auto most) {
      fits = value >= double(least) && value <= double(most) &&
             value == std::trunc(value);
      if (fits)
        store(result.data, i, static_cast<decltype(least)>(value));
    };
    switch (type) {
    case NpyType::F64:
      store(result.data, i, value);
      break;
    case NpyType::F32: {
      float narrow = 0;
      fits = convert(value, narrow);
      store(result.data, i, narrow);
      break;
    }
    case NpyType::F16:
    case NpyType::BF16: {
      bool half = type == NpyType::F16;
      uint16_t bits =
          encode16(value, half ? APFloat::IEEEhalf() : APFloat::BFloat());
      fits = !std::isfinite(value) ||
             std::isfinite(half ? decodeHalf(bits) : decodeBF16(bits));
      store(result.data, i, bits);
      break;
    }
    case NpyType::I64:
      // 2^63 - 1 is not a double; the largest one below it is.
      storeInteger(std::numeric_limits<int64_t>::min(),
                   int64_t(0x7ffffffffffffc00));
      break;
    case NpyType::I32:
      storeInteger(std::numeric_limits<int32_t>::min(),
                   std::numeric_limits<int32_t>::max());
      break;
    case NpyType::I8:
      storeInteger(int8_t(-128), int8_t(127));
      break;
    case NpyType::U16:
      storeInteger(uint16_t(0), uint16_t(65535));
      break;
    case NpyType::U8:
      storeInteger(uint8_t(0), uint8_t(255));
      break;
    case NpyType::Bool:
      storeInteger(uint8_t(0), uint8_t(1));
      break;
    }
    if (!fits)
      return failure(result.name,
                     "values that " + stringifyNpyType(type) + " can hold",
                     formatDouble(value) + " at element " + Twine(i));
  }
  return result;
}

Expected<NpyArray> NpyArray::fromFloats(ArrayRef<int64_t> shape,
                                        ArrayRef<float> values) {
  NpyArray result;
  result.shape.assign(shape.begin(), shape.end());
  result.data.resize(values.size() * sizeof(float));
  if (Error error = checkData(result))
    return error;
  for (size_t i = 0; i != values.size(); ++i)
    store(result.data, i, values[i]);
  return result;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Expected<NpyArray> posenc::parseNpy(StringRef contents, StringRef name) {
  StringRef rest = contents;
  if (!rest.consume_front(magic))
    return failure(name, "an .npy file",
                   contents.empty() ? std::string("an empty file")
                                    : "one that starts with " +
                                          quote(contents.take_front(8)));
  auto truncated = [&](const Twine &what, uint64_t needed) {
    return failure(name, Twine(needed) + " bytes of " + what,
                   Twine(rest.size()) + " before the file ends");
  };

  if (rest.size() < 2)
    return truncated("format version", 2);
  unsigned major = uint8_t(rest[0]), minor = uint8_t(rest[1]);
  if (major < 1 || major > 3 || minor != 0)
    return failure(name, ".npy format 1.0, 2.0 or 3.0",
                   Twine(major) + "." + Twine(minor));
  rest = rest.drop_front(2);

  size_t lengthSize = major == 1 ? 2 : 4;
  if (rest.size() < lengthSize)
    return truncated("header length", lengthSize);
  size_t headerSize = major == 1 ? support::endian::read16le(rest.data())
                                 : support::endian::read32le(rest.data());
  rest = rest.drop_front(lengthSize);
  if (headerSize > maxHeaderSize)
    return failure(name, "a header of at most 1 MiB",
                   Twine(headerSize) + " bytes");
  if (rest.size() < headerSize)
    return truncated("header", headerSize);

  HeaderParser header(rest.take_front(headerSize), name);
  if (Error error = header.parse())
    return error;
  rest = rest.drop_front(headerSize);

  NpyArray array;
  array.name = name.str();
  Expected<NpyType> type = parseElementType(*header.descr, name);
  if (!type)
    return type.takeError();
  array.type = *type;
  array.shape = std::move(*header.shape);

  size_t size = getNpyTypeSize(array.type);
  std::optional<int64_t> count = countElements(array.shape, size);
  if (!count)
    return failure(name, "a shape whose size in bytes is below 2^63",
                   formatShape(array.shape));
  uint64_t bytes = static_cast<uint64_t>(*count) * size;
  if (rest.size() < bytes)
    return truncated("data for shape " + formatShape(array.shape) + " of " +
                         stringifyNpyType(array.type),
                     bytes);
  if (rest.size() > bytes)
    return failure(name, "the file to end after the data",
                   Twine(rest.size() - bytes) + " more bytes");

  if (*header.fortranOrder)
    array.data = transposeToC(rest, array.shape, size);
  else
    array.data.assign(rest.begin(), rest.end());
  return array;
}

Expected<NpyArray> posenc::readNpy(StringRef path) {
  // Devices such as /dev/zero may never end.
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) &&
      status.type() == sys::fs::file_type::character_file)
    return failure(path, "a readable file", "a device");
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (std::error_code error = buffer.getError())
    return failure(path, "a readable file", "'" + error.message() + "'");
  return parseNpy((*buffer)->getBuffer(), path);
}

std::string posenc::serializeNpyHeader(const NpyArray &array) {
  const TypeInfo &info = getInfo(array.type);
  std::string dict =
      ("{'descr': '" + Twine(info.size == 1 ? "|" : "<") + info.descr +
       "', 'fortran_order': False, 'shape': " + formatShape(array.shape) +
       ", }")
          .str();
  size_t prefix = magic.size() + 4;
  size_t total = alignTo(prefix + dict.size() + 1, 64);
  dict.resize(total - prefix - 1, ' ');
  dict += '\n';

  std::string result = magic.str();
  result += {'\1', '\0', char(dict.size() & 255), char(dict.size() >> 8)};
  return result + dict;
}

static Error failToWrite(StringRef path, const std::string &reason) {
  return failure(path, "a writable file", "'" + reason + "'");
}

static std::error_code writeTo(int fd, const NpyArray &array) {
  raw_fd_ostream os(fd, /*shouldClose=*/false, /*unbuffered=*/true);
  os << serializeNpyHeader(array);
  os.write(array.data.data(), array.data.size());
  std::error_code error = os.error();
  os.clear_error(); // or its destructor ends the process
  return error;
}

/// Whether there is something at `path` that renaming would replace by a file.
static bool isSpecial(StringRef path) {
  sys::fs::file_status status;
  return !sys::fs::status(path, status) && sys::fs::exists(status) &&
         !sys::fs::is_regular_file(status);
}

static Error writeSpecial(StringRef path, const NpyArray &array) {
  if (sys::fs::is_directory(path))
    return failToWrite(path, "Is a directory");
  int fd;
  if (std::error_code error =
          sys::fs::openFileForWrite(path, fd, sys::fs::CD_OpenExisting))
    return failToWrite(path, error.message());
  std::error_code error = writeTo(fd, array);
  std::error_code closeError = sys::fs::closeFile(fd);
  if (!error)
    error = closeError;
  return error ? failToWrite(path, error.message()) : Error::success();
}

namespace {
/// Files that are written but do not have their names yet; those that never get
/// them are removed.
struct StagedFiles {
  ~StagedFiles() {
    for (auto &[path, file] : files)
      consumeError(file.discard());
  }

  Error add(StringRef path, const NpyArray &array) {
    Expected<sys::fs::TempFile> file =
        sys::fs::TempFile::create(path + ".%%%%%%%%.tmp");
    if (!file)
      return failToWrite(path, toString(file.takeError()));
    int fd = file->FD;
    files.emplace_back(path.str(), std::move(*file));
    if (std::error_code error = writeTo(fd, array))
      return failToWrite(path, error.message());
    return Error::success();
  }

  Error keepAll() {
    for (; !files.empty(); files.pop_back())
      if (Error error = files.back().second.keep(files.back().first))
        return failToWrite(files.back().first, toString(std::move(error)));
    return Error::success();
  }

  std::vector<std::pair<std::string, sys::fs::TempFile>> files;
};
} // namespace

Error posenc::writeNpyFiles(ArrayRef<NpyFile> files) {
  for (const NpyFile &file : files)
    if (Error error = checkData(*file.array))
      return error;
  StagedFiles staged;
  for (const NpyFile &file : files)
    if (!isSpecial(file.path))
      if (Error error = staged.add(file.path, *file.array))
        return error;
  for (const NpyFile &file : files)
    if (isSpecial(file.path))
      if (Error error = writeSpecial(file.path, *file.array))
        return error;
  return staged.keepAll();
}

Error posenc::writeNpy(StringRef path, const NpyArray &array) {
  return writeNpyFiles(NpyFile{path.str(), &array});
}
