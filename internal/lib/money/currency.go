package money

import "slices"

// The currencies of ISO 4217 that do not have two decimal places.
var (
	withoutDecimals = []string{"BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"}
	threeDecimals   = []string{"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"}
)

// Places returns how many decimal places amounts in a currency have: its minor unit
// in ISO 4217.
func Places(currency string) int {
	switch {
	case slices.Contains(withoutDecimals, currency):
		return 0
	case slices.Contains(threeDecimals, currency):
		return 3
	}
	return 2
}
