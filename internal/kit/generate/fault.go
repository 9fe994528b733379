package generate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"landfall"
)

// Fault is a kind of mistake and the share of accounts that have it.
type Fault struct {
	Kind  string
	Share float64 // 0 to 1
}

// faultKind makes one kind of mistake in a valid account. do returns false if the account cannot
// have it.
type faultKind struct {
	meaning string
	do      func(*random, *household) bool
}

// faultKinds are typical mistakes of old systems. Those without a function are made in the line
// instead.
var faultKinds = map[string]faultKind{
	"agreements": {"two agreements of a supply point overlap", func(_ *random, h *household) bool {
		list := h.account.Supplies[0].Points[0].Agreements
		// A single agreement overlaps its own copy; of two, the first must not end.
		if len(list) < 2 {
			h.account.Supplies[0].Points[0].Agreements = append(list, list[0])
			return true
		}
		list[0].To = ""
		return true
	}},
	"balance": {"the transfer balance is not the sum of the ledger", func(d *random, h *household) bool {
		h.account.Balance = pence(d.between(100_000, 900_000)).String()
		return true
	}},
	"customer": {"the account has no customer", func(_ *random, h *household) bool {
		had := len(h.account.Customers) > 0
		h.account.Customers = []customer{}
		return had
	}},
	"email": {"an e-mail address without @", func(_ *random, h *household) bool {
		return onCustomer(h, func(c *customer) { c.Email = "unknown" })
	}},
	"field": {"a member that does not exist", func(_ *random, h *household) bool {
		h.account.MistypedMember = h.account.Type
		return true
	}},
	"future": {"a date of sale in the far future", func(_ *random, h *household) bool {
		h.account.SoldOn = "2999-12-31"
		return true
	}},
	"history": {"the history does not add up to the last balance", func(d *random, h *household) bool {
		h.account.LastBalance = pence(d.between(100_000, 900_000)).String()
		return true
	}},
	"phone": {"a phone number that cannot exist", func(d *random, h *household) bool {
		return onCustomer(h, func(c *customer) { c.Mobile = "07700 900" + d.digits(9) })
	}},
	"point": {"the same supply point twice", func(_ *random, h *household) bool {
		points := &h.account.Supplies[0].Points
		*points = append(*points, (*points)[0])
		return true
	}},
	"json":   {meaning: "a line that is cut off"},
	"number": {meaning: "the account number of the account before"},
	"lost":   {meaning: "an account that the control totals count and the book leaves out"},
	"orphan": {meaning: "a note for an account that is not in the book"},

	"shared-mandate": {meaning: "the payment instruction of an earlier account"},
	"shared-point":   {meaning: "the electricity supply point of an earlier account"},
}

// onCustomer changes the first customer, if there is one.
func onCustomer(h *household, change func(*customer)) bool {
	if len(h.account.Customers) == 0 {
		return false
	}
	change(&h.account.Customers[0])
	return true
}

