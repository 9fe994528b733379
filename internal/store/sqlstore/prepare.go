package sqlstore

import "landfall"

// preparedCreation is a creation whose rows are complete except for the values
// that only the transaction knows. Each caller prepares its own rows, so the
// shared writer has little more to do than run the statements.
type preparedCreation struct {
	*landfall.Creation
	rows   *accountRows
	has    landfall.Figures // the account's totals
	unique []digestedIdentifier
}

// placeholder marks a value in a prepared row that is not known yet.
type placeholder uint8

const (
	processPlaceholder placeholder = iota // the account's key
	numberPlaceholder
)

// offsetFromNow is a placeholder for the time of the creation plus so many
// microseconds.
type offsetFromNow int64

func (s *Store) prepareCreation(creation *landfall.Creation) (*preparedCreation, error) {
	p := &preparedCreation{
		Creation: creation, rows: newAccountRows(s.sealer), has: accountFigures(&creation.Account), unique: s.sealer.digestIdentifiers(creation.Unique),
	}
	return p, p.rows.account(creation)
}

// reserve reserves space for the rows of prepared accounts.
func (r *accountRows) reserve(batch []*createCall) {
	for i, into := range r.parts() {
		count := 0
		for _, one := range batch {
			count += len(one.Wanted.rows.parts()[i].Values)
		}
		into.Grow(count / into.Width())
	}
}

// fill adds the rows of a prepared account and replaces the placeholders.
func (r *accountRows) fill(p *preparedCreation, process, at int64, number string) {
	var key, name any = process, number
	into := r.parts()
	for i, part := range p.rows.parts() {
		rows := into[i].Values
		for _, value := range part.Values {
			switch gap := value.(type) {
			case placeholder:
				if value = key; gap == numberPlaceholder {
					value = name
				}
			case offsetFromNow:
				value = at + int64(gap)
			}
			rows = append(rows, value)
		}
		into[i].Values = rows
	}
}
