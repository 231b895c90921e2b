#!/usr/bin/env python3
"""step_model.py [-f] DEVICE=PLAN.json... - a rough model of what a decoder step costs on a device: it reads what `lapilli plan --json`
says and nothing else. DEVICE: phone, integrated, desktop or h200. The plan is best that of a chip of this class:

    tests/lab/gpu/on adreno740 build/release/lapilli plan --shape transformer-base --batch 1 --beam 1 --dtype fp16 --json >phone.json
    tests/lab/gpu/step_model.py phone=phone.json

-f: caches are full, and attention reads them whole; without it only the loads that wait for each other count of them.

A dispatch takes what its bytes take at nine tenths of the bandwidth, or, if that is more, the turns of its workgroups: loads
that wait for those before them, times the rounds in which the device takes its workgroups; and a constant beside. It is a
model to design by, not a measurement: numbers that it gives are no claims."""
import json
import math
import sys

# GB/s; microseconds of a load that others wait for, and of a dispatch with its barrier; workgroups held at once.
DEVICES = {'phone': (60, 0.6, 15, 96), 'integrated': (80, 0.5, 6, 192), 'desktop': (500, 0.7, 3, 700),
           'h200': (4300, 0.7, 2.5, 2000)}
VECTOR = 16  # bytes of one load of an invocation


def bytes_of(command, *spaces):
    return sum(r['end'] - r['begin'] for r in command['ranges'] if r['space'] in spaces)


def loads_at_once(name, constants):
    """Loads of an invocation that do not wait for each other: of a product four depths of a column group, in fewer words
    the narrower the format is (constant 4); those that split the depth look ahead instead (shaders/matmul_split.comp)."""
    if not name.startswith('matmul'):
        return 2
    words = {0: 4, 1: 2, 2: 2}.get(constants[4] if len(constants) > 4 else 0, 1)
    return 4 if 'split1' in name else words


def turns(command):
    """Loads one behind the other in a workgroup."""
    name, constants = command['name'], command['constants']
    if name.startswith(('layer_norm', 'rms_norm')):
        return 4
    if not name.startswith(('matmul', 'attention')):
        return 5
    moved = bytes_of(command, 'weight') if name.startswith('matmul') else bytes_of(command, 'state')
    invocations = constants[0] if constants else 1
    return math.ceil(moved / command['groups'] / invocations / VECTOR / loads_at_once(name, constants))


def turns_before(command):
    """Those of a product that normalizes its rows, before it asks for weights: the rows, and what barriers cost of one."""
    return 2 if command['name'].startswith('matmul_norm') else 0


def read(command, full):
    """Bytes that count against the bandwidth."""
    if command['name'].startswith('matmul'):
        return bytes_of(command, 'weight')
    return bytes_of(command, 'state') if full and command['name'].startswith('attention') else 0


def step(plan, full, bandwidth, latency, overhead, slots):
    """Microseconds, bytes that count and dispatches of a step."""
    time = moved = 0.0
    for command in plan['commands']:
        size = read(command, full)
        waits = math.ceil(command['groups'] / slots) * turns(command) * latency
        time += turns_before(command) * latency + max(size / (0.9 * bandwidth * 1e3), waits) + overhead
        moved += size
    return time, moved, len(plan['commands'])


def main():
    full = sys.argv[1:2] == ['-f']
    plans = sys.argv[2 if full else 1:]
    if not plans or any('=' not in a for a in plans):
        print(__doc__, file=sys.stderr)
        return 2
    for argument in plans:
        device, path = argument.split('=', 1)
        if device not in DEVICES:
            print(f"step_model.py: {device} is none of {', '.join(DEVICES)}", file=sys.stderr)
            return 2
        with open(path, encoding='utf-8') as f:
            plan = json.load(f)
        time, moved, dispatches = step(plan, full, *DEVICES[device])
        share = 100 * moved / DEVICES[device][0] / 1e3 / time
        print(f'{device:11s} {time / 1e3:6.2f} ms, {dispatches} dispatches, {share:3.0f} % of the bandwidth: {plan["title"]}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
