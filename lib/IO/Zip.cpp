//===- Zip.cpp - Zip files, as .npz uses them -------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/Zip.h"
#include "Inflate.h"
#include "SparseAutograd/IO/Diagnostic.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/EndianStream.h"
#include <algorithm>
#include <cstring>
#include <zlib.h>

using namespace llvm;
using namespace sparse_autograd::io;

namespace {

// Signatures and sizes of the records, without their variable parts (APPNOTE
// 6.3.10, section 4.3).
constexpr uint32_t localSignature = 0x04034b50;
constexpr uint32_t centralSignature = 0x02014b50;
constexpr uint32_t endSignature = 0x06054b50;
constexpr uint32_t end64Signature = 0x06064b50;
constexpr uint32_t locator64Signature = 0x07064b50;
constexpr uint64_t localSize = 30;
constexpr uint64_t centralSize = 46;
constexpr uint64_t endSize = 22;
constexpr uint64_t end64Size = 56;
constexpr uint64_t locator64Size = 20;

constexpr uint16_t encryptedFlags = 1 << 0 | 1 << 6 | 1 << 13;
constexpr uint16_t sizesFollowFlag = 1 << 3;
constexpr uint16_t methodStored = 0;
constexpr uint16_t methodDeflated = 8;
constexpr uint16_t version64 = 45;
constexpr uint16_t extra64Id = 1;

/// A field with all bits set stands in the zip64 records instead.
constexpr uint16_t elsewhere16 = 0xffff;
constexpr uint32_t elsewhere32 = 0xffffffff;

/// Reads the directory; each step leaves what the next one needs.
class DirectoryReader {
public:
  DirectoryReader(StringRef bytes, StringRef file, const SizeLimits &limits)
      : bytes(bytes), file(file), limits(limits) {}

  Expected<std::vector<ZipMember>> read();

private:
  /// The span that a member takes, its local header included.
  struct Span {
    uint64_t begin;
    uint64_t end;
  };

  Error findEnd();
  Error readEnd64(uint64_t endOffset);
  Error readCentral(uint64_t &position);
  Error readExtra64(StringRef extra, uint64_t position, ZipMember &member,
                    uint64_t &localOffset);
  Error checkLocal(ZipMember &member, uint64_t localOffset, uint16_t method,
                   uint64_t centralPosition);
  Error checkOverlaps();

  template <typename T>
  T get(uint64_t offset) const {
    return support::endian::read<T, endianness::little>(bytes.data() + offset);
  }
  Error error(uint64_t offset, const Twine &problem) const {
    return byteError(file, offset, problem, "copy or write the file again");
  }

  StringRef bytes;
  StringRef file;
  const SizeLimits &limits;
  uint64_t directoryOffset = 0;
  uint64_t directoryEnd = 0;
  uint64_t numMembers = 0;
  std::vector<ZipMember> members;
  std::vector<Span> spans;
};

} // namespace

Error DirectoryReader::findEnd() {
  if (bytes.size() < endSize)
    return error(bytes.size(), "the zip file is too short to have a directory");
  // The last record is followed by a comment of up to 65535 bytes.
  uint64_t last = bytes.size() - endSize;
  uint64_t first = last > elsewhere16 ? last - elsewhere16 : 0;
  uint64_t end = last + 1;
  do {
    if (end == first)
      return error(bytes.size(), "the zip file has no directory at its end: it "
                                 "is truncated, or has bytes appended");
    --end;
  } while (get<uint32_t>(end) != endSignature ||
           get<uint16_t>(end + 20) != bytes.size() - end - endSize);

  uint16_t disk = get<uint16_t>(end + 4);
  uint16_t directoryDisk = get<uint16_t>(end + 6);
  uint16_t membersHere = get<uint16_t>(end + 8);
  numMembers = get<uint16_t>(end + 10);
  uint64_t size = get<uint32_t>(end + 12);
  directoryOffset = get<uint32_t>(end + 16);
  directoryEnd = end;
  if (membersHere == elsewhere16 || numMembers == elsewhere16 ||
      size == elsewhere32 || directoryOffset == elsewhere32)
    return readEnd64(end);
  if (disk != 0 || directoryDisk != 0 || membersHere != numMembers)
    return byteError(file, end, "the zip file spans several disks",
                     "write it as one file");
  if (directoryOffset > end || end - directoryOffset != size)
    return error(end, "the zip directory is not where its end record says");
  return Error::success();
}

