package compare

import (
	"landfall"
	"landfall/internal/lib/money"
)

// accountState is everything that the book and the server say about one account.
type accountState struct {
	timesInBook int // how often the account itself is in the book
	posted      bool
	figures     landfall.Figures
	known       map[storedItem]bool
	notes       map[uint64]map[int64]bool // by fingerprint, when they were made
	found       serverAccount
	deviation   deviation
}

// add takes what a line of the book brings. An account that comes twice is what
// its later line says, as it is on a server; what comes twice on an account
// counts once.
func (a *accountState) add(p *storedPart) {
	if p.Account {
		a.timesInBook++ // and before anything that is added to it: so books are read
		a.figures, a.known, a.notes = landfall.Figures{Currency: p.Currency}, nil, nil
		for i, number := range a.figures.Numbers() {
			*number = p.Numbers[i]
		}
		// Its own items are in its figures already. They are only remembered, so
		// that a later line with the same does not count them again.
		for _, one := range p.Items {
			a.isNew(one)
		}
		return
	}
	a.posted = true
	for _, one := range p.Items {
		if !a.isNew(one) {
			continue
		}
		switch one.Kind {
		case itemNote:
			a.figures.Notes++
		case itemStatement:
			a.figures.Statements++
		case itemInstruction:
			a.figures.Instructions++
		case itemTransaction:
			if int(one.Of) < len(landfall.TransactionTypes) {
				a.figures.CountTransaction(landfall.TransactionTypes[one.Of], money.Amount(one.Amount))
			}
			a.figures.Balance += money.Amount(one.Signed)
		}
	}
}

// isNew reports whether something is new to the account, and remembers it.
func (a *accountState) isNew(one storedItem) bool {
	if one.Kind == itemNote {
		return a.isNewNote(one)
	}
	if a.known == nil {
		a.known = map[storedItem]bool{}
	}
	// Type and amount are left out: a transaction that comes again with others is
	// the same one, since its number is.
	name := storedItem{Kind: one.Kind, ID: one.ID}
	fresh := !a.known[name]
	a.known[name] = true
	return fresh
}

// isNewNote goes by the rule of the service: the same text is the same note,
// unless both say when they were made, and differently.
func (a *accountState) isNewNote(one storedItem) bool {
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

// state says how the account stands.
func (a *accountState) state() (state State, differences []Difference) {
	switch {
	case a.timesInBook == 0 && !a.posted:
		return Extra, nil
	case a.found.State != Same:
		return a.found.State, nil // on its way, or not there at all
	case a.timesInBook == 0:
		return a.postedState()
	}
	// Without the server's explanation first: what agrees as it is needs none.
	plain, explained := a.compare(deviation{}), a.compare(a.deviation)
	switch {
	case len(plain) == 0:
		return Same, nil
	case len(explained) == 0:
		return Other, plain
	}
	return Differs, explained
}

// compare holds what was sent against what is there.
func (a *accountState) compare(less deviation) (list []Difference) {
	differ := func(what, book, server string) {
		if book != server {
			list = append(list, Difference{what, book, server})
		}
	}
	there := &a.found
	differ("currency", a.figures.Currency, there.Currency)
	differ("balance", (a.figures.Balance - money.Amount(less.Balance)).String(), money.Amount(there.Balance).String())
	differ("notes", formatCount(a.figures.Notes-less.Notes), formatCount(there.Notes))
	differ("statements", formatCount(a.figures.Statements-less.Statements), formatCount(there.Statements))
	return list
}

// postedState looks at an account to which the book only adds something: at
// least that must be there.
func (a *accountState) postedState() (State, []Difference) {
	var list []Difference
	if a.found.Notes < a.figures.Notes {
		list = append(list, Difference{"notes", formatCount(a.figures.Notes), formatCount(a.found.Notes)})
	}
	if a.found.Statements < a.figures.Statements {
		list = append(list, Difference{"statements", formatCount(a.figures.Statements), formatCount(a.found.Statements)})
	}
	if len(list) > 0 {
		return Differs, list
	}
	return Same, nil
}
