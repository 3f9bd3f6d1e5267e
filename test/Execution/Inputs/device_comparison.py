# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program gives on the CPU and on a device, which has to be the same."""

from execution import Program, same_bits


class Comparison:
    """A program on the CPU, and the same one on a device; what the first gives
    is what the second has to give."""

    def __init__(self, name):
        self.host = Program(f"{name}_host", 0, threads=1)
        self.device = Program(f"{name}_device", 1, threads=1,
                              pipeline="target=gpu emulate=true")
        self.programs = [self.host, self.device]

    def entry(self, *arguments):
        for program in self.programs:
            program.entry(*arguments)

    def call(self, entry, arguments, label, check=lambda *results: None):
        expected = []

        def keep(*results):
            expected.extend(results)
            check(*results)
            return 1

        def compare(*results):
            assert len(results) == len(expected)
            return sum(same_bits(a, b, str(number)) for number, (a, b) in
                       enumerate(zip(results, expected)))

        self.host.call(entry, arguments, keep, label)
        self.device.call(entry, arguments, compare, label)

    def fail(self, entry, arguments, message, label=""):
        for program in self.programs:
            program.call(entry, arguments, message, label)
