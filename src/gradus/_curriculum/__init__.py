"""The order in which targets are taught: found from minimum feature sets, by another rule, or given."""

from gradus._curriculum.curriculum import Curriculum, find_curriculum
from gradus._curriculum.target_orders import check_order, kendall_tau, resolve_order

__all__ = ["Curriculum", "check_order", "find_curriculum", "kendall_tau", "resolve_order"]
