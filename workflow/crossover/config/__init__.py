"""Configuration and shipped data: schema, site facts, claims, sources, published numbers."""
