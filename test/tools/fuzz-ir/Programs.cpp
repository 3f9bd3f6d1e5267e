//===- Programs.cpp - programs that mutants are made of -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <map>
#include <set>

using namespace llvm;

namespace {
/// What begins at the start of a line: an alias, or an op with a symbol.
struct Item {
  std::string text;
  std::string symbol;
};
} // namespace

static StringRef getSymbol(StringRef text) {
  return text.substr(text.find('@')).drop_front().take_while([](char c) {
    return isAlnum(c) || c == '_' || c == '$' || c == '.';
  });
}

/// The items of a part of a file. Lines that are indented, or close something,
/// belong to the item before.
static std::vector<Item> getItems(StringRef part) {
  std::vector<Item> items;
  for (StringRef line : split(part, '\n')) {
    line = line.take_front(std::min(line.find("//"), line.size())).rtrim();
    if (line.empty())
      continue;
    bool continues =
        isSpace(line.front()) || StringRef("})]>^").contains(line.front());
    if (items.empty() || !continues)
      items.emplace_back();
    items.back().text += line.str() + "\n";
  }
  for (Item &item : items) {
    StringRef text = item.text;
    if (text.front() != '#' && text.front() != '!' &&
        text.take_until([](char c) { return c == '\n'; }).contains('@'))
      item.symbol = getSymbol(text).str();
  }
  return items;
}

void sparse_autograd::fuzz::addPrograms(StringRef text,
                                        std::vector<std::string> &programs) {
  // Larger ones take longer than they are worth.
  constexpr size_t largest = 6000;
  SmallVector<StringRef> parts;
  text.split(parts, "// -----");
  for (StringRef part : parts) {
    std::vector<Item> items = getItems(part);
    std::string aliases;
    std::map<std::string, const Item *> symbols;
    for (const Item &item : items) {
      if (StringRef("#!").contains(item.text.front()))
        aliases += item.text;
      if (!item.symbol.empty())
        symbols[item.symbol] = &item;
    }
    for (const Item &root : items) {
      if (StringRef("#!").contains(root.text.front()))
        continue;
      std::set<const Item *> needed{&root};
      SmallVector<const Item *> worklist{&root};
      while (!worklist.empty()) {
        StringRef body = worklist.pop_back_val()->text;
        for (size_t at = body.find('@'); at != StringRef::npos;
             at = body.find('@', at + 1)) {
          auto found = symbols.find(getSymbol(body.drop_front(at)).str());
          if (found != symbols.end() && needed.insert(found->second).second)
            worklist.push_back(found->second);
        }
      }
      std::string program = aliases;
      for (const Item &item : items)
        if (needed.count(&item))
          program += item.text;
      if (program.size() <= largest)
        programs.push_back(std::move(program));
    }
  }
}