Error DirectoryReader::readEnd64(uint64_t endOffset) {
  if (endOffset < locator64Size ||
      get<uint32_t>(endOffset - locator64Size) != locator64Signature)
    return error(endOffset, "the zip64 locator is missing");
  uint64_t locator = endOffset - locator64Size;
  uint64_t end = get<uint64_t>(locator + 8);
  if (end > locator || locator - end < end64Size ||
      get<uint32_t>(end) != end64Signature ||
      get<uint64_t>(end + 4) != locator - end - 12)
    return error(locator, "the zip64 end record is not where its locator says");
  if (get<uint32_t>(locator + 4) != 0 || get<uint32_t>(end + 16) != 0 ||
      get<uint32_t>(end + 20) != 0 ||
      get<uint64_t>(end + 24) != get<uint64_t>(end + 32))
    return byteError(file, end, "the zip file spans several disks",
                     "write it as one file");
  numMembers = get<uint64_t>(end + 32);
  uint64_t size = get<uint64_t>(end + 40);
  directoryOffset = get<uint64_t>(end + 48);
  directoryEnd = end;
  if (directoryOffset > end || end - directoryOffset != size)
    return error(end, "the zip directory is not where its end record says");
  return Error::success();
}

Error DirectoryReader::readExtra64(StringRef extra, uint64_t position,
                                   ZipMember &member, uint64_t &localOffset) {
  uint64_t *fields[] = {&member.expandedBytes, &member.compressedBytes,
                        &localOffset};
  bool isNeeded = llvm::any_of(
      fields, [](uint64_t *field) { return *field == elsewhere32; });
  while (isNeeded && extra.size() >= 4) {
    uint16_t id = support::endian::read16le(extra.data());
    uint16_t size = support::endian::read16le(extra.data() + 2);
    extra = extra.drop_front(4);
    if (size > extra.size())
      break;
    StringRef content = extra.take_front(size);
    extra = extra.drop_front(size);
    if (id != extra64Id)
      continue;
    for (uint64_t *field : fields) {
      if (*field != elsewhere32)
        continue;
      if (content.size() < 8)
        return error(position, "the zip64 sizes of a member are cut short");
      *field = support::endian::read64le(content.data());
      content = content.drop_front(8);
    }
    return Error::success();
  }
  if (isNeeded)
    return error(position, "the zip64 sizes of a member are missing");
  return Error::success();
}

Error DirectoryReader::checkLocal(ZipMember &member, uint64_t localOffset,
                                  uint16_t method, uint64_t centralPosition) {
  if (localOffset > directoryOffset ||
      directoryOffset - localOffset < localSize ||
      get<uint32_t>(localOffset) != localSignature)
    return error(centralPosition, "member " + quoted(member.name) +
                                      " does not begin where the zip "
                                      "directory says");
  uint64_t nameSize = get<uint16_t>(localOffset + 26);
  uint64_t extraSize = get<uint16_t>(localOffset + 28);
  uint64_t room = directoryOffset - localOffset - localSize;
  if (nameSize + extraSize > room ||
      member.compressedBytes > room - nameSize - extraSize)
    return error(centralPosition, "member " + quoted(member.name) +
                                      " is larger than the zip file");
  member.dataOffset = localOffset + localSize + nameSize + extraSize;
  bool sizesFollow = get<uint16_t>(localOffset + 6) & sizesFollowFlag;
  auto agrees = [&](uint64_t offset, uint64_t size) {
    uint32_t local = get<uint32_t>(offset);
    return sizesFollow || local == elsewhere32 || local == size;
  };
  if (bytes.substr(localOffset + localSize, nameSize) != member.name ||
      get<uint16_t>(localOffset + 8) != method ||
      (get<uint16_t>(localOffset + 6) & encryptedFlags) ||
      !(sizesFollow || get<uint32_t>(localOffset + 14) == member.crc) ||
      !agrees(localOffset + 18, member.compressedBytes) ||
      !agrees(localOffset + 22, member.expandedBytes))
    return error(localOffset, "the header of member " + quoted(member.name) +
                                  " contradicts the zip directory");
  spans.push_back({localOffset, member.dataOffset + member.compressedBytes});
  return Error::success();
}

