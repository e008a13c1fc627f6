"""One pure module a host: plan(old text, entry) -> new text; apply and roll back in one place."""
