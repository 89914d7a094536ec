"""The report on inferred rules: one page in plain language that opens from disk and loads nothing."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence

from gradus._html import html_page, inline_svg
from gradus._inference.inference import Inference
from gradus._inference.rules import Rule
from gradus._version import __version__
from gradus._wording import counted

__all__ = ["in_words", "rules_page"]

MOST_EDGES = 400
MOST_SETS_SHOWN = 12
FREQUENT = 0.05
SIGN_MARKS = {"activating": "↑ activating", "inhibiting": "⊣ inhibiting", "both": "± both", None: "–"}

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[!&|()]|[^\s!&|()"]+')
WORDS = {"!": "not", "&": "and", "|": "or"}

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: #1c2330; background: #fff;
       max-width: 64rem; margin: 2rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.7rem; margin-bottom: .2rem; } h2 { font-size: 1.25rem; margin-top: 2.2rem; }
p, li { max-width: 46rem; } .lead { font-size: 1.05rem; } .quiet { color: #5b6472; }
table { border-collapse: collapse; margin: .8rem 0; font-size: .94rem; }
th, td { text-align: left; padding: .32rem .8rem .32rem 0; border-bottom: 1px solid #e2e6ec; vertical-align: top; }
th { font-weight: 600; color: #3c4658; border-bottom: 2px solid #c6cdd8; } td.n, th.n { text-align: right; }
i { color: #7a4a00; font-style: normal; font-weight: 600; }
.bar { display: inline-block; width: 6rem; height: .7rem; background: #e9edf3; margin-right: .5rem; }
.bar > span { display: block; height: 100%; background: #2f7d5b; }
.best { font-weight: 700; } .picture { overflow-x: auto; } .picture svg { max-width: 100%; height: auto; }
.note { background: #fff7e0; border-left: 4px solid #d9a300; padding: .5rem .9rem; }
"""


def rules_page(found: Inference, *, picture: str | None, files: Sequence[str], title: str) -> str:
    """Return the report as HTML.

    Parameters
    ----------
    picture : str or None
        The drawing of the hierarchies as SVG; None if it could not be drawn.
    files : sequence of str
        Names of the files that were written beside the page.
    title : str
        What the data are called.
    """
    parts = [
        f"<h1>Rules inferred from {html.escape(title)}</h1>",
        _summary(found),
        "<h2>The data</h2>",
        _list(found.transitions.report()),
        "<h2>Which genes are learned together</h2>",
        *_hierarchies(found, picture),
        "<h2>The rules</h2>",
        *_rules(found),
        "<h2>Which genes could be the regulators</h2>",
        *_regulators(found),
        "<h2>Who acts on whom</h2>",
        *_edges(found),
        "<h2>How well are unseen transitions predicted?</h2>",
        *_scores(found),
        "<h2>Files</h2>",
        _list(files),
        f'<p class="quiet">Made by gradus {__version__} with {counted(found.n_networks, "network")} for each group of genes '
        f"and the seed {found.seed}; the same data and the same seed give the same page.</p>",
    ]
    return html_page(f"Rules of {title}", STYLE, parts)


def _summary(found: Inference) -> str:
    certain = [rule for rule in found.rules if rule.share >= 0.5]
    text = (
        f"{counted(len(found.rules), 'gene')} got a rule from {counted(len(found.transitions.X), 'distinct transition')}. "
        f"For {len(certain)} of them at least half of the networks found exactly the same rule. "
    )
    scores = found.leave_one_out
    if scores is not None and scores.overall is not None:
        overall = scores.overall
        best = max(overall.persistence, overall.majority)
        verdict = "better than" if overall.vote > best else "no better than" if overall.vote == best else "worse than"
        text += (
            f"A transition that was not learned from is predicted right in {_percent(overall.vote)} of the cases, "
            f"{verdict} the best trivial guess ({_percent(best)})."
        )
    if found.stopped:
        text += (
            " The training was stopped early, so genes may be missing here, and nothing was measured on unseen transitions."
        )
    few = len(found.transitions.X) < 20
    caution = (
        " <b>With so few transitions many rules fit equally well: read the rules as hypotheses to be tested.</b>"
        if few
        else ""
    )
    return f'<p class="lead">{text}{caution}</p>'


