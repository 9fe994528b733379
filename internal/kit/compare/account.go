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
	known       map[itemIdentity]bool
	notes       map[uint64]map[int64]bool // by fingerprint and creation time
	found       serverAccount
	deviation   deviation
	lines       []*bookLine
}

// itemIdentity identifies an item that is no note.
type itemIdentity struct {
	kind byte
	id   uint64
}

// add adds a line of the book. A later line of an account replaces an earlier one, as on the
// server; duplicate items count once.
func (a *accountState) add(p *bookLine) {
	if p.account {
		a.lines = nil // books are read accounts first, so these are earlier lines of the account itself
		a.timesInBook++
		a.figures, a.known, a.notes = p.figures, nil, nil
		// The items are already in the figures. They are only recorded, so that later lines do not
		// count them again.
		for _, one := range p.items {
			a.isNew(one)
		}
		a.lines = append(a.lines, p)
		return
	}
	a.posted = true
	a.lines = append(a.lines, p)
	for _, one := range p.items {
		if !a.isNew(one) {
			continue
		}
		switch one.kind {
		case itemNote:
			a.figures.Notes++
		case itemStatement:
			a.figures.Statements++
		case itemInstruction:
			a.figures.Instructions++
		case itemTransaction:
			if int(one.of) < len(landfall.TransactionTypes) {
				a.figures.CountTransaction(landfall.TransactionTypes[one.of], money.Amount(one.amount))
			}
			a.figures.Balance += money.Amount(one.signed)
		}
	}
}

// isNew reports whether an item is new to the account, and records it.
func (a *accountState) isNew(one lineItem) bool {
	if one.kind == itemNote {
		return a.isNewNote(one)
	}
	if a.known == nil {
		a.known = map[itemIdentity]bool{}
	}
	// A transaction is identified by its ID, whatever its type and amount.
	identity := itemIdentity{one.kind, one.id}
	added := !a.known[identity]
	a.known[identity] = true
	return added
}

// isNewNote applies the rule of the service: notes with the same text are the same, unless both
// have different creation times.
func (a *accountState) isNewNote(one lineItem) bool {
	times := a.notes[one.id]
	if times != nil && (one.at == 0 || times[one.at]) {
		return false
	}
	if a.notes == nil {
		a.notes = map[uint64]map[int64]bool{}
	}
	if times == nil {
		times = map[int64]bool{}
		a.notes[one.id] = times
	}
	times[one.at] = true
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
