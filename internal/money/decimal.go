package money

// Decimal is an exact quantity or rate that keeps its digits as they were sent.
type Decimal struct{ text string }
