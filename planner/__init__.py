"""The engine: importable, testable and usable without the app."""

__version__ = "0.1.0"
