import torch

ENTRY = "entry"
GRAD = True
METHODS = (
    "attribute_by_the_condition",
    "attribute_of_an_attribute",
    "item_of_a_list",
    "item_of_a_dictionary",
    "attribute_of_a_child",
    "buffer_of_the_module",
)


def ones():
    return torch.ones(3)


def doubles():
    return torch.ones(3, dtype=torch.float64)


def inputs():
    calls = []
    for x in (ones(), -ones()):
        calls += [
            ("fixed", x, {"x": ones()}),
            ("dictionary_is_rebound_in_an_arm", x, {"x": ones()}, {"x": doubles()}),
            ("object_is_rebound_in_an_arm", x, ones(), doubles()),
            ("tensor_is_rebound_by_the_condition", x, x),
            ("dictionary_is_rebound_by_the_condition", x, {"x": ones()}, {"x": x.double()}),
            ("item_is_set_by_the_condition", x, {"x": x.clone()}),
            *(("held", x, method) for method in METHODS),
            ("global_is_set", x),
            ("two_names_of_a_list", x),
            ("list_is_also_an_attribute", x),
            ("other_name_is_reshaped", x, ones()),
            ("other_name_is_reshaped_and_restored", x),
            ("other_name_needs_gradients", x),
            ("selected_tensor_is_written_under_another_name", x),
        ]
    return calls
