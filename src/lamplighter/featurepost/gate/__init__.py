"""Says what is wrong with a feature's words, by rules alone; never changes a word and never asks a model."""
