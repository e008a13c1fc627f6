"""YAML: keys by level, the items of long lists by name, and what tells trouble, with the item it stands in."""

from __future__ import annotations

import json

from slimguard.document import document_of
from slimguard.model import Budget
from slimguard.tokens import Tokens
from slimguard.views.render import render_strictly
from slimguard.views.yamlview import yaml_headings

COUNTER = Tokens()
BUDGET = Budget(1_740, 6_900, 198, 2_000)


def deployment(place, *, available=True):
    reason = "MinimumReplicasAvailable" if available else "MinimumReplicasUnavailable"
    return f"""- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: web-{place}
    namespace: prod
  spec:
    replicas: 2
  status:
    conditions:
    - message: {"fine" if available else "image pull failed"}
      reason: {reason}
      type: Available"""


def view_of(text):
    document = document_of(json.dumps({"content": [{"type": "text", "text": text}]}).encode())
    return render_strictly(document, BUDGET, COUNTER)


def listed(count):
    items = "\n".join(deployment(place, available=place != 33) for place in range(count))
    return f"apiVersion: v1\nitems:\n{items}\nkind: List"


def test_the_items_of_a_long_list_are_named():
    view = view_of(listed(60))
    assert view.kind == "YAML"
    assert "items: 60 items: web-0, web-1," in view.body
    assert "web-59" in view.body


def test_a_bad_state_is_told_with_its_item_and_message():
    body = view_of(listed(60)).body
    line = listed(60).split("\n").index("      reason: MinimumReplicasUnavailable") + 1
    assert f"L{line}: reason=MinimumReplicasUnavailable; web-33; image pull failed" in body


def test_what_all_items_say_is_no_sign_of_trouble():
    text = listed(60).replace("MinimumReplicasAvailable", "BackoffFailed")
    assert "BackoffFailed ×" not in view_of(text).body


def test_headings_keep_their_levels_and_values_of_the_upper_two():
    lines = [
        "openapi: 3.1.0",
        "info:",
        "  title: Shop",
        "  contact:",
        "    email: a@example.org",
        "paths:",
        "  /orders:",
        "    get:",
        "      summary: List orders",
        "      parameters:",
        "        - name: id",
        "components:",
        "  schemas:",
        "    Order:",
        "      type: object",
    ]
    assert yaml_headings(lines) == [
        (0, 1, "openapi: 3.1.0"),
        (1, 1, "info:"),
        (2, 2, "title: Shop"),
        (3, 2, "contact:"),
        (5, 1, "paths:"),
        (6, 2, "/orders:"),
        (7, 3, "get:"),
        (9, 4, "parameters:"),
        (11, 1, "components:"),
        (12, 2, "schemas:"),
        (13, 3, "Order:"),
    ]
