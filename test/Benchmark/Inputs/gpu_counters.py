"""Compares what a step asks of a GPU with a table: gpu_counters.py TABLE RESULTS [--update]

RESULTS is what measure.py --count --json has written. The table has a line for
each launch of a step, and one for all of it. A sum that rises is an error, with the
launches that rose; one that falls is said, and --update writes the new table.
"""

import json
import sys

COLUMNS = ("requests", "sectors", "l2", "dram", "shared", "conflicts", "atomics",
           "instructions")
HEAD = """\
# What a step of each program of benchmark/gpu asks of a GPU at the size "tiny": counted
# on the emulator, with the model of the caches of an H100 (docs/emulator.md). A ratchet:
# sums may fall, and none may rise. Written by
#   gpu_counters.py gpu-counters.txt results.json --update
# of results of measure.py --device=emulated --count --json=results.json.
"""


def numbers_of(launch):
    counted, model = launch["counted"], launch["model"]
    return (counted["global_requests"], counted["global_sectors"],
            model["l2_read_sectors"] + model["l2_write_sectors"],
            model["dram_read_sectors"] + model["dram_write_sectors"],
            counted["shared_wavefronts"], counted["shared_conflicts"],
            counted["atomic_requests"], counted["warp_instructions"])


def read_results(path):
    with open(path, encoding="utf-8") as file:
        results = json.load(file)
    return {f"{c['kernel']} {c['graph']}".strip().replace(" ", "/"):
            [(launch["kernel"], numbers_of(launch)) for launch in c["launches"]]
            for c in results["counted"]}


def sums_of(launches):
    return (len(launches), *(sum(column) for column in zip(*(n for _, n in launches))))


def read_table(path):
    table = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if len(words) == 2 + len(COLUMNS):
                program, kernel, *numbers = words
                table.setdefault(program, []).append((kernel, tuple(map(int, numbers))))
    return table


def write_table(path, results):
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD + f"# {'program':24} {'kernel':20} "
                   + " ".join(f"{c:>12}" for c in COLUMNS) + "\n")
        for program, launches in results.items():
            for kernel, numbers in launches:
                file.write(f"{program:26} {kernel:20} "
                           + " ".join(f"{n:12}" for n in numbers) + "\n")


def compare(table, results):
    """What rose, and what fell, each as text."""
    rose, fell = [], []
    for program in sorted(table.keys() | results.keys()):
        if program not in results:
            rose.append(f"{program}: was not counted")
            continue
        if program not in table:
            rose.append(f"{program}: is not in the table")
            continue
        before, after = sums_of(table[program]), sums_of(results[program])
        for i, name in enumerate(("launches", *COLUMNS)):
            if after[i] == before[i]:
                continue
            where = ""
            if i and len(table[program]) == len(results[program]):
                where = ": " + ", ".join(
                    f"launch {j} ({new[0]}) {old[1][i - 1]} -> {new[1][i - 1]}"
                    for j, (old, new) in enumerate(zip(table[program], results[program]))
                    if old[1][i - 1] != new[1][i - 1])
            text = f"{program}: {name} {before[i]} -> {after[i]}{where}"
            (rose if after[i] > before[i] else fell).append(text)
    return rose, fell


def main():
    table, results = sys.argv[1], read_results(sys.argv[2])
    if "--update" in sys.argv[3:]:
        write_table(table, results)
        return
    rose, fell = compare(read_table(table), results)
    for text in fell:
        print(f"fell: {text}")
    for text in rose:
        print(f"rose: {text}")
    print(f"{len(results)} programs counted, {len(rose)} sums rose, {len(fell)} fell")
    if rose:
        sys.exit(1)


if __name__ == "__main__":
    main()
