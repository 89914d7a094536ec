"""The paper: its specs, claims, figures and page."""
