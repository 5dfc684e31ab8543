"""Recurrent layers against those of torch, and against sequences cut where episodes start."""

import pytest
import torch
from torch import nn

from itinera.errors import BadArgument
from itinera.policies.pointnav.recurrent import Recurrent


def make(cell, num_layers=1, dtype=torch.float64):
    torch.manual_seed(0)
    layers = Recurrent(cell, 3, 4, num_layers).to(dtype)
    with torch.no_grad():
        for value in layers.parameters():
            value.copy_(torch.randn_like(value))
    return layers


def as_torch(layers):
    """The same weights in torch's own class."""
    make_twin = {"gru": nn.GRU, "lstm": nn.LSTM}[layers.cell]
    twin = make_twin(3, 4, len(layers.layers)).double()
    for k, layer in enumerate(layers.layers):
        for name, value in layer.named_parameters():
            getattr(twin, f"{name}_l{k}").data.copy_(value)
    return twin


@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.parametrize("num_layers", [1, 2])
def test_without_starts_outputs_and_gradients_are_those_of_torch(cell, num_layers):
    layers = make(cell, num_layers)
    twin = as_torch(layers)
    inputs = torch.randn(6, 2, 3, dtype=torch.float64, requires_grad=True)
    outputs, state = layers(inputs, torch.zeros(2, layers.state_dim).double(), torch.zeros(6, 2).double())
    expected, last = twin(inputs)
    torch.testing.assert_close(outputs, expected)
    hidden = last if cell == "gru" else torch.cat(last, dim=2)
    torch.testing.assert_close(state, torch.cat(list(hidden), dim=1))
    weights = torch.randn_like(outputs)
    own = torch.autograd.grad((outputs * weights).sum(), [inputs, *layers.layers[0].parameters()])
    twins = [getattr(twin, f"{name}_l0") for name, _ in layers.layers[0].named_parameters()]
    for found, wanted in zip(own, torch.autograd.grad((expected * weights).sum(), [inputs, *twins]), strict=True):
        torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_a_start_forgets_everything_before(cell):
    layers = make(cell)
    inputs = torch.randn(5, 1, 3, dtype=torch.float64)
    starts = torch.tensor([0.0, 0.0, 1.0, 0.0, 0.0]).double()[:, None]
    state = torch.randn(1, layers.state_dim).double()
    whole, last = layers(inputs, state, starts)
    nothing, none = torch.zeros_like(state), torch.zeros(5, 1).double()
    torch.testing.assert_close(whole[:2], layers(inputs[:2], state, none[:2])[0])
    part, end = layers(inputs[2:], nothing, none[2:])
    torch.testing.assert_close(whole[2:], part)
    torch.testing.assert_close(last, end)


def test_the_written_gradient_of_the_gru_is_the_numeric_one():
    layers = make("gru")
    starts = torch.tensor([[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]).double()
    inputs = torch.randn(3, 2, 3, dtype=torch.float64, requires_grad=True)
    state = torch.randn(2, layers.state_dim, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *args: layers(*args, starts), (inputs, state))
    (parameter,) = [p for name, p in layers.named_parameters() if name.endswith("weight_hh")]
    assert torch.autograd.gradcheck(lambda _: layers(inputs, state, starts)[0], (parameter,))


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_one_step_after_the_other_gives_the_same_as_all_at_once(cell):
    layers = make(cell, 2)
    inputs, starts = torch.randn(4, 3, 3).double(), (torch.rand(4, 3) < 0.4).double()
    state = torch.zeros(3, layers.state_dim).double()
    whole, _ = layers(inputs, state, starts)
    for k in range(4):
        output, state = layers(inputs[k : k + 1], state, starts[k : k + 1])
        torch.testing.assert_close(output[0], whole[k])


def test_an_unknown_cell_is_refused():
    with pytest.raises(BadArgument, match="cell"):
        Recurrent("rnn", 3, 4)
