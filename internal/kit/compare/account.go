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
	notes       map[uint64]map[int64]bool // by fingerprint and creation time
	found       serverAccount
	deviation   deviation
	lines       []*storedPart // with their texts, unless only figures are compared
}

// add adds a line of the book. A later line of an account replaces an earlier one, as on the
// server; duplicate items count once.
func (a *accountState) add(p *storedPart) {
	if p.Account {
		a.lines = nil // books are read accounts first, so these are earlier lines of the account itself
		a.timesInBook++
		a.figures, a.known, a.notes = landfall.Figures{Currency: p.Currency}, nil, nil
		for i, number := range a.figures.Numbers() {
			*number = p.Numbers[i]
		}
		// The items are already in the figures. They are only recorded, so that later lines do not
		// count them again.
		for _, one := range p.Items {
			a.isNew(one)
		}
		a.lines = append(a.lines, p)
		return
	}
	a.posted = true
	a.lines = append(a.lines, p)
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

// isNew reports whether an item is new to the account, and records it.
func (a *accountState) isNew(one storedItem) bool {
	if one.Kind == itemNote {
		return a.isNewNote(one)
	}
	if a.known == nil {
		a.known = map[storedItem]bool{}
	}
	// A transaction is identified by its ID, whatever its type and amount.
	identity := storedItem{Kind: one.Kind, ID: one.ID}
	added := !a.known[identity]
	a.known[identity] = true
	return added
}

// isNewNote applies the rule of the service: notes with the same text are the same, unless both
// have different creation times.
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

// deviation is what the server itself reports as different from what was sent: sent minus existing.
type deviation struct{ Notes, Statements, Balance int64 }

// state compares both sides of the account.
func (a *accountState) state() (state State, differences []Difference) {
	switch {
	case a.timesInBook == 0 && !a.posted:
		return Extra, nil
	case a.found.State != Same:
		return a.found.State, nil // waiting, or not on the server
	case a.timesInBook == 0:
		return a.postedState()
	}
	// First without the server's explanation.
	plain, explained := a.compare(deviation{}), a.compare(a.deviation)
	switch {
	case len(plain) == 0:
		return Same, nil
	case len(explained) == 0:
		return Other, plain
	}
	return Differs, explained
}

// compare compares what was sent with what exists.
func (a *accountState) compare(less deviation) (list []Difference) {
	differ := func(what, book, server string) {
		if book != server {
			list = append(list, Difference{Attr: what, Book: book, Server: server, Figure: true})
		}
	}
	there := &a.found
	differ("currency", a.figures.Currency, there.Currency)
	differ("balance", (a.figures.Balance - money.Amount(less.Balance)).String(), money.Amount(there.Balance).String())
	differ("notes", formatCount(a.figures.Notes-less.Notes), formatCount(there.Notes))
	differ("statements", formatCount(a.figures.Statements-less.Statements), formatCount(there.Statements))
	return list
}

// postedState checks an account to which the book only adds something: at least that must exist.
func (a *accountState) postedState() (State, []Difference) {
	var list []Difference
	if a.found.Notes < a.figures.Notes {
		list = append(list, Difference{Attr: "notes", Book: formatCount(a.figures.Notes), Server: formatCount(a.found.Notes), Figure: true})
	}
	if a.found.Statements < a.figures.Statements {
		list = append(list, Difference{Attr: "statements", Book: formatCount(a.figures.Statements), Server: formatCount(a.found.Statements), Figure: true})
	}
	if len(list) > 0 {
		return Differs, list
	}
	return Same, nil
}
