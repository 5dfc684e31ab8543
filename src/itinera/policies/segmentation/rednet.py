"""RedNet (Jiang et al., 2018): residual encoders for color and for depth, and a decoder of transposed residual blocks.

The network of the paper on iterative VLN: two ResNet-50 encoders, the features of depth added to those of color after
the stem and after every stage; 1 x 1 "agent" layers as skip connections; a decoder of 6, 4, 3 and 3 blocks, the last of
each upsampling by two, then three blocks more and a transposed convolution to full resolution. In training mode it also
returns logits after each part of the decoder, for deep supervision. About 82 million parameters: for a GPU.

Weights
-------
`rename_released_weights` translates the names of released weights to these modules:

    released                          here
    conv1, bn1                        color.stem.0, color.stem.1
    layer1 … layer4                   color.stages.0 … 3
    conv1_d, bn1_d, layer1_d …        depth.stem.0, depth.stem.1, depth.stages.0 …
    agant0 … agant4                   skips.0 … 4
    deconv1 … deconv4                 decoder.0 … 3
    final_conv                        refinement
    final_deconv, final_deconv_custom head
    out5_conv … out2_conv (_custom)   side_heads.0 … 3
    of a block: conv1, bn1, …         layers.0.0, layers.0.1, …
    of a block: downsample, upsample  shortcut

A leading "module." is ignored. Released files are pickles, which Itinera never opens; convert one where you trust it:

    weights = torch.load("rednet_mp3d_best_model.pkl")["model_state"]
    safetensors.torch.save_file({name: value.contiguous() for name, value in weights.items()}, "released.safetensors")
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn.functional import max_pool2d, relu

from itinera.errors import BadArgument
from itinera.policies.segmentation.network import SegmentationNetwork, conv_bn
from itinera.policies.tokenizer import Tokenizer

EXPANSION = 4  # channels of a stage's output over those inside its blocks
ENCODER_BLOCKS, DECODER_BLOCKS, REFINEMENT_BLOCKS = (3, 4, 6, 3), (6, 4, 3, 3), 3
COLOR_MEAN, COLOR_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
DEPTH_MEAN, DEPTH_STD = 0.213, 0.285  # of depth as a fraction of the maximum


@dataclass(frozen=True)
class RedNetConfig:
    """The size of a network."""

    width: int = 64  # channels of the stem; all others are multiples
    max_depth: int = 10  # metres; farther pixels, and the background, count as this far


class Bottleneck(nn.Module):
    """A residual block of the encoder: 1 x 1, 3 x 3, 1 x 1."""

    def __init__(self, inputs: int, inner: int, stride: int) -> None:
        super().__init__()
        outputs = EXPANSION * inner
        self.layers = nn.ModuleList(
            [conv_bn(inputs, inner, 1), conv_bn(inner, inner, 3, stride), conv_bn(inner, outputs, 1)]
        )
        self.shortcut = conv_bn(inputs, outputs, 1, stride) if (inputs, stride) != (outputs, 1) else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return _residual(x, self.layers, self.shortcut)


class TransposedBlock(nn.Module):
    """A residual block of the decoder: two 3 x 3 convolutions, of which the second may upsample by two."""

    def __init__(self, inputs: int, outputs: int, *, upsample: bool) -> None:
        super().__init__()
        second = _upsampling(inputs, outputs, 3) if upsample else conv_bn(inputs, outputs, 3)
        self.layers = nn.ModuleList([conv_bn(inputs, inputs, 3), second])
        self.shortcut = _upsampling(inputs, outputs, 2) if upsample else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return _residual(x, self.layers, self.shortcut)


def _residual(x: Tensor, layers: Iterable[nn.Module], shortcut: nn.Module) -> Tensor:
    *hidden, last = layers
    y = x
    for layer in hidden:
        y = relu(layer(y))
    return relu(last(y) + shortcut(x))


def _upsampling(inputs: int, outputs: int, size: int) -> nn.Sequential:
    """A transposed convolution that doubles the resolution, and its batch normalization."""
    padding = size - 2
    convolution = nn.ConvTranspose2d(inputs, outputs, size, 2, padding, output_padding=padding, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs))


class Encoder(nn.Module):
    """A ResNet-50 without its classifier."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.stem = conv_bn(inputs, width, 7, 2)
        self.stages = nn.ModuleList()
        channels = width
        for k, count in enumerate(ENCODER_BLOCKS):
            inner = width << k
            blocks = [Bottleneck(channels, inner, 1 if k == 0 else 2)]
            channels = EXPANSION * inner
            blocks += [Bottleneck(channels, inner, 1) for _ in range(count - 1)]
            self.stages.append(nn.Sequential(*blocks))


