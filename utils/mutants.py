# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutants of sources in C++: what mistakes could be in a line of code, and where.
mutate.py tests them."""

import collections
import os
import random
import re

# Of a rule: what it is called, what it finds in a line of code, and what it
# puts in its place. Each place is a mutant.
CHANGES = [
    ("sign", r"(?<=return )-(?=[\w(])", ""),
    ("sign", r"(?<=return )(?=(?:sin|cos|sinh|cosh|exp|y|x|ln2|two)\b[^;]*;)",
     "-"),
    ("sign", r"(?<=[\w)] )\+(?= [\w(])(?!.*\")", "-"),
    ("sign", r"(?<=[\w)] )-(?= [\w(])(?!.*\")", "+"),
    ("factor", r"(?<=[\w)] )\*(?= [\w(])(?!\*)", "/"),
    ("factor", r"(?<=[\w)] )/(?= [\w(])", "*"),
    ("operation", r"\bAdd([FI])Op::create\b", r"Sub\1Op::create"),
    ("operation", r"\bSub([FI])Op::create\b", r"Add\1Op::create"),
    ("operation", r"\bMul([FI])Op::create\b", r"Add\1Op::create"),
    ("operation", r"\bDivFOp::create\b", "MulFOp::create"),
    ("operation", r"\bAndIOp\b", "OrIOp"),
    ("operation", r"\b(?:X)?OrIOp\b", "AndIOp"),
    ("operation", r"\bMinSIOp\b", "MaxSIOp"),
    ("predicate", r"(?<=Predicate::)OEQ\b", "ONE"),
    ("predicate", r"(?<=Predicate::)UNO\b", "ORD"),
    ("predicate", r"(?<=Predicate::)eq\b", "ne"),
    ("predicate", r"(?<=Predicate::)ne\b", "eq"),
    ("predicate", r"(?<=Predicate::)sgt\b", "sge"),
    ("flag", r"(?<=\*/)true\b", "false"),
    ("flag", r"(?<=\*/)false\b", "true"),
    ("negation", r"\bif \((?!auto|Value|!|llvm::isa|failed)", "if (!("),
    ("negation", r"\bif \(!(?=\w)", "if ("),
    ("comparison", r" == (?!.*\")", " != "),
    ("comparison", r" != (?!.*\")", " == "),
    ("comparison", r"(?<=\w) < (?=\w)", " <= "),
    ("logic", r" && (?!.*\")", " || "),
    ("logic", r" \|\| (?!.*\")", " && "),
    ("off by one", r"(?<=[\[(, ])0(?=[\]),;])(?!.*\")", "1"),
    ("off by one", r"(?<=[\[(, ])1(?=[\]),;])(?!.*\")", "0"),
    ("operand", r"\bgetLhs\(\)", "getRhs()"),
    ("operand", r"\bgetRhs\(\)", "getLhs()"),
    ("operand", r"\bgetTrueValue\(\)", "getFalseValue()"),
    ("operand", r"\bgetFalseValue\(\)", "getTrueValue()"),
    ("operand", r"\bpartials\((\w+), (\w+)\)", r"partials(\2, \1)"),
    ("operand", r"(?<=SubFOp::create|SubIOp::create|DivFOp::create)"
     r"\((.*), ([\w.\[\]]+), ([\w.\[\]]+)\);", r"(\1, \3, \2);"),
    ("operand", r"\b(share\w+)\((\w+), (\w+), ", r"\1(\3, \2, "),
    ("support", r", support\)", ", Support())"),
    ("support", r"\bintersectSupports\(", "uniteSupports("),
    ("support", r"\buniteSupports\(", "intersectSupports("),
    ("reach", r"\bReach::Part\b", "Reach::Whole"),
    ("reach", r"\bReach::Whole\b", "Reach::Part"),
    ("reach", r"\bReach::Nowhere\b", "Reach::Whole"),
    ("map", r"\bfullMap\b(?! =)", "reducedMap"),
    ("map", r"\breducedMap\b(?! =)", "fullMap"),
    ("map", r"\bmaskMap\b(?! =)", "fullMap"),
    ("bound", r"\bgetLowerBound\(\)", "getUpperBound()"),
    ("bound", r"\bgetUpperBound\(\)", "getLowerBound()"),
    ("statement",
     r"^(\s+)(?!return|using|auto |if|for|else|case|break|static|const |}|//|"
     r"[A-Z]\w*(?:<[^;]*>)? \w+[ ;=(])"
     r"([\w.:>-]+(?:\([^;]*\)|[^;=(]* [+|&]?= [^;]*));$", r"\1;"),
    # One that goes on in the next lines.
    ("statement", r"^(\s+)(?=[a-z]\w*(?:(?:\.|->)\w+)*\([^;{}]*$)",
     r"\1if (false) "),
]
# Beside these, what only the sources of sparse tensors are full of.
SPARSE_CHANGES = [
    ("answer", r"\breturn true;", "return false;"),
    ("answer", r"\breturn false;", "return true;"),
    ("answer", r"\breturn success\(\);", "return failure();"),
    ("quantifier", r"\bany_of\(", "all_of("),
    ("quantifier", r"\ball_of\(", "any_of("),
    ("quantifier", r"\bnone_of\(", "any_of("),
    ("jump", r"\bcontinue;", "break;"),
    ("jump", r"\bbreak;", "continue;"),
    ("predicate", r"(?<=Predicate::)ult\b", "ule"),
    ("predicate", r"(?<=Predicate::)slt\b", "sle"),
    ("predicate", r"(?<=Predicate::)UNE\b", "ONE"),
    ("end", r"\.front\(\)", ".back()"),
    ("end", r"\.back\(\)", ".front()"),
    ("place", r"\belseBlock\(\)", "thenBlock()"),
    ("place", r"\.drop_back\(\)", ""),
    ("choice", r" \? ([\w.()]+) : ([\w.()]+)(?=[;,)])", r" ? \2 : \1"),
    ("condition", r"\bif \((?=auto |Value |llvm::isa|isa)(.*)\)$",
     r"if (false)"),
    ("condition", r"\bif \(!?(?:llvm::)?isa<.*\)$", r"if (true)"),
]

# What declares a value, without which nothing compiles.
DECLARATION = re.compile(r"^\s+[\w:<>, ]+[ *&]+\w+ = ")

# What says how a rule is tested, and what is not about results.
UNTOUCHED = (".checkedOn", ".kink", "reserve(", "llvm_unreachable", "assert(")


class Mutant:
    def __init__(self, number, path, line, change, old, new):
        self.number, self.path, self.line = number, path, line
        self.change, self.old, self.new = change, old, new

    def name(self):
        return os.path.splitext(os.path.basename(self.path))[0]

    def __str__(self):
        return (f"{self.number}\t{self.path}:{self.line + 1}\t{self.change}\t"
                f"{self.old.strip()}  ->  {self.new.strip()}")


def _is_code(line):
    text = line.strip()
    return (bool(text) and not text.startswith(("//", "#", "*")) and
            not any(word in line for word in UNTOUCHED))


def _files(tree, sources):
    for source in sources:
        path = os.path.join(tree, source)
        if os.path.isdir(path):
            yield from (os.path.join(source, name)
                        for name in sorted(os.listdir(path))
                        if name.endswith(".cpp"))
        else:
            yield source


def find(tree, sources, changes):
    """All mutants of some files and folders of a checkout, numbered; a change
    that makes no difference is none."""
    found = []
    for path in _files(tree, sources):
        with open(os.path.join(tree, path), encoding="utf-8") as file:
            lines = file.read().split("\n")
        before, seen = ";", set()
        for at, line in enumerate(lines):
            starts, before = _ends(before), line if _is_code(line) else before
            if not _is_code(line):
                continue
            for change, pattern, replacement in changes:
                if change == "statement" and (not starts or
                                              DECLARATION.match(line)):
                    continue
                for match in re.finditer(pattern, line):
                    new = (line[:match.start()] + match.expand(replacement) +
                           line[match.end():])
                    if change == "negation" and "if (!(" in new and (
                            "if (!(" not in line):
                        # The parenthesis that the condition ends with.
                        end = _closing(new, new.index("if (!(") + 3)
                        if end is None:
                            continue
                        new = new[:end + 1] + ")" + new[end + 1:]
                    if new != line and (at, new) not in seen:
                        seen.add((at, new))
                        found.append(Mutant(len(found), path, at, change, line,
                                            new))
    return found


def _ends(line):
    """Whether a statement ends with a line."""
    return line.split("//")[0].strip().endswith((";", "{", "}", ":", ")")) and (
        not line.strip().endswith(","))


def _closing(text, start):
    """Where the parenthesis at `start` is closed, the one that the mutant opens
    not counted; None if not in this line."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 1 and text[i] == ")" and i > start:
            return i
    return None


def sample(mutants, count, seed):
    """The first `count` in an order that is random within a file and has the
    same share of all files at any time."""
    rng = random.Random(seed)
    files = collections.defaultdict(list)
    for mutant in mutants:
        files[mutant.path].append(mutant)
    order = []
    for path in sorted(files):
        rng.shuffle(files[path])
        order += [((rank + rng.random()) / len(files[path]), mutant.number)
                  for rank, mutant in enumerate(files[path])]
    return [mutants[number] for _, number in sorted(order)[:count]]
