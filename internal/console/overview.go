package console

import "landfall"

// overviewed is what the overview shows.
type overviewed struct {
	head
	Suppliers []landfall.Supplier
}

func overview(v *visit) (any, error) {
	suppliers, err := v.operator().Suppliers(v.ctx())
	return overviewed{head: head{Title: "Suppliers", Wide: true}, Suppliers: suppliers}, err
}

func overviews() []page { return []page{reads("", overview, "overview")} }
