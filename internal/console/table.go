package console

import (
	"net/http"
	"slices"
)

// pages is the table: every page and every act of the console.
func pages() []page {
	return slices.Concat(doors(), overviews(), supplierPages(), runPages(), adminPages(), lookups(), accounts(), listPages())
}

// Paths gives the path of everything that can be read when one is signed in,
// with the names of what stands for something in braces. Whoever measures or
// walks the console leaves no page out.
func Paths() (paths []string) {
	for _, page := range pages() {
		if page.method != http.MethodPost && !page.open {
			paths = append(paths, Root+page.path)
		}
	}
	return paths
}
