"""Owns how a feature looks: templates, fonts, letters and photos to pictures; never what is said or who is featured."""