class RedNet(SegmentationNetwork):
    """Logits of labels from color and depth."""

    multiple = 32

    def __init__(
        self, labels: Sequence[str], tokenizer: Tokenizer | None = None, config: RedNetConfig = RedNetConfig()
    ) -> None:
        super().__init__()
        width, self.max_depth = config.width, config.max_depth
        self.color, self.depth = Encoder(3, width), Encoder(1, width)
        kept = (width, width, 2 * width, 4 * width, 8 * width)
        found = (width, *(EXPANSION * width << k for k in range(len(ENCODER_BLOCKS))))
        self.skips = nn.ModuleList(conv_bn(a, b, 1) for a, b in zip(found, kept, strict=True))
        self.decoder, self.side_heads = nn.ModuleList(), nn.ModuleList()
        channels = kept[-1]
        for outputs, count in zip((4 * width, 2 * width, width, width), DECODER_BLOCKS, strict=True):
            blocks = [TransposedBlock(channels, channels, upsample=False) for _ in range(count - 1)]
            self.decoder.append(nn.Sequential(*blocks, TransposedBlock(channels, outputs, upsample=True)))
            self.side_heads.append(nn.Conv2d(outputs, len(labels), 1))
            channels = outputs
        self.refinement = nn.Sequential(
            *(TransposedBlock(channels, channels, upsample=False) for _ in range(REFINEMENT_BLOCKS))
        )
        self.head = nn.ConvTranspose2d(channels, len(labels), 2, 2)

    def forward(self, rgb: Tensor, depth: Tensor) -> Tensor | tuple[Tensor, ...]:
        """Logits; in training mode also those at 1/2, 1/4, 1/8 and 1/16 of the resolution."""
        x, z = self.normalize(rgb, depth)
        x, z = relu(self.color.stem(x)), relu(self.depth.stem(z))
        fused = [x + z]
        x, z = max_pool2d(fused[0], 3, 2, 1), max_pool2d(z, 3, 2, 1)
        for color_stage, depth_stage in zip(self.color.stages, self.depth.stages, strict=True):
            x, z = color_stage(x), depth_stage(z)
            x = x + z
            fused.append(x)
        *skips, x = (relu(skip(y)) for skip, y in zip(self.skips, fused, strict=True))
        sides = []
        for blocks, side_head, skip in zip(self.decoder, self.side_heads, reversed(skips), strict=True):
            x = blocks(x)
            if self.training:
                sides.append(side_head(x))
            x = x + skip
        logits: Tensor = self.head(self.refinement(x))
        return (logits, *reversed(sides)) if self.training else logits

    def normalize(self, rgb: Tensor, depth: Tensor) -> tuple[Tensor, Tensor]:
        """Color and depth with the mean and the standard deviation that released weights expect."""
        mean, std = (rgb.new_tensor(values)[:, None, None] for values in (COLOR_MEAN, COLOR_STD))
        return (rgb - mean) / std, ((depth / self.max_depth).clamp(0, 1) - DEPTH_MEAN) / DEPTH_STD


_RENAMES = (
    (r"^module\.", ""),
    (r"^(conv1|bn1|layer\d)(_d)?\.", lambda found: f"{'depth' if found[2] else 'color'}.{found[1]}."),
    (r"^(color|depth)\.conv1\.", r"\1.stem.0."),
    (r"^(color|depth)\.bn1\.", r"\1.stem.1."),
    (r"\.layer(\d)\.", lambda found: f".stages.{int(found[1]) - 1}."),
    (r"^agant(\d)\.", r"skips.\1."),
    (r"^deconv(\d)\.", lambda found: f"decoder.{int(found[1]) - 1}."),
    (r"^final_conv\.", "refinement."),
    (r"^final_deconv(_custom)?\.", "head."),
    (r"^out(\d)_conv(_custom)?\.", lambda found: f"side_heads.{5 - int(found[1])}."),
    (r"\.(downsample|upsample)\.", ".shortcut."),
    (r"(\.\d+)\.conv(\d)\.", lambda found: f"{found[1]}.layers.{int(found[2]) - 1}.0."),
    (r"(\.\d+)\.bn(\d)\.", lambda found: f"{found[1]}.layers.{int(found[2]) - 1}.1."),
)  # fmt: skip


def rename_released_weights(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Released weights under the names of this module's layers, for `RedNet.load_state_dict`."""
    renamed = {}
    for name, value in weights.items():
        for pattern, replacement in _RENAMES:
            name = re.sub(pattern, replacement, name)
        renamed[name] = value
    return renamed


def load_resnet(network: RedNet, weights: Mapping[str, Tensor]) -> None:
    """Initialize both encoders with the weights of a ResNet-50 under their usual names.

    The stem for depth, which has one channel, gets the mean over the three of color.
    """
    encoders = {name: value for name, value in rename_released_weights(weights).items() if name.startswith("color.")}
    stem = "color.stem.0.weight"
    if stem not in encoders:
        raise BadArgument("These are no weights of a ResNet-50: there is no conv1.weight.")
    encoders |= {name.replace("color.", "depth.", 1): value for name, value in encoders.items()}
    encoders["depth.stem.0.weight"] = encoders[stem].mean(dim=1, keepdim=True)
    network.load_state_dict(network.state_dict() | encoders)
