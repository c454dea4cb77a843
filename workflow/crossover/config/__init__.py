"""What users configure and what the project ships: schema, site facts, claims, sources, published numbers."""
