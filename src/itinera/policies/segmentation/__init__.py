"""Semantic segmentation: networks that label every pixel of a frame, and the source of labels for maps (torch)."""
