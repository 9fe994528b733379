package console

import "slices"

// pages is the table: every page and every act of the console.
func pages() []page {
	return slices.Concat(doors(), overviews(), supplierPages(), runPages(), adminPages(), lookups(), accounts(), listPages())
}
