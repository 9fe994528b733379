package compare

import (
	"landfall"
	"landfall/internal/lib/money"
)

// account is everything that the book and the server say about one account.
type account struct {
	given    int // how often the account itself is in the book
	posted   bool
	figures  landfall.Figures
	known    map[keptItem]bool
	notes    map[uint64]map[int64]bool // by fingerprint, when they were made
	found    found
	deviates deviation
}

// add takes what a line of the book brings. An account that comes twice is what
// its later line says, as it is on a server; what comes twice on an account
// counts once.
func (a *account) add(p *keptPart) {
	if p.Account {
		a.given++ // and before anything that is added to it: so books are read
		a.figures, a.known, a.notes = landfall.Figures{Currency: p.Currency}, nil, nil
		for i, number := range a.figures.Numbers() {
			*number = p.Numbers[i]
		}
		// Its own items are in its figures already. They are only remembered, so
		// that a later line with the same does not count them again.
		for _, one := range p.Items {
			a.fresh(one)
		}
		return
	}
	a.posted = true
	for _, one := range p.Items {
		if !a.fresh(one) {
			continue
		}
		switch one.Kind {
		case aNote:
			a.figures.Notes++
		case aStatement:
			a.figures.Statements++
		case anInstruct:
			a.figures.Instructions++
		case aTransaction:
			if int(one.Of) < len(landfall.TransactionTypes) {
				a.figures.CountTransaction(landfall.TransactionTypes[one.Of], money.Amount(one.Amount))
			}
			a.figures.Balance += money.Amount(one.Signed)
		}
	}
}

// fresh reports whether something is new to the account, and remembers it.
func (a *account) fresh(one keptItem) bool {
	if one.Kind == aNote {
		return a.freshNote(one)
	}
	if a.known == nil {
		a.known = map[keptItem]bool{}
	}
	// Type and amount are left out: a transaction that comes again with others is
	// the same one, since its number is.
	name := keptItem{Kind: one.Kind, ID: one.ID}
	fresh := !a.known[name]
	a.known[name] = true
	return fresh
}

// freshNote goes by the rule of the service: the same text is the same note,
// unless both say when they were made, and differently.
func (a *account) freshNote(one keptItem) bool {
	times := a.notes[one.ID]
	if times != nil && (one.At == 0 || times[one.At]) {
		return false
	}
	if a.notes == nil {
		a.notes = map[uint64]map[int64]bool{}
	}
	if times == nil {
		times = map[int64]bool{}
		a.notes[one.ID] = times
	}
	times[one.At] = true
	return true
}

// deviation is what the server says of an account that is not what was sent for
// it: sent less what is there.
type deviation struct{ Notes, Statements, Balance int64 }

// judge says how the account stands.
func (a *account) judge() (state State, differences []Difference) {
	switch {
	case a.given == 0 && !a.posted:
		return Extra, nil
	case a.found.State != Same:
		return a.found.State, nil // on its way, or not there at all
	case a.given == 0:
		return a.judgePosted()
	}
	// Without the server's explanation first: what agrees as it is needs none.
	plain, explained := a.compare(deviation{}), a.compare(a.deviates)
	switch {
	case len(plain) == 0:
		return Same, nil
	case len(explained) == 0:
		return Other, plain
	}
	return Differs, explained
}

// compare holds what was sent against what is there.
func (a *account) compare(less deviation) (list []Difference) {
	differ := func(what, book, server string) {
		if book != server {
			list = append(list, Difference{what, book, server})
		}
	}
	there := &a.found
	differ("currency", a.figures.Currency, there.Currency)
	differ("balance", (a.figures.Balance - money.Amount(less.Balance)).String(), money.Amount(there.Balance).String())
	differ("notes", count(a.figures.Notes-less.Notes), count(there.Notes))
	differ("statements", count(a.figures.Statements-less.Statements), count(there.Statements))
	return list
}

// judgePosted looks at an account to which the book only adds something: at
// least that must be there.
func (a *account) judgePosted() (State, []Difference) {
	var list []Difference
	if a.found.Notes < a.figures.Notes {
		list = append(list, Difference{"notes", count(a.figures.Notes), count(a.found.Notes)})
	}
	if a.found.Statements < a.figures.Statements {
		list = append(list, Difference{"statements", count(a.figures.Statements), count(a.found.Statements)})
	}
	if len(list) > 0 {
		return Differs, list
	}
	return Same, nil
}
