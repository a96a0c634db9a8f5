"""Data: file formats, downloads, registered collections and generators."""
