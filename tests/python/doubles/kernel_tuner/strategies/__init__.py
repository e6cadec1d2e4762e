"""Strategies: what they share is in common."""