Error DirectoryReader::readCentral(uint64_t &position) {
  uint64_t begin = position;
  if (directoryEnd - begin < centralSize ||
      get<uint32_t>(begin) != centralSignature)
    return error(begin, "the zip directory is corrupt");
  uint16_t flags = get<uint16_t>(begin + 8);
  uint16_t method = get<uint16_t>(begin + 10);
  uint64_t nameSize = get<uint16_t>(begin + 28);
  uint64_t extraSize = get<uint16_t>(begin + 30);
  uint64_t commentSize = get<uint16_t>(begin + 32);
  position = begin + centralSize;
  if (nameSize + extraSize + commentSize > directoryEnd - position)
    return error(begin, "the zip directory is corrupt");

  ZipMember member;
  member.name = bytes.substr(position, nameSize).str();
  member.crc = get<uint32_t>(begin + 16);
  member.compressedBytes = get<uint32_t>(begin + 20);
  member.expandedBytes = get<uint32_t>(begin + 24);
  uint64_t localOffset = get<uint32_t>(begin + 42);
  member.isDeflated = method == methodDeflated;
  StringRef extra = bytes.substr(position + nameSize, extraSize);
  position += nameSize + extraSize + commentSize;

  if (flags & encryptedFlags)
    return byteError(file, begin,
                     "member " + quoted(member.name) + " is encrypted",
                     "write the file without encryption");
  if (method != methodStored && method != methodDeflated)
    return byteError(file, begin,
                     "member " + quoted(member.name) +
                         " is compressed by method " + Twine(method),
                     "store or deflate it, as numpy.savez and "
                     "numpy.savez_compressed do");
  if (Error error = readExtra64(extra, begin, member, localOffset))
    return error;
  if (!member.isDeflated && member.compressedBytes != member.expandedBytes)
    return error(begin, "member " + quoted(member.name) +
                            " is stored, but its two sizes differ");
  // Deflate expands 1 byte to at most 1032.
  if (member.isDeflated && member.expandedBytes / 1032 > member.compressedBytes)
    return error(begin, "member " + quoted(member.name) +
                            " claims to expand to more than deflate can");
  if (Error error = checkLocal(member, localOffset, method, begin))
    return error;
  members.push_back(std::move(member));
  return Error::success();
}

