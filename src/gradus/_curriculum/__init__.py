"""The order in which targets are taught: found from minimum feature sets, or by a rival rule, or given."""

from gradus._curriculum.find import Curriculum, find_curriculum
from gradus._curriculum.orders import kendall_tau, resolve_order

__all__ = ["Curriculum", "find_curriculum", "kendall_tau", "resolve_order"]
