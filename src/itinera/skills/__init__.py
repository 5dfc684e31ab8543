"""Behavioral analysis of agents: which skills (stopping, turning, seeking objects and rooms) an agent has.

A study is two pure functions with a run between them: `trials.design` truncates episodes and adds one sentence each,
`runs.probing` measures the agent's action distribution in every trial, and `analysis.analyze` estimates the effect of
the sentences. Start with `trials.py`.
Reference: Yang et al. 2023, Behavioral Analysis of Vision-and-Language Navigation Agents.
"""
