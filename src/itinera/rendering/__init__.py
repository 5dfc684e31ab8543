"""CPU rendering of meshes: cameras, a rasterizer (RGB, depth, semantics) and R2R's 36-view panorama.

Start with `rasterizer.py`.
"""
