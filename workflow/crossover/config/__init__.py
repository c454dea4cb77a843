"""Configuration and shipped data: schema, facts of a site, claims, sources, published numbers."""
