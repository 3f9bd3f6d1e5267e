# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and poolings, with strides and dilations."""

import numpy as np

from convolutions import CONVOLUTIONS, POOLINGS, windows_of
from language import Kind, Step, Value
from linalg_kinds import fold, outs


class Windows(Kind):
    """A named op with windows; the reference reduces the elements that they
    show."""

    def __init__(self, op, layout):
        self.name, self.layout = "linalg." + op, layout
        self.windows = windows_of(layout)
        self.pooling = op[-3:] if op.startswith("pooling") else None
        # Those of an image alone have no attributes.
        self.plain = len(layout[0]) == len(self.windows)

    def draw(self, g):
        image, kernel, output = self.layout
        axes = [image.index(w) for w in self.windows]
        x = g.value(rank=len(image),
                    where=lambda v: all(v.shape[a] > 0 for a in axes))
        if x is None:
            return None
        extents, strides, dilations = {}, [], []
        for letter, n in zip(image, x.shape):
            if not letter.isupper():
                extents[letter] = n
                continue
            dilations.append(1 if self.plain else g.rng.choice((1, 1, 1, 2)))
            strides.append(1 if self.plain else g.rng.choice((1, 1, 2, 3)))
            most = (n - 1) // dilations[-1] + 1
            extents[letter] = g.rng.randint(1, min(3, most))
            seen = (extents[letter] - 1) * dilations[-1] + 1
            extents[letter.lower()] = (n - seen) // strides[-1] + 1
        for letter in kernel:
            # Channels that the image does not have.
            extents.setdefault(letter, g.rng.choice((0, 1, 1, 2, 2, 3, 4)))
        window = tuple(extents[l] for l in kernel)
        shape = tuple(extents[l] for l in output)
        if np.prod(shape) * np.prod(window) > 20000:
            return None
        operands = [x]
        if not self.pooling:
            operands.append(g.value(x.element, window))
        into = (g.value(x.element, shape) if self.pooling in ("max", "min") else
                outs(g, x.element, shape))
        return Step(self, operands + ([into] if into else []),
                    [Value(x.element, shape)],
                    {"strides": strides, "dilations": dilations,
                     "window": window, "inputs": len(operands)})

    def text(self, p, step):
        at, result = step.attributes, step.results[0]
        inputs = step.operands[:at["inputs"]]
        types = [p.type(v) for v in inputs]
        names = [v.name for v in inputs]
        into = (step.operands[-1].name if len(step.operands) > len(inputs) else
                p.filled(result.shape, result.element, "0.0", inputs))
        if self.pooling:
            names.append(p.empty(at["window"], result.element))
            types.append(p.of(at["window"], result.element))
        rank, lists = len(self.windows), ""
        if not self.plain:
            lists = "{" + ", ".join(
                f"{name} = dense<{at[name]}> : tensor<{rank}xi64>"
                for name in ("dilations", "strides")) + "} "
        type_ = p.type(result)
        p.line(f"{p.declare(result)} = {self.name} {lists}"
               f"ins({', '.join(names)} : {', '.join(types)}) "
               f"outs({into} : {type_}) -> {type_}")

    def evaluate(self, tape, step, operands, env):
        image, kernel, output = self.layout
        at, n = step.attributes, step.attributes["inputs"]
        into = operands[n] if len(operands) > n else None
        window = dict(zip(kernel, at["window"]))
        extents = dict(zip(output, step.results[0].shape))

        def seen(positions):
            # Each dimension that windows move over becomes two.
            for axis in reversed(range(len(image))):
                letter = image[axis]
                if letter.isupper():
                    i = self.windows.index(letter)
                    steps = np.arange(extents[letter.lower()])
                    inside = np.arange(window[letter])
                    positions = np.take(
                        positions, at["strides"][i] * steps[:, None] +
                        at["dilations"][i] * inside, axis=axis)
            return positions

        parts = tape.move(seen, operands[0])
        letters = "".join(l.lower() + l if l.isupper() else l for l in image)
        if self.pooling in ("max", "min"):
            return [fold(tape, self.pooling + "imumf", parts, letters, output,
                         into)]
        if self.pooling:
            return [tape.contract(f"{letters}->{output}", [parts], into)]
        return [tape.contract(f"{letters},{kernel}->{output}",
                              [parts, operands[1]], into)]


KINDS = [Windows(op, CONVOLUTIONS[op]) for op in (
    "conv_1d", "conv_1d_nwc_wcf", "conv_2d", "conv_2d_nhwc_hwcf",
    "conv_2d_nchw_fchw", "depthwise_conv_2d_nhwc_hwc")] + [
        Windows(op, POOLINGS[op]) for op in (
            "pooling_nwc_sum", "pooling_nhwc_sum", "pooling_nwc_max",
            "pooling_nhwc_max", "pooling_nchw_max", "pooling_nhwc_min")]