def _hierarchies(found: Inference, picture: str | None) -> list[str]:
    targets = found.transitions.target_names
    together = [one for one in found.hierarchies if len(one.targets) > 1]
    apart = [targets[one.targets[0]] for one in found.hierarchies if len(one.targets) == 1]
    parts = [
        "<p>For each gene the smallest sets of genes were found that can explain its next value. Where one gene's set "
        "lies inside another's, the two are learned by one network, the easier gene first, so that the harder one can "
        "build on it. The other genes are learned on their own.</p>"
    ]
    parts.append(_list([f"Together, in this order: {', '.join(targets[k] for k in one.targets)}." for one in together]))
    if apart:
        parts.append(f"<p>On their own: {html.escape(', '.join(apart))}.</p>")
    if picture is None:
        parts.append('<p class="note">The picture needs pygraphviz (the extra draw): run pip install pygraphviz.</p>')
    else:
        parts.append(f'<div class="picture">{inline_svg(picture)}</div>')
        parts.append('<p class="quiet">Under each gene stands its smallest set of possible regulators.</p>')
    return parts


def _rules(found: Inference) -> list[str]:
    rows = [
        [f"<b>{html.escape(rule.target)}</b>", in_words(rule.text), _bar(rule.share), _percent(rule.agreement), _another(rule)]
        for rule in found.rules
    ]
    rows += [
        [f"<b>{html.escape(name)}</b>", f"always {int(value)} in these data", "", "", ""]
        for name, value in found.transitions.constant_targets.items()
    ]
    parts = [
        "<p>The next value of each gene. Of the formulas that the networks found, the one with the fewest regulators is "
        "shown, and of several such the most frequent. <b>Same rule</b> is the part of the networks that found exactly "
        "this; <b>agreement</b> is how often the networks give the same value as the rule, over states that need not "
        "have been seen.</p>",
        _table(["gene", "is on next if", "same rule", "agreement", "most frequent, if another"], rows, numeric={3}),
    ]
    if found.unfitted:
        listed = ", ".join(f"{name} ({n} of {found.n_networks})" for name, n in found.unfitted.items())
        parts.append(f'<p class="note">Networks that do not fit all transitions: {html.escape(listed)}.</p>')
    return parts


def _another(rule: Rule) -> str:
    """Name the formula that most networks found, where it has more regulators than the rule."""
    text, share = rule.alternatives[0]
    remark = "" if rule.minimal else "<br>(the data would allow fewer regulators)"
    return remark if text == rule.text else f"{in_words(text)} ({_percent(share)}){remark}"


def _regulators(found: Inference) -> list[str]:
    rows = []
    for target, sets in found.minimum_sets.items():
        shown = " &nbsp;or&nbsp; ".join("{" + html.escape(", ".join(one)) + "}" for one in sets[:MOST_SETS_SHOWN])
        least = "at least " if target in found.cut else ""
        more = f" and {least}{len(sets) + bool(least) - MOST_SETS_SHOWN} more" if len(sets) > MOST_SETS_SHOWN else ""
        rows.append([f"<b>{html.escape(target)}</b>", str(len(sets[0])), shown + more])
    parts = [
        "<p>Every smallest set of genes whose present values tell the gene's next value in all transitions. Where there are "
        "several, the data cannot say which is right.</p>",
        _table(["gene", "regulators needed", "smallest sets"], rows, numeric={1}),
    ]
    if found.cut:
        listed = html.escape(", ".join(found.cut))
        parts.append(
            f'<p class="note">There are more sets than could be listed for {listed}: regulators.csv has the first '
            f"{len(found.minimum_sets[found.cut[0]]):,} of each, and the edges count only these.</p>"
        )
    return parts


