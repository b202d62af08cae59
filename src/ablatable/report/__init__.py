"""Statistics and tables, made from records and a study's definition alone: equal input gives equal bytes."""
