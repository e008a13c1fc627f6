"""How a stored result reaches the host: exact, mirror, or view and `result_ref`; pure, and never worse than exact."""

from slimguard.delivery.deliver import deliver, deliver_unstored

__all__ = ["deliver", "deliver_unstored"]
