// Package money holds exact decimals: a JSON number in, the same digits out.
// No binary float is anywhere on the way.
package money

// Amount is money in minor units (pence), at most 12 digits before the point.
type Amount int64
