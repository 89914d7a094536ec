"""How the texts of a column are read as numbers or dates: decimal signs, thousands, units, order of day and month.

A column has one reading, found on the rows that are learned from and kept in the model, so that new rows are read alike.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from gradus._core.cells import MISSING, number_in, number_pattern

__all__ = [
    "DAY_FORMATS", "PLAIN", "Reading", "date_in", "day_formats", "has_two_readings", "is_word_for_missing",
    "looks_like_dates", "number_reading", "read_number",
]  # fmt: skip

WORDS = frozenset(
    ("-", "--", "---", "–", "—", ".", "..", "...", "*", "na", "n.a.", "n.a", "nan", "nil", "none", "null", "unknown",
     "unk", "missing", "not available", "not applicable", "not known", "no data", "blank", "empty", "tbd", "tba")
)  # fmt: skip
"""Texts among numbers or dates that mean a missing value, in small letters."""
CURRENCIES = (
    "$", "€", "£", "¥", "₹", "us$", "usd", "eur", "gbp", "jpy", "chf", "cad", "aud", "inr", "cny", "sek", "nok", "dkk",
)  # fmt: skip
SIGN = r"[+\-−]?"
BEFORE = r"(?:US\$|[$€£¥₹]|[A-Z]{3}(?= ?[0-9+−-]))"
AFTER = r"(?:US\$|[%‰$€£¥₹]|°?[A-Za-zµ°][A-Za-z0-9µ²³°/.]{0,11})"
WRITTEN = re.compile(
    rf"(?P<open>\()? ?(?P<sign>{SIGN}) ?(?P<before>{BEFORE})? ?(?P<inner>{SIGN})"
    rf"(?P<body>[0-9][0-9.,' ]*+|[.,][0-9]++)(?P<power>[eE][+-]?[0-9]{{1,3}}(?![0-9A-Za-z]))? ?"
    rf"(?P<after>{AFTER})?(?P<close>\))?"
)
LONGEST = 40  # characters of a number with its unit
BLANKS = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "’": "'"})
LARGE = 1000.0

DATE = re.compile(r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}(?:[T ][0-9:.]+(?:Z|[+-][0-9:]+)?)?")
TIME = re.compile(r"(?P<h>[0-9]{1,2}):(?P<m>[0-5][0-9])(?::(?P<s>[0-5][0-9](?:\.[0-9]*)?))?(?:Z|[+-][0-9:]+)?")
DAY_FORMATS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")


class Reading(NamedTuple):
    """How the texts of a column are numbers, or dates."""

    comma: str = ""
    """What commas in numbers are: ``"decimal"`` (a point then separates thousands), ``"thousands"``, or nothing."""
    unit: str = ""
    """Texts before or after the numbers, in small letters."""
    day_format: str = ""
    """How days are written, as for ``strptime``."""


PLAIN = Reading()


class _Written(NamedTuple):
    """A text that may be a number: its digits and signs, and the text around them."""

    sign: str
    body: str
    unit: str


def is_word_for_missing(text: str) -> bool:
    """Return whether a text among numbers or dates means a missing value."""
    return text in MISSING or text.strip().casefold() in WORDS


def _written(text: str) -> _Written | None:
    """Split a text into its parts; None if it does not look like a number with one unit."""
    found = WRITTEN.fullmatch(text.translate(BLANKS)) if len(text) <= LONGEST else None
    if found is None or (found["open"] is None) != (found["close"] is None):
        return None
    if (found["sign"] or found["open"]) and found["inner"]:
        return None
    units = [part.casefold() for part in (found["before"], found["after"]) if part]
    if len(units) > 1 or (found["before"] and units[0] not in CURRENCIES):
        return None
    minus = bool(found["open"]) or (found["sign"] or found["inner"]) in ("-", "−")
    body = _without_gaps(found["body"].rstrip(" ")) + (found["power"] or "")
    return _Written("-" if minus else "", body, units[0] if units else "")


def _without_gaps(body: str) -> str:
    """Remove blanks and apostrophes between thousands."""
    for gap in (" ", "'"):
        head, *groups = body.split(gap)
        if groups and 1 <= len(head) <= 3 and all(re.match(r"[0-9]{3}(?![0-9])", group) for group in groups):
            body = head + "".join(groups)
    return body


POINT, COMMA = re.compile(number_pattern(".", ",")), re.compile(number_pattern(",", "."))
THOUSANDS = re.compile(r"[1-9][0-9]{0,2}(?:[.,][0-9]{3})++")


def _is_number(body: str) -> bool:
    return bool(POINT.fullmatch(body) or COMMA.fullmatch(body))


def read_number(text: str, reading: Reading) -> float:
    """Return the number that a text is, as its column is read; NaN if it is none."""
    if "." not in text or reading.comma != "decimal":  # where commas are decimal, 1.200 is a large number
        number = number_in(text)
        if number is not None:
            return number
    written = _written(text.strip())
    if written is None or written.unit not in ("", reading.unit):
        return math.nan
    decimal = reading.comma == "decimal"
    if not (COMMA if decimal else POINT).fullmatch(written.body) or ("," in written.body and not reading.comma):
        return math.nan
    plain = written.body.replace(".", "").replace(",", ".") if decimal else written.body.replace(",", "")
    return float(written.sign + plain)


def number_reading(texts: Sequence[str]) -> tuple[Reading, tuple[str, str] | None]:
    """Return how texts are read as numbers, and two of them that contradict each other, if there are such."""
    found = {text: written for text in texts if (written := _written(text)) is not None and _is_number(written.body)}
    units = _first_with(found, lambda written: written.unit)
    unit, contradiction = "", None
    if len(units) == 1:
        (unit,) = units
        written_out = sum(bool(written.unit) for written in found.values())
        unit = unit if _is_well_known(unit) or 2 * written_out > len(found) else ""  # "5more" is no number of mores
    elif len(units) > 1 and all(_is_well_known(text) for text in units):
        contradiction = tuple(list(units.values())[:2])
    bodies = [written.body for written in found.values() if written.unit in ("", unit)]
    comma = _meaning_of_commas(bodies, unit)
    if comma == "both":
        by_body = {written.body: text for text, written in found.items()}
        point = next(body for body in bodies if POINT.fullmatch(body) and not COMMA.fullmatch(body))
        other = next(body for body in bodies if COMMA.fullmatch(body) and not POINT.fullmatch(body))
        comma, contradiction = "", (by_body[point], by_body[other])
    return Reading(comma, unit), contradiction  # type: ignore[return-value]  # two texts


def _first_with(found: dict[str, _Written], key: Callable[[_Written], str]) -> dict[str, str]:
    """Return the first text of each key that is not empty."""
    first: dict[str, str] = {}
    for text, written in found.items():
        if key(written):
            first.setdefault(key(written), text)
    return first


KNOWN_UNITS = (
    *CURRENCIES,
    "%", "‰", "°", "°c", "°f", "kg", "g", "mg", "t", "lb", "lbs", "oz", "km", "m", "cm", "mm", "mi", "ft", "in", "yd",
    "km/h", "mph", "l", "ml", "s", "sec", "min", "h", "hr", "hrs", "hour", "hours", "day", "days", "week", "weeks",
    "month", "months", "year", "years", "kb", "mb", "gb", "tb", "w", "kw",
)  # fmt: skip


def _is_well_known(unit: str) -> bool:
    """Return whether a unit is surely one: "st" and "nd" after numbers are none."""
    return unit in KNOWN_UNITS


def _meaning_of_commas(bodies: Sequence[str], unit: str) -> str:
    """Return whether commas are "decimal" or between "thousands"; "both" if neither reads all, or nothing."""
    marked = [body for body in bodies if "," in body or "." in body]
    point, comma = (all(pattern.fullmatch(body) for body in marked) for pattern in (POINT, COMMA))
    commas = any("," in body for body in marked)
    if not (point or comma):
        return "both"
    if point and comma and marked:  # 1,200 or 1.200 in all of them
        # Numbers below a thousand have no such sign, and would have it if it were a decimal one.
        whole = [float(body) for body in bodies if body.isdigit()]
        grouped = (bool(whole) and max(whole) < LARGE) or (unit in CURRENCIES)
        grouped = grouped and all(THOUSANDS.fullmatch(body) for body in marked)
        return ("thousands" if grouped else "decimal") if commas else "decimal" if grouped else ""
    if point:
        return "thousands" if commas else ""
    return "decimal"


def has_two_readings(text: str) -> bool:
    """Return whether a text is one number with a decimal sign and another with thousands: 1.200, or 1,200."""
    written = _written(text.strip())
    return (
        written is not None
        and bool(THOUSANDS.fullmatch(written.body))
        and bool(POINT.fullmatch(written.body))
        and bool(COMMA.fullmatch(written.body))
    )


def day_formats(texts: Sequence[str]) -> list[str]:
    """Return the formats that read every text as a date: of 3/4/2026, day first and month first; empty if there are none."""
    if not texts or not all(DATE.fullmatch(text) for text in texts):
        return []
    days = [re.split("[T ]", text)[0] for text in texts]
    left = list(DAY_FORMATS)
    for day in days:
        left = [pattern for pattern in left if _parsed(day, pattern)]
        if not left:
            break
    return left


def looks_like_dates(texts: Sequence[str]) -> bool:
    """Return whether every text is a date in some format, the same or not."""
    return bool(texts) and all(DATE.fullmatch(text) and day_formats([text]) for text in texts)


def _parsed(text: str, pattern: str) -> datetime.datetime | None:
    try:
        return datetime.datetime.strptime(text, pattern)
    except ValueError:
        return None


def date_in(text: str, day_format: str) -> datetime.datetime | None:
    """Read a date with or without a time of day; a time that is not understood is left out."""
    if not day_format or not DATE.fullmatch(text):
        return None
    day, *time = re.split("[T ]", text, maxsplit=1)
    moment = _parsed(day, day_format)
    if moment is None or not time:
        return moment
    clock = TIME.fullmatch(time[0])
    if clock is None or int(clock["h"]) > 23:
        return moment
    seconds = 60 * (60 * int(clock["h"]) + int(clock["m"])) + float(clock["s"] or 0)
    return moment + datetime.timedelta(seconds=seconds)
