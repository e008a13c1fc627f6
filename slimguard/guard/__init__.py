"""The operations: find, call and read as straight lines that await only ports."""
