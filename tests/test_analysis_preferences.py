from __future__ import annotations

from gbfix.analysis.preferences import Messages, Preferences, other_ways


def test_what_the_user_chose_has_no_other_ways() -> None:
    ways = other_ways(Preferences(Messages.DROP, in_graph_asserts=True))
    assert ways == (Preferences(Messages.DROP, in_graph_asserts=True, one_side=True),)


def test_messages_go_from_the_edge_to_a_function_that_is_not_compiled() -> None:
    assert [way.messages for way in other_ways(Preferences())] == [Messages.AUTO, Messages.OUTSIDE, Messages.BOUNDARY]