Error DirectoryReader::checkOverlaps() {
  llvm::sort(spans, [](const Span &a, const Span &b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  for (size_t i = 1; i < spans.size(); ++i)
    if (spans[i].begin < spans[i - 1].end)
      return error(spans[i].begin, "two members of the zip file overlap");
  StringSet<> names;
  for (const ZipMember &member : members)
    if (!names.insert(member.name).second)
      return error(member.dataOffset,
                   "two members of the zip file are called " +
                       quoted(member.name));
  return Error::success();
}

Expected<std::vector<ZipMember>> DirectoryReader::read() {
  if (Error error = findEnd())
    return std::move(error);
  if (numMembers > limits.members)
    return byteError(file, directoryEnd,
                     "the zip file has " + Twine(numMembers) +
                         " members, more than the limit of " +
                         Twine(limits.members),
                     "use a smaller file or raise the limit");
  if (numMembers > (directoryEnd - directoryOffset) / centralSize)
    return error(directoryEnd,
                 "the zip directory claims more members than it can hold");
  uint64_t position = directoryOffset;
  for (uint64_t i = 0; i < numMembers; ++i)
    if (Error error = readCentral(position))
      return std::move(error);
  if (position != directoryEnd)
    return error(position, "the zip directory has bytes to spare");
  if (Error error = checkOverlaps())
    return std::move(error);
  return std::move(members);
}

bool sparse_autograd::io::isZip(StringRef bytes) {
  // A member, or one of the records that end a file without members.
  return bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06") ||
         bytes.starts_with("PK\x06\x06");
}

Expected<std::vector<ZipMember>>
sparse_autograd::io::readZipDirectory(StringRef bytes, StringRef file,
                                      const SizeLimits &limits) {
  return DirectoryReader(bytes, file, limits).read();
}

/// The checksum of a zip file.
static uint32_t computeCrc(StringRef bytes, uint32_t crc = 0) {
  return crc32_z(crc, reinterpret_cast<const Bytef *>(bytes.data()),
                 bytes.size());
}

Expected<AlignedBuffer>
sparse_autograd::io::readZipMember(StringRef bytes, const ZipMember &member,
                                   StringRef file, const SizeLimits &limits) {
  auto error = [&](const Twine &problem) {
    return byteError(file, member.dataOffset,
                     "member " + quoted(member.name) + " " + problem,
                     "copy or write the file again");
  };
  if (member.expandedBytes > limits.expandedBytes)
    return byteError(file, member.dataOffset,
                     "member " + quoted(member.name) + " expands to " +
                         Twine(member.expandedBytes) +
                         " bytes, more than the limit of " +
                         Twine(limits.expandedBytes),
                     "use a smaller file or raise the limit");
  StringRef content = bytes.substr(member.dataOffset, member.compressedBytes);
  AlignedBuffer output;
  InflateStatus status = InflateStatus::Done;
  uint64_t consumed = content.size();
  if (member.isDeflated) {
    if (output.resize(0))
      status = inflateStream(content, InflateWrapper::None,
                             member.expandedBytes, output, consumed);
    else
      status = InflateStatus::NoMemory;
  } else if (output.resize(content.size())) {
    std::memcpy(output.data(), content.data(), content.size());
  } else {
    status = InflateStatus::NoMemory;
  }
  switch (status) {
  case InflateStatus::Done:
    break;
  case InflateStatus::Truncated:
  case InflateStatus::Corrupt:
    return error("is corrupt");
  case InflateStatus::TooLarge:
    return error("is larger than its header says");
  case InflateStatus::NoMemory:
    return fileError(file, "no memory for member " + quoted(member.name),
                     "use a smaller file or a machine with more memory");
  }
  if (consumed != content.size() || output.size() != member.expandedBytes)
    return error("has another size than its header says");
  if (computeCrc(output.str()) != member.crc)
    return error("has a wrong checksum");
  return output;
}

void sparse_autograd::io::writeZip(raw_ostream &stream,
                                   ArrayRef<ZipInput> members) {
  // Every size and offset is written by zip64: one way for small and large.
  support::endian::Writer writer(stream, endianness::little);
  struct Written {
    uint64_t offset;
    uint64_t size;
    uint32_t crc;
  };
  std::vector<Written> written;
  uint64_t offset = 0;
  // Version needed, flags, method, time, date (1980-01-01), checksum, sizes,
  // length of the name: common to both headers.
  auto writeCommon = [&](const ZipInput &member, uint32_t crc) {
    writer.write<uint16_t>(version64);
    writer.write<uint16_t>(0);
    writer.write<uint16_t>(methodStored);
    writer.write<uint16_t>(0);
    writer.write<uint16_t>(1 << 5 | 1);
    writer.write<uint32_t>(crc);
    writer.write<uint32_t>(elsewhere32);
    writer.write<uint32_t>(elsewhere32);
    writer.write<uint16_t>(member.name.size());
  };
  for (const ZipInput &member : members) {
    Written entry = {offset, 0, 0};
    for (StringRef piece : member.pieces) {
      entry.size += piece.size();
      entry.crc = computeCrc(piece, entry.crc);
    }
    writer.write<uint32_t>(localSignature);
    writeCommon(member, entry.crc);
    constexpr uint16_t localExtraSize = 4 + 2 * 8;
    writer.write<uint16_t>(localExtraSize);
    stream << member.name;
    writer.write<uint16_t>(extra64Id);
    writer.write<uint16_t>(localExtraSize - 4);
    writer.write<uint64_t>(entry.size);
    writer.write<uint64_t>(entry.size);
    for (StringRef piece : member.pieces)
      stream << piece;
    offset += localSize + member.name.size() + localExtraSize + entry.size;
    written.push_back(entry);
  }
  uint64_t directoryOffset = offset;
  for (auto [member, entry] : llvm::zip_equal(members, written)) {
    writer.write<uint32_t>(centralSignature);
    writer.write<uint16_t>(version64);
    writeCommon(member, entry.crc);
    constexpr uint16_t centralExtraSize = 4 + 3 * 8;
    writer.write<uint16_t>(centralExtraSize);
    writer.write<uint16_t>(0); // length of the comment
    writer.write<uint16_t>(0); // disk
    writer.write<uint16_t>(0); // internal attributes
    writer.write<uint32_t>(0); // external attributes
    writer.write<uint32_t>(elsewhere32);
    stream << member.name;
    writer.write<uint16_t>(extra64Id);
    writer.write<uint16_t>(centralExtraSize - 4);
    writer.write<uint64_t>(entry.size);
    writer.write<uint64_t>(entry.size);
    writer.write<uint64_t>(entry.offset);
    offset += centralSize + member.name.size() + centralExtraSize;
  }
  uint64_t end64 = offset;
  writer.write<uint32_t>(end64Signature);
  writer.write<uint64_t>(end64Size - 12);
  writer.write<uint16_t>(version64);
  writer.write<uint16_t>(version64);
  writer.write<uint32_t>(0); // disk
  writer.write<uint32_t>(0); // disk of the directory
  writer.write<uint64_t>(members.size());
  writer.write<uint64_t>(members.size());
  writer.write<uint64_t>(end64 - directoryOffset);
  writer.write<uint64_t>(directoryOffset);
  writer.write<uint32_t>(locator64Signature);
  writer.write<uint32_t>(0); // disk of the record
  writer.write<uint64_t>(end64);
  writer.write<uint32_t>(1); // disks
  writer.write<uint32_t>(endSignature);
  writer.write<uint16_t>(0); // disk
  writer.write<uint16_t>(0); // disk of the directory
  writer.write<uint16_t>(elsewhere16);
  writer.write<uint16_t>(elsewhere16);
  writer.write<uint32_t>(elsewhere32);
  writer.write<uint32_t>(elsewhere32);
  writer.write<uint16_t>(0); // length of the comment
}
