# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pytrees: tuples, lists and dicts of arrays, taken apart and put together."""


def flatten(tree):
    """The leaves of a tree, and its structure, which is hashable."""
    leaves = []
    return leaves, _flatten(tree, leaves)


def _flatten(tree, leaves):
    if tree is None:
        return None
    if isinstance(tree, dict):
        keys = tuple(sorted(tree))
        return dict, keys, tuple(_flatten(tree[k], leaves) for k in keys)
    if isinstance(tree, (tuple, list)):
        fields = getattr(tree, "_fields", None)
        kind = type(tree) if fields or type(tree) in (tuple, list) else tuple
        return kind, fields, tuple(_flatten(x, leaves) for x in tree)
    leaves.append(tree)
    return "*"


def unflatten(structure, leaves):
    """The tree of a structure; takes its leaves from the iterator."""
    if structure is None:
        return None
    if structure == "*":
        return next(leaves)
    kind, names, parts = structure
    parts = [unflatten(part, leaves) for part in parts]
    if kind is dict:
        return dict(zip(names, parts))
    return kind(*parts) if names else kind(parts)


def match(structure, tree):
    """The leaves of a tree of this structure, in which None stands for each part that is
    left out."""
    if structure is None:
        return []
    if structure == "*":
        return [tree]
    kind, keys, parts = structure
    if tree is None:
        children = [None] * len(parts)
    elif kind is dict:
        children = [tree.get(key) for key in keys]
    else:
        children = list(tree)
    if len(children) != len(parts):
        raise TypeError(f"{len(parts)} parts are needed, not {len(children)}")
    return [leaf for part, child in zip(parts, children) for leaf in match(part, child)]


def names(structure, name):
    """A name for each leaf: x, x[0], x['w']."""
    if structure is None:
        return []
    if structure == "*":
        return [name]
    kind, keys, parts = structure
    if kind is dict:
        labels = [f"{name}[{key!r}]" for key in keys]
    else:
        labels = [f"{name}[{i}]" for i in range(len(parts))]
    return [n for part, label in zip(parts, labels) for n in names(part, label)]
