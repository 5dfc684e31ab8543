"""Agents behind web services: language models that speak the chat protocol of OpenAI, and released policy servers."""
