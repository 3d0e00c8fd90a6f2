"""Text of reports: a document as text, Markdown or a page, and the words of rates."""
