//===- ZipTest.cpp - Reading and writing zip files --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/Zip.h"
#include "TemporaryFolder.h"
#include "llvm/Support/Endian.h"
#include "gtest/gtest.h"
#include <zlib.h>

using namespace llvm;
using namespace sparse_autograd::io;

namespace {

std::string makeZip() {
  std::string bytes;
  raw_string_ostream stream(bytes);
  writeZip(stream, {{"a", {"he", "llo"}}, {"b", {"worlds"}}});
  return bytes;
}

// Where things stand in the file above: the local header of a member has 30
// bytes, its name 1, its zip64 sizes 20.
constexpr size_t dataA = 51, localB = 56, dataB = 107, directory = 113;
constexpr size_t centralEntry = 46 + 1 + 28;
constexpr size_t end64 = directory + 2 * centralEntry;
constexpr size_t locator = end64 + 56, end = locator + 20;

/// All members of a file, or the first error.
Expected<std::vector<std::string>> readAll(StringRef bytes,
                                           SizeLimits limits = {}) {
  auto members = readZipDirectory(bytes, "z.npz", limits);
  if (!members)
    return members.takeError();
  std::vector<std::string> contents;
  for (const ZipMember &member : *members) {
    auto content = readZipMember(bytes, member, "z.npz", limits);
    if (!content)
      return content.takeError();
    contents.push_back(content->str().str());
  }
  return contents;
}

/// The message after `size` bytes at `offset` were replaced.
std::string getMessageAfter(size_t offset, StringRef replacement) {
  std::string bytes = makeZip();
  bytes.replace(offset, replacement.size(), replacement.str());
  return getMessage(readAll(bytes));
}

/// A file of one deflated member, without zip64, which says what it is told.
std::string makeDeflated(StringRef content, uint32_t claimedSize,
                         uint16_t method = 8, uint16_t flags = 0) {
  std::string packed(compressBound(content.size()), '\0');
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  stream.next_in =
      reinterpret_cast<Bytef *>(const_cast<char *>(content.data()));
  stream.avail_in = content.size();
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = packed.size();
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  uint32_t crc = crc32_z(0, reinterpret_cast<const Bytef *>(content.data()),
                         content.size());

  auto number = [](uint64_t value, int bytes) {
    std::string text;
    for (; bytes--; value >>= 8)
      text.push_back(static_cast<char>(value));
    return text;
  };
  std::string common = number(flags, 2) + number(method, 2) + number(0, 4) +
                       number(crc, 4) + number(packed.size(), 4) +
                       number(claimedSize, 4) + number(1, 2) + number(0, 2);
  std::string local = "PK\x03\x04" + number(20, 2) + common + "a" + packed;
  std::string central = "PK\x01\x02" + number(20, 2) + number(20, 2) + common +
                        number(0, 14) + "a";
  return local + central + "PK\x05\x06" + number(0, 4) + number(1, 2) +
         number(1, 2) + number(central.size(), 4) + number(local.size(), 4) +
         number(0, 2);
}

TEST(Zip, ReadsWhatItWrites) {
  auto contents = readAll(makeZip());
  ASSERT_TRUE(bool(contents)) << toString(contents.takeError());
  EXPECT_EQ(*contents, (std::vector<std::string>{"hello", "worlds"}));
}

TEST(Zip, ReadsDeflatedMembers) {
  std::string text(10000, 'x');
  auto contents = readAll(makeDeflated(text, text.size()));
  ASSERT_TRUE(bool(contents)) << toString(contents.takeError());
  EXPECT_EQ(*contents, std::vector<std::string>{text});
}

TEST(Zip, EveryTruncationAndAppendedByteIsAnError) {
  for (const std::string &bytes :
       {makeZip(), makeDeflated("some text, some text", 20)}) {
    ASSERT_EQ(getMessage(readAll(bytes)), "");
    for (size_t size = 0; size < bytes.size(); ++size)
      EXPECT_NE(getMessage(readAll(StringRef(bytes).take_front(size))), "")
          << size;
    EXPECT_NE(getMessage(readAll(bytes + "x")), "");
  }
}

TEST(Zip, NoChangedByteGivesOtherContents) {
  std::string original = makeZip();
  std::vector<std::string> expected = {"hello", "worlds"};
  for (size_t i = 0; i < original.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = original;
      bytes[i] ^= 1 << bit;
      auto contents = readAll(bytes);
      if (contents)
        EXPECT_EQ(*contents, expected) << i;
      else
        consumeError(contents.takeError());
    }
}

void expectStart(const std::string &message, StringRef expected) {
  EXPECT_TRUE(StringRef(message).starts_with(expected)) << message;
}

TEST(Zip, DiagnosesWhatIsWrong) {
  expectStart(getMessage(readAll("PK\x03\x04")),
              "z.npz: byte 4: the zip file is too short");
  expectStart(getMessage(readAll(makeZip() + "x")),
              "z.npz: byte " + std::to_string(end + 23) +
                  ": the zip file has no directory at its end");
  expectStart(getMessageAfter(locator, "x"),
              "z.npz: byte " + std::to_string(end) +
                  ": the zip64 locator is missing");
  expectStart(getMessageAfter(locator + 8, "x"),
              "z.npz: byte " + std::to_string(locator) +
                  ": the zip64 end record is not where");
  expectStart(getMessageAfter(locator + 4, "x"),
              "z.npz: byte " + std::to_string(end64) +
                  ": the zip file spans several disks");
  expectStart(getMessageAfter(end64 + 48, "x"),
              "z.npz: byte " + std::to_string(end64) +
                  ": the zip directory is not where");
  std::string three("\3\0\0\0\0\0\0\0\3", 9);
  expectStart(getMessageAfter(end64 + 24, three),
              "z.npz: byte " + std::to_string(end64) +
                  ": the zip directory is corrupt");
  std::string one("\1\0\0\0\0\0\0\0\1", 9);
  expectStart(getMessageAfter(end64 + 24, one),
              "z.npz: byte " + std::to_string(directory + centralEntry) +
                  ": the zip directory has bytes to spare");
  std::string many("\0\0\1\0\0\0\0\0\0\0\1", 11);
  expectStart(getMessageAfter(end64 + 24, many),
              "z.npz: byte " + std::to_string(end64) +
                  ": the zip directory claims more members");
  std::string huge("\0\0\0\1\0\0\0\0\0\0\0\1", 12);
  expectStart(getMessageAfter(end64 + 24, huge),
              "z.npz: byte " + std::to_string(end64) +
                  ": the zip file has 16777216 members, more than the limit");
  expectStart(getMessageAfter(directory, "x"),
              "z.npz: byte 113: the zip directory is corrupt");
  expectStart(getMessageAfter(directory + 28, "\xff"),
              "z.npz: byte 113: the zip directory is corrupt");
  expectStart(getMessageAfter(directory + 8, "\1"),
              "z.npz: byte 113: member 'a' is encrypted");
  expectStart(getMessageAfter(directory + 10, "\x0c"),
              "z.npz: byte 113: member 'a' is compressed by method 12");
  expectStart(getMessageAfter(directory + 47, "x"),
              "z.npz: byte 113: the zip64 sizes of a member are missing");
  expectStart(getMessageAfter(directory + 49, "\2"),
              "z.npz: byte 113: the zip64 sizes of a member are cut short");
  expectStart(getMessageAfter(directory + 51, "x"),
              "z.npz: byte 113: member 'a' is stored, but its two sizes");
  expectStart(getMessageAfter(directory + 67, "x"),
              "z.npz: byte 113: member 'a' does not begin where");
  std::string big("\0\0\1\0\0\0\0\0\0\0\1", 11);
  expectStart(getMessageAfter(directory + 51, big),
              "z.npz: byte 113: member 'a' is larger than the zip file");
  expectStart(getMessageAfter(30, "x"),
              "z.npz: byte 0: the header of member 'a' contradicts");
  expectStart(getMessageAfter(dataA, "x"),
              "z.npz: byte 51: member 'a' has a wrong checksum");

  // Both members at one place, and both by one name.
  std::string bytes = makeZip();
  bytes.replace(directory + centralEntry, centralEntry,
                bytes.substr(directory, centralEntry));
  expectStart(getMessage(readAll(bytes)),
              "z.npz: byte 0: two members of the zip file overlap");
  bytes = makeZip();
  bytes[localB + 30] = bytes[directory + centralEntry + 46] = 'a';
  expectStart(getMessage(readAll(bytes)),
              "z.npz: byte " + std::to_string(dataB) +
                  ": two members of the zip file are called 'a'");

  bytes = makeDeflated("aaaa", 4000000);
  expectStart(getMessage(readAll(bytes)),
              "z.npz: byte " + std::to_string(bytes.find("PK\x01\x02")) +
                  ": member 'a' claims to expand to more");
  expectStart(getMessage(readAll(makeDeflated("aaaa", 3))),
              "z.npz: byte 31: member 'a' is larger than its header says");
  expectStart(getMessage(readAll(makeDeflated("aaaa", 5))),
              "z.npz: byte 31: member 'a' has another size than");
  bytes = makeDeflated("aaaa", 4);
  bytes[31] = '\xff';
  expectStart(getMessage(readAll(bytes)),
              "z.npz: byte 31: member 'a' is corrupt");
  SizeLimits limits;
  limits.expandedBytes = 3;
  expectStart(getMessage(readAll(makeDeflated("aaaa", 4), limits)),
              "z.npz: byte 31: member 'a' expands to 4 bytes, more than the "
              "limit of 3");
}

} // namespace
