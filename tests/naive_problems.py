"""Slow, plain definitions of the problems, from the published formulas: one pattern at a time, on Python integers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def every_pattern(n: int) -> np.ndarray:
    """All rows of n bits: column i of row r is bit i of r."""
    return np.array([digits(row, n) for row in range(2**n)], dtype=bool)


def number(bits: Sequence[int]) -> int:
    return sum(bit << i for i, bit in enumerate(bits))


def digits(value: int, n: int) -> list[int]:
    return [(value >> i) & 1 for i in range(n)]


def add(row: Sequence[int]) -> list[int]:
    n = len(row) // 2
    return digits((number(row[:n]) + number(row[n:])) % 2**n, n)


def sub(row: Sequence[int]) -> list[int]:
    n = len(row) // 2
    return digits((number(row[:n]) - number(row[n:])) % 2**n, n)


def cmux(row: Sequence[int]) -> list[int]:
    n = (len(row) + 1) // 2
    data, select = row[:n], row[n:]
    out = [data[1] if select[0] else data[0]]
    for i in range(1, n - 1):
        out.append(data[i + 1] if select[i] else out[i - 1])
    return out


def cmaj(row: Sequence[int]) -> list[int]:
    return [int(sum(row[: 2 * i + 1]) > (2 * i + 1) / 2) for i in range((len(row) + 1) // 2)]


def cpar(row: Sequence[int]) -> list[int]:
    return [sum(row[: i + 1]) % 2 for i in range(len(row))]


def alu74181(row: Sequence[int]) -> list[int]:
    m, s0, s1, s2, s3, *rest = row
    a, b, cn = rest[:4], rest[4:8], rest[8]
    e = [int(not (a[i] or (b[i] and s0) or (not b[i] and s1))) for i in range(4)]
    d = [int(not ((not b[i] and s2 and a[i]) or (a[i] and b[i] and s3))) for i in range(4)]
    x = [e[i] ^ d[i] for i in range(4)]
    c = [
        not (not m and cn),
        not ((not m and e[0]) or (not m and d[0] and cn)),
        not ((not m and e[1]) or (not m and e[0] and d[1]) or (not m and d[1] and d[0] and cn)),
        not (
            (not m and e[2])
            or (not m and e[1] and d[2])
            or (not m and e[0] and d[2] and d[1])
            or (not m and d[2] and d[1] and d[0] and cn)
        ),
    ]
    f = [x[i] ^ int(c[i]) for i in range(4)]
    big_x = not (d[0] and d[1] and d[2] and d[3])
    y = not (e[3] or (e[2] and d[3]) or (e[1] and d[3] and d[2]) or (e[0] and d[3] and d[2] and d[1]))
    carry_out = not y or (d[0] and d[1] and d[2] and d[3] and cn)
    return [*f, int(all(f)), int(big_x), int(bool(carry_out)), int(y)]


def mammalian(row: Sequence[int]) -> list[int]:
    cyc_d, rb, e2f, cyc_e, cyc_a, p27, cdc20, cdh1, ubc, cyc_b = map(bool, row)
    out = [
        not cyc_d and not cyc_b and (p27 or (not cyc_e and not cyc_a)),
        not rb and not cyc_b and (p27 or not cyc_a),
        e2f and not rb,
        not rb and not cdc20 and not (cdh1 and ubc) and (e2f or cyc_a),
        not cyc_d and not cyc_b and ((not cyc_e and not cyc_a) or (p27 and not (cyc_e and cyc_a))),
        cyc_b,
        cdc20 or (not cyc_b and (p27 or not cyc_a)),
        not cdh1 or (ubc and (cdc20 or cyc_a or cyc_b)),
        not cdc20 and not cdh1,
    ]
    return [int(value) for value in out]


def fabrca(row: Sequence[int]) -> list[int]:
    (icl, fancm, facore, fancd2i, mus81, fancj, xpf, fan1, add_, dsb, pcna, mrn, brca1, ssdna, fancd1n, rad51, hrr,
     usp1, ku, dnapk, nhej, atr, atm, p53, chk1, chk2, h2ax, chkrec) = map(bool, row)  # fmt: skip
    out = [
        icl and not dsb,
        icl and not chkrec,
        fancm and (atm or atr) and not chkrec,
        facore and (atm or atr or (dsb and h2ax)) and not usp1,
        icl,
        (ssdna or icl) and (atm or atr),
        (mus81 and p53 and not (facore and fan1 and fancd2i)) or (mus81 and not fancm),
        mus81 and fancd2i,
        (add_ or (mus81 and (fan1 or xpf))) and not pcna,
        (dsb or fan1 or xpf) and not (nhej or hrr),
        add_ and not (usp1 or fan1),
        dsb and atm and not ((ku and fancd2i) or rad51 or chkrec),
        dsb and (atm or chk2 or atr) and not chkrec,
        dsb and ((fancd2i and fancj) or mrn) and not (rad51 or ku),
        (ssdna and brca1) or (fancd2i and ssdna and not chkrec),
        ssdna and fancd1n and not chkrec,
        dsb and rad51 and fancd1n and brca1 and not chkrec,
        ((fancd1n and fancd2i) or pcna) and not fancm,
        dsb and not (mrn or fancd2i or chkrec),
        dsb and ku and not chkrec,
        (dsb and dnapk and ku and not (atm and atr)) or (dsb and dnapk and xpf and not ((fancj and ssdna) or chkrec)),
        (ssdna or fancm or atm) and not chkrec,
        (atr or dsb) and not chkrec,
        ((atm and chk2) or (atr and chk1) or dnapk) and not chkrec,
        (atm or atr or dnapk) and not chkrec,
        (atm or atr or dnapk) and not chkrec,
        dsb and (atm or atr or dnapk) and not chkrec,
        ((pcna or nhej or hrr) and not dsb) or not (nhej or icl or pcna or hrr or dsb or chkrec or add_),
    ]
    return [int(value) for value in out]


def yeast(row: Sequence[int]) -> list[int]:
    start, sk, cdc2, ste9, rum1, slp1, cdc2_active, wee1, cdc25, pp = row

    def threshold(total: int, present: int) -> int:
        return 1 if total > 0 else 0 if total < 0 else present

    return [
        0,
        start,
        int(not (ste9 or rum1 or slp1)),
        threshold(pp - sk - cdc2 - cdc2_active, ste9),
        threshold(pp - sk - cdc2 - cdc2_active, rum1),
        cdc2_active,
        int(not (ste9 or rum1 or slp1 or wee1) and cdc25),
        threshold(pp - cdc2, wee1),
        threshold(cdc2 - pp, cdc25),
        slp1,
    ]


def crc4(row: Sequence[int]) -> list[int]:
    """Remainder of the message times x^4 by x^4 + x + 1, by long division; the first bit is the highest power."""
    left = [*row, 0, 0, 0, 0]
    for place in range(len(row)):
        if left[place]:
            for power in (0, 3, 4):
                left[place + power] ^= 1
    return left[:-5:-1]


def gray2bin6(row: Sequence[int]) -> list[int]:
    return digits(next(value for value in range(64) if value ^ value >> 1 == number(row)), 6)


def bin2gray6(row: Sequence[int]) -> list[int]:
    return digits(number(row) ^ number(row) >> 1, 6)


def popcount7(row: Sequence[int]) -> list[int]:
    return digits(sum(row), 3)


def comparator5(row: Sequence[int]) -> list[int]:
    a, b = number(row[:5]), number(row[5:])
    return [int(a < b), int(a == b), int(a > b)]


def mul3(row: Sequence[int]) -> list[int]:
    return digits(number(row[:3]) * number(row[3:]), 6)


def mul4(row: Sequence[int]) -> list[int]:
    return digits(number(row[:4]) * number(row[4:]), 8)


def counter6(row: Sequence[int]) -> list[int]:
    return digits((number(row[:6]) + row[6]) % 64, 6)


def encoder8(row: Sequence[int]) -> list[int]:
    highest = max((place for place, bit in enumerate(row) if bit), default=0)
    return [*digits(highest, 3), int(any(row))]


def hamming7(row: Sequence[int]) -> list[int]:
    syndrome = 0
    for place, bit in enumerate(row, start=1):
        syndrome ^= place * bit
    return digits(syndrome, 3)


def sym9(row: Sequence[int]) -> list[int]:
    return [int(sum(row) >= 3), int(sum(row) <= 6), int(sum(row) in (3, 4, 5, 6))]


def johnson6(row: Sequence[int]) -> list[int]:
    *state, up = row
    return [1 - state[-1], *state[:-1]] if up else [*state[1:], 1 - state[0]]


def traffic(row: Sequence[int]) -> list[int]:
    state, waiting_a, waiting_b, over = number(row[:2]), *row[2:]
    stays = (state == 0 and not (waiting_b and over)) or (state == 2 and not (waiting_a and over))
    after = state if stays else (state + 1) % 4
    first, second = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 1)], [(0, 0, 1), (0, 0, 1), (1, 0, 0), (0, 1, 0)]
    return [*digits(after, 2), *first[state], *second[state]]


def lfsr8(row: Sequence[int]) -> list[int]:
    return [(row[8 - 1] + row[6 - 1] + row[5 - 1] + row[4 - 1]) % 2, *row[:-1]]


def sorter5(row: Sequence[int]) -> list[int]:
    return sorted(row, reverse=True)


def abs6(row: Sequence[int]) -> list[int]:
    return digits(abs(number(row) - 64 * row[5]), 6)


def hex2seven(row: Sequence[int]) -> list[int]:
    lit = [
        "abcdef",
        "bc",
        "abdeg",
        "abcdg",
        "bcfg",
        "acdfg",
        "acdefg",
        "abc",
        "abcdefg",
        "abcdfg",
        "abcefg",
        "cdefg",
        "adef",
        "bcdeg",
        "adefg",
        "aefg",
    ]
    return [int(segment in lit[number(row)]) for segment in "abcdefg"]


def decoder4(row: Sequence[int]) -> list[int]:
    return [int(row[3] and number(row[:3]) == k) for k in range(8)]


def saturating4(row: Sequence[int]) -> list[int]:
    return digits(min(number(row[:4]) + number(row[4:]), 15), 4)