// FaultKinds returns all kinds of mistakes with their meaning, sorted by name.
func FaultKinds() [][2]string {
	var list [][2]string
	for kind, s := range faultKinds {
		list = append(list, [2]string{kind, s.meaning})
	}
	slices.SortFunc(list, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return list
}

// AcrossFaultKinds are mistakes that only the rules across accounts find, which are warnings by default.
var AcrossFaultKinds = []string{"shared-mandate", "shared-point"}

// lineFaults are mistakes in the JSON of a line, which tables cannot have.
var lineFaults = []string{"field", "json"}

// CommonFaultKinds returns the kinds of mistakes that are made if none is named: those that
// the service refuses, for tables without those that only JSON can have.
func CommonFaultKinds(inTables bool) [][2]string {
	return slices.DeleteFunc(FaultKinds(), func(kind [2]string) bool {
		return slices.Contains(AcrossFaultKinds, kind[0]) || inTables && slices.Contains(lineFaults, kind[0])
	})
}

// CheckTables reports faults that tables cannot have.
func (o Options) CheckTables() error {
	for _, fault := range o.Faults {
		if fault.Share > 0 && slices.Contains(lineFaults, fault.Kind) {
			return fmt.Errorf("the fault %s only exists in JSON lines; tables cannot have it", fault.Kind)
		}
	}
	return nil
}

// checkFaults refuses unknown kinds and shares of more than 100 %.
func checkFaults(faults []Fault) error {
	sum := 0.0
	for _, fault := range faults {
		if _, known := faultKinds[fault.Kind]; !known {
			var names []string
			for _, kind := range FaultKinds() {
				names = append(names, kind[0])
			}
			return fmt.Errorf("unknown fault %q; known are %s", fault.Kind, strings.Join(names, ", "))
		}
		// Written so that NaN is refused too.
		if !(fault.Share >= 0 && fault.Share <= 1) {
			return fmt.Errorf("the share of %s is not between 0 and 100 %%", fault.Kind)
		}
		sum += fault.Share
	}
	if sum > 1 {
		return errors.New("the shares of the faults add up to more than 100 %")
	}
	return nil
}

// addFault makes at most one mistake in an account and returns its lines.
func (o Options) addFault(d *random, h *household, index int) Entry {
	kind, figures := o.chooseFault(d, h, index)
	if kind == "lost" {
		return Entry{Fault: kind, Figures: figures}
	}
	entry := o.lines(h, kind)
	entry.Fault, entry.Figures = kind, figures
	if kind == "json" {
		entry.Account = entry.Account[:len(entry.Account)-d.between(1, 40)]
	}
	return entry
}

// chooseFault makes a mistake in an account, or none, and returns its kind and the figures of the
// old system. It draws last, so that valid accounts do not depend on the faults.
func (o Options) chooseFault(d *random, h *household, index int) (string, landfall.Figures) {
	kind := o.drawFault(d)
	// This fault needs a note.
	if kind == "orphan" && len(h.notes) == 0 {
		h.notes = []note{{noteTexts[0], h.closed.String() + "T12:00:00Z", false}}
	}
	// Counted before the mistake: control totals are what the old system has.
	figures := h.figures()
	if do := faultKinds[kind].do; do != nil && !do(d, h) {
		return "", figures
	}
	switch kind {
	case "number":
		if index == 0 {
			return "", figures
		}
		h.account.External = o.accountNumber(index - 1)
	case "shared-point", "shared-mandate":
		earlier := o.faultless(index, kind == "shared-mandate")
		if earlier == nil || kind == "shared-mandate" && h.debit == "" {
			return "", figures
		}
		if kind == "shared-mandate" {
			h.debit = earlier.debit
		} else {
			h.account.Supplies[0].Points[0].Identifier = earlier.account.Supplies[0].Points[0].Identifier
		}
	}
	return kind, figures
}

// drawFault draws the kind of mistake of an account.
func (o Options) drawFault(d *random) string {
	left := 1.0
	for _, fault := range o.Faults {
		// Shares are of all accounts, so the share of the remaining ones grows.
		if left > 0 && d.share(fault.Share/left) {
			return fault.Kind
		}
		left -= fault.Share
	}
	return ""
}

// faultless returns the account without a mistake that is nearest before an index, if there is one
// near, with a direct debit if that is needed.
func (o Options) faultless(index int, withDebit bool) *household {
	for i := index - 1; i >= max(0, index-maxDistance); i-- {
		d := newRandom(o.Seed, i)
		h := o.household(d, i)
		if o.drawFault(d) == "" && (h.debit != "" || !withDebit) {
			return h
		}
	}
	return nil
}

// maxDistance limits how far apart two accounts are that share something.
const maxDistance = 100

func (o Options) lines(h *household, kind string) Entry {
	whose := envelope{o.Supplier, h.account.External}
	noted := whose
	if kind == "orphan" {
		noted.External = "Z" + h.account.External
	}
	entry := Entry{Account: o.accountLine(h)}
	if len(h.notes) > 0 {
		entry.Notes = jsonLine(notes{noted, h.notes})
	}
	if len(h.latePayments) > 0 {
		entry.Transactions = jsonLine(transactions{whose, h.latePayments})
	}
	if len(h.bills) > 0 {
		entry.Statements = jsonLine(statements{whose, h.bills})
	}
	if h.debit != "" {
		entry.Instruction = jsonLine(instruction{whose, o.Vendor, h.debit, "DIRECT_DEBIT", h.since.String(), true})
	}
	return entry
}

// accountLine returns the line of the account, with the fields of packs.
func (o Options) accountLine(h *household) []byte {
	line := jsonLine(h.account)
	if o.Schema == nil {
		return line
	}
	var filled map[string]any
	if err := json.Unmarshal(line, &filled); err != nil {
		panic(err) // it was just written
	}
	// The values of packs have a generator of their own, so that the others do not depend on packs.
	o.Schema.Fill(filled, o.AsOf, newRandom(^o.Seed, h.index).below)
	return jsonLine(filled)
}

// jsonLine encodes a body as one line, without line feed.
func jsonLine(body any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // keeps A & B readable
	if err := encoder.Encode(body); err != nil {
		panic(err) // cannot fail
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}
