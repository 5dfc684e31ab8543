"""Agents: the contract in `agent.py`, baselines, experts, a rule-based agent, agents in other processes."""
