package answer_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"pgregory.net/rapid"

	"landfall"
	"landfall/internal/api/answer"
)

// addition is a kind of item that can be posted to accounts.
type addition struct {
	name   string
	kind   landfall.PostingKind
	verb   *answer.Verb
	things map[string]map[string]any
	list   string // the list that contains the item; "" if the body is the item
	counts func(name string, figures *landfall.Figures)
}

var additions = []*addition{
	{"note", landfall.PostingNotes, answer.Notes, notesSent, "notes", func(_ string, f *landfall.Figures) { f.Notes++ }},
	{"transaction", landfall.PostingTransactions, answer.Transactions, transactionsSent, "transactions", moves},
	{"statement", landfall.PostingStatements, answer.Statements, statementsSent, "statements", func(_ string, f *landfall.Figures) { f.Statements++ }},
	{"instruction", landfall.PostingInstruction, answer.Instruction, instructionsSent, "", func(_ string, f *landfall.Figures) { f.Instructions++ }},
}

func (m *model) post(r *rapid.T) {
	kind := rapid.SampledFrom(additions).Draw(r, "kind")
	m.postOn(r, kind, m.somebody(r), rapid.SampledFrom(slices.Sorted(maps.Keys(kind.things))).Draw(r, "thing"),
		rapid.SampledFrom([]string{ownDelivery, ownDelivery, "other"}).Draw(r, "delivery"))
}

// postOn posts one item to an account. An item that exists already is accepted
// and changes nothing. A refused posting to an account is on record until one of
// its kind is accepted.
func (m *model) postOn(r failer, kind *addition, external, name, delivery string) {
	known := m.processes[external]
	envelope := maps.Clone(kind.things[name])
	if kind.list != "" {
		envelope = map[string]any{kind.list: []any{kind.things[name]}}
	}
	envelope["import_supplier"], envelope["external_account_number"] = m.code, external
	body, err := json.Marshal(envelope)
	if err != nil {
		r.Fatal(err)
	}
	told := m.ask(r, kind.verb, answer.Call{Body: body, Who: landfall.Principal{Delivery: delivery}})
	switch {
	case m.status == landfall.Paused:
		m.expect(r, kind.name, told, http.StatusBadRequest, landfall.CodeSupplierNotOngoing)
		if known != nil && known.account != nil {
			known.account.refused[kind.kind] = true
		}
		return
	case known == nil || known.account == nil:
		status := http.StatusBadRequest
		if kind.verb == answer.Notes {
			status = http.StatusNotFound
		}
		m.expect(r, kind.name, told, status, landfall.CodeAccountNotFound)
		return
	}
	m.expect(r, kind.name, told, http.StatusCreated, "")
	delete(known.account.refused, kind.kind)
	if thing := kind.name + " " + name; !known.account.has[thing] {
		known.account.has[thing], known.account.posted = true, known.account.posted || delivery != ownDelivery
		kind.counts(name, &known.account.figures)
	}
}
