"""Ready answers from the catalog and the measurements."""
