"""What a prediction is: targets become contrast tables, scores become predictions."""
