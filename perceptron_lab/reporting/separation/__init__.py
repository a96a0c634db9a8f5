"""What methods say of separated classes, beside the proved verdicts on them."""
