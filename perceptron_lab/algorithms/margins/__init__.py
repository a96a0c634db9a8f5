"""Perceptrons with margin: every row must exceed a positive score or a directional margin."""