def _edges(found: Inference) -> list[str]:
    shown = [edge for edge in found.edges if edge.frequency >= FREQUENT or edge.in_minimum_sets][:MOST_EDGES]
    rows = [
        [
            html.escape(edge.regulator),
            f"<b>{html.escape(edge.target)}</b>",
            _bar(edge.frequency),
            SIGN_MARKS[edge.sign],
            "yes" if edge.in_minimum_sets else "",
        ]
        for edge in shown
    ]
    left = len(found.edges) - len(shown)
    parts = [
        "<p>How often the networks let one gene act on another, and how: an activating gene can only switch its target on, an "
        "inhibiting one only off, and some do either, depending on the other genes.</p>",
        _table(["regulator", "target", "used by", "sign", "in a smallest set"], rows),
    ]
    if left:
        parts.append(f'<p class="quiet">{counted(left, "rarer edge")} more in edges.csv.</p>')
    return parts


def _scores(found: Inference) -> list[str]:
    scores = found.leave_one_out
    if scores is None:
        return ["<p>This was not measured.</p>"]
    if scores.overall is None:
        return ["<p>No transition can be left out without a gene becoming constant, so this could not be measured.</p>"]
    rows = []
    for one in [*scores.targets, scores.overall]:
        values = [one.vote, one.single, one.persistence, one.majority]
        best = max(values)
        cells = [f'<span class="best">{_percent(v)}</span>' if v == best else _percent(v) for v in values]
        name = "all together" if one is scores.overall else html.escape(one.target)
        rows.append([f"<b>{name}</b>", *cells, str(one.scored)])
    parts = [
        "<p>Each transition was left out in turn, everything was learned again from the others, and the networks predicted "
        "the one left out. The two trivial guesses stand beside it: that a gene stays as it is, and that it takes its usual "
        "next value. Only what beats both has learned something.</p>",
        _table(
            ["gene", "networks' vote", "a single network", "stays as it is", "usual value", "transitions"],
            rows,
            numeric={1, 2, 3, 4, 5},
        ),
    ]
    if scores.not_scored:
        listed = ", ".join(f"{target} in transition {row + 1}" for row, target in scores.not_scored[:10])
        more = f" and {len(scores.not_scored) - 10} more" if len(scores.not_scored) > 10 else ""
        parts.append(
            f'<p class="quiet">Not scored, because the gene never changes in the other transitions: '
            f"{html.escape(listed)}{more}.</p>"
        )
    return parts


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], numeric: frozenset[int] | set[int] = frozenset()) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        marks = [' class="n"' if column in numeric else "" for column in range(len(cells))]
        return "<tr>" + "".join(f"<{tag}{m}>{cell}</{tag}>" for m, cell in zip(marks, cells, strict=True)) + "</tr>"

    body = "\n".join(line(row, "td") for row in rows)
    return f"<table>\n<thead>{line(headings, 'th')}</thead>\n<tbody>{body}</tbody></table>"


def _list(sentences: Iterable[str]) -> str:
    items = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def _bar(share: float) -> str:
    return f'<span class="bar"><span style="width:{100 * share:.0f}%"></span></span>{_percent(share)}'


def _percent(share: float) -> str:
    return f"{100 * share:.0f}&nbsp;%"


def in_words(formula: str) -> str:
    """Return a formula as HTML with words for its operators, and brackets around products of a sum.

    Examples
    --------
    >>> in_words('!a & "b*" | c')
    '(<i>not</i> a <i>and</i> b*) <i>or</i> c'
    >>> in_words("1")
    'always 1'
    """
    if formula in ("0", "1"):
        return f"always {formula}"
    tokens = TOKEN.findall(formula)
    if "(" in tokens or "|" not in tokens:
        return _spell(tokens)
    products: list[list[str]] = [[]]
    for token in tokens:
        if token == "|":
            products.append([])
        else:
            products[-1].append(token)
    spelled = [f"({_spell(one)})" if "&" in one else _spell(one) for one in products]
    return " <i>or</i> ".join(spelled)


def _spell(tokens: list[str]) -> str:
    words = []
    for token in tokens:
        if token in WORDS:
            words.append(f"<i>{WORDS[token]}</i>")
        else:
            words.append(html.escape(json.loads(token) if token.startswith('"') else token))
    return " ".join(words).replace("( ", "(").replace(" )", ")")
