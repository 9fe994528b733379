package sqlstore

import (
	"encoding/json"
	"strings"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
	"landfall/internal/store/sqlset"
)

// accountRows collects the rows of accounts that are about to be written.
// Creating accounts and posting to them write the same rows with the same
// functions.
type accountRows struct {
	accounts, customers, addresses, points, agreements, meters, periods sqlset.Rows
	entries, notes, statements, instructions, schedules, mails, events  sqlset.Rows
	deliveries, identifiers, updates                                    sqlset.Rows
	tallies                                                             tallies
	audit                                                               landfall.AuditBatch
	sealer                                                              *sealer // computes the digests that notes are looked up by
}

// newAccountRows returns an empty accountRows. It collects the rows of many
// accounts, so that each table is written once regardless of their number.
func newAccountRows(seals *sealer) *accountRows {
	return &accountRows{
		sealer:       seals,
		accounts:     sqlset.Rows{Table: accountTable},
		customers:    sqlset.Rows{Table: customerTable},
		addresses:    sqlset.Rows{Table: addressTable},
		points:       sqlset.Rows{Table: pointTable},
		agreements:   sqlset.Rows{Table: agreementTable},
		meters:       sqlset.Rows{Table: meterTable},
		periods:      sqlset.Rows{Table: periodTable},
		entries:      sqlset.Rows{Table: entryTable},
		notes:        sqlset.Rows{Table: noteTable},
		statements:   sqlset.Rows{Table: statementTable},
		instructions: sqlset.Rows{Table: instructionTable},
		schedules:    sqlset.Rows{Table: scheduleTable},
		mails:        sqlset.Rows{Table: mailTable},
		events:       sqlset.Rows{Table: eventTable},
		identifiers:  sqlset.Rows{Table: identifierTable},
		deliveries:   sqlset.Rows{Table: targetDeliveryTable},
		updates:      sqlset.Rows{Table: accountUpdateTable},
	}
}

func (r *accountRows) parts() [14]*sqlset.Rows {
	return [...]*sqlset.Rows{
		&r.accounts, &r.customers, &r.addresses, &r.points, &r.agreements, &r.meters, &r.periods,
		&r.entries, &r.notes, &r.statements, &r.instructions, &r.schedules, &r.mails, &r.events,
	}
}

// withoutEvents returns the rows of the accounts themselves, without their
// events.
func (r *accountRows) withoutEvents() []*sqlset.Rows {
	parts := r.parts()
	return parts[:len(parts)-1]
}

// all returns everything to write for these accounts in one go.
func (r *accountRows) all() []*sqlset.Rows {
	parts := r.parts()
	sums, deviations := r.tallies.rows()
	return append(parts[:], &r.deliveries, sums, deviations, &r.identifiers, auditRows(&r.audit), &r.updates) // updates come last because the number of changed rows is checked
}

var (
	accountTable = newTable("account", "id bigint", "revision bigint", "team text", "account_type text", "currency text",
		"billing_name text", "last_billed_to_on text", "last_statement_closing_on text", "last_statement_issued_on text",
		"next_bill_due_on text", "last_statement_balance bigint", "transfer_balance bigint", "open_from_on text",
		"balance bigint", "ledger_length bigint", "note_count bigint", "statement_count bigint", "instruction_count bigint",
		"run text", "packs text")
	customerTable = newTable("customer", "account_id bigint", "ordinal bigint", "given_name text", "family_name text",
		"title text", "email text", "mobile text", "landline text", "born_on text", "role text")
	addressTable = newTable("address", "account_id bigint", "ordinal bigint", "lines json", "locality text",
		"postal_code text", "country text")
	pointTable = newTable("supply_point", "account_id bigint", "ordinal bigint", "address bigint", "identifier text",
		"supply_type text", "start_on text", "end_on text")
	agreementTable = newTable("agreement", "account_id bigint", "supply_point bigint", "ordinal bigint",
		"product_code text", "from_on text", "to_on text", "agreed_at bigint")
	meterTable = newTable("meter", "account_id bigint", "supply_point bigint", "ordinal bigint", "serial_number text",
		"installed_on text", "removed_on text", "registers json")
	periodTable = newTable("statement_period", "account_id bigint", "ordinal bigint", "from_on text", "to_on text",
		"balance bigint")
	entryTable = newTable("ledger_entry", "account_id bigint", "transaction_id text", "sequence bigint", "kind text",
		"closed boolean", "signed bigint", "balance bigint", "type text", "entered_on text", "original_on text",
		"reason text", "note text", "document json", "key_id text", "request_id text", "delivery text")
	noteTable = newTable("note", "account_id bigint", "digest bigint", "ordinal bigint", "body text",
		"document_paths json", "created_at bigint", "pinned boolean", "unpin_at bigint", "extra json", "key_id text", "request_id text", "delivery text")
	statementTable = newTable("historical_statement", "account_id bigint", "statement_id text", "ordinal bigint",
		"from_on text", "to_on text", "issued_on text", "number text", "gross_amount bigint", "sent_amount bigint", "path text",
		"extra json", "key_id text", "request_id text", "delivery text")
	instructionTable = newTable("instruction", "account_id bigint", "ordinal bigint", "vendor text", "reference text",
		"type text", "valid_from_on text", "for_schedules boolean", "status text", "scheme text", "last_digits text", "expiry text",
		"key_id text", "request_id text", "delivery text")
	scheduleTable = newTable("payment_schedule", "account_id bigint", "ordinal bigint", "start_on text", "end_on text",
		"trigger_type text", "amount bigint", "frequency text", "day_of_month bigint", "threshold bigint")
	// A mail that was sent, refused or withdrawn before an undo stays
	// unchanged.
	mailTable = newTable("mail", "account_id bigint", "supplier text", "kind text", "recipient text", "language text",
		"queued_at bigint", "due_at bigint").SkipExisting("account_id, kind, recipient")
	eventTable = newTable("event", "type text", "supplier text", "external text", "account_number text", "at bigint",
		"details json", "key_id text", "request_id text")
)

// account adds all rows of one created account.
func (r *accountRows) account(creation *landfall.Creation) error {
	// The key and the number of the account are not known until its process is
	// imported. The rows are prepared before that, with placeholders for both.
	const id = processPlaceholder
	account := &creation.Account
	data := &account.Data
	var openFrom calendar.Day
	r.periods.Grow(len(account.Periods))
	for i, period := range account.Periods {
		// The account row stores the start of its open period, because a
		// posting locks and reads that row anyway and then needs no other.
		if period.Open() {
			openFrom = period.FromOn
		}
		r.periods.Add(id, int64(i+1), dayArg(period.FromOn), dayArg(period.ToOn), int64(period.Balance))
	}
	r.accounts.Grow(1)
	r.accounts.Add(id, int64(creation.Claim.Revision), creation.Claim.Team, data.AccountType, data.Currency, data.BillingName,
		dayArg(data.LastBilledToOn), dayArg(data.LastStatementClosingOn), dayArg(data.LastStatementIssuedOn), dayArg(data.NextBillDueOn),
		amountArg(data.LastStatementBalance), amountArg(data.TransferBalance), openFrom.String(),
		int64(account.Balance), int64(len(account.Ledger)),
		// The lengths of the lists are stored for the same reason: a posting
		// can continue the numbering without counting.
		int64(len(data.Notes)), int64(len(data.Statements)), int64(len(data.Instructions)), textArg(creation.Run), strings.Join(account.Packs, " "))
	r.customers.Grow(len(data.Customers))
	for i := range data.Customers {
		c := &data.Customers[i]
		r.customers.Add(id, int64(i+1), c.GivenName, c.FamilyName, c.Title, c.Email, c.Mobile, c.Landline, dayArg(c.BornOn), c.Role)
	}
	if err := r.supply(id, data); err != nil {
		return err
	}
	for i := range data.PaymentSchedules {
		s := &data.PaymentSchedules[i]
		r.schedules.Add(id, int64(i+1), dayArg(s.StartOn), dayArg(s.EndOn), s.Trigger, amountArg(s.Amount), s.Frequency,
			int64(s.DayOfMonth), amountArg(s.Threshold))
	}
	for _, mail := range creation.Mails {
		r.mails.Add(id, creation.Claim.Key.Supplier, string(mail.Kind), mail.To, mail.Language, offsetFromNow(0), offsetFromNow(mail.Delay.Microseconds()))
	}
	// The rows name no author: all of them were written by the author of the
	// import.
	r.ledger(id, account.Ledger, rowAuthor{})
	if err := r.note(id, 0, offsetFromNow(0), data.Notes, rowAuthor{}); err != nil {
		return err
	}
	r.statement(id, 0, data.Statements, rowAuthor{})
	r.instruction(id, 0, data.Instructions, rowAuthor{})
	return r.eventOf(offsetFromNow(0), numberPlaceholder, landfall.Event{
		Type: landfall.EventImportCompleted, Key: creation.Claim.Key, By: creation.By, Details: runDetails(creation),
	})
}

// runDetails returns the event details that name the run of a creation, if any.
func runDetails(creation *landfall.Creation) map[string]string {
	if creation.Run == "" {
		return nil
	}
	return map[string]string{"run": creation.Run}
}

// supply adds the addresses and their supply points. The billing address has
// number 0; supply points are numbered across the whole account.
func (r *accountRows) supply(id any, data *landfall.AccountData) error {
	billing := &data.BillingAddress
	if len(billing.Lines) > 0 || billing.Locality != "" || billing.PostalCode != "" || billing.Country != "" {
		if err := r.address(id, 0, billing); err != nil {
			return err
		}
	}
	// Agreements and meters refer to their supply point by this number alone,
	// so it must not restart with the next address.
	point := int64(0)
	for i := range data.SupplyAddresses {
		place := &data.SupplyAddresses[i]
		if err := r.address(id, int64(i+1), &place.Address); err != nil {
			return err
		}
		for j := range place.SupplyPoints {
			p := &place.SupplyPoints[j]
			point++
			r.points.Add(id, point, int64(i+1), p.Identifier, p.SupplyType, dayArg(p.StartOn), dayArg(p.EndOn))
			for k := range p.Agreements {
				a := &p.Agreements[k]
				r.agreements.Add(id, point, int64(k+1), a.ProductCode, dayArg(a.FromOn), dayArg(a.ToOn), instantArg(a.AgreedAt))
			}
			for k := range p.Meters {
				m := &p.Meters[k]
				registers, err := registerText(m.Registers)
				if err != nil {
					return err
				}
				r.meters.Add(id, point, int64(k+1), m.SerialNumber, dayArg(m.InstalledOn), dayArg(m.RemovedOn), registers)
			}
		}
	}
	return nil
}

// address stores the lines as a list, because their number is significant.
func (r *accountRows) address(id any, ordinal int64, address *landfall.Address) error {
	lines, err := json.Marshal(address.Lines)
	if err != nil {
		return err
	}
	r.addresses.Add(id, ordinal, string(lines), address.Locality, address.PostalCode, address.Country)
	return nil
}

// rowAuthor says who posted a row, in which request and with which delivery. All
// of it is nil for rows that came with the account.
type rowAuthor struct{ keyID, requestID, delivery any }

// postedBy is the rowAuthor of a posting.
func postedBy(by landfall.Author) rowAuthor {
	return rowAuthor{textArg(by.KeyID), textArg(by.RequestID), by.Delivery}
}

// ledger adds ledger entries, each with the document that was sent for it.
func (r *accountRows) ledger(id any, entries []landfall.LedgerEntry, by rowAuthor) {
	r.entries.Grow(len(entries))
	for i := range entries {
		e := &entries[i]
		var document any
		if e.Transaction.Document != nil {
			document = string(e.Transaction.Document)
		}
		r.entries.Add(id, e.Transaction.ID, int64(e.Sequence), string(e.Kind), e.Closed, int64(e.Signed), int64(e.Balance),
			string(e.Transaction.Type), e.Transaction.On.String(), dayArg(e.Transaction.OriginalOn),
			e.Transaction.Reason, e.Transaction.Note, document, by.keyID, by.requestID, by.delivery)
	}
}

// statement adds statements, numbered after the existing ones.
func (r *accountRows) statement(id any, last int64, statements []landfall.Statement, by rowAuthor) {
	r.statements.Grow(len(statements))
	for i := range statements {
		s := &statements[i]
		r.statements.Add(id, s.ID, last+int64(i+1), dayArg(s.FromOn), dayArg(s.ToOn), dayArg(s.IssuedOn), s.Number, amountArg(s.GrossAmount), amountArg(s.SentAmount), s.Path,
			textArg(s.Extra), by.keyID, by.requestID, by.delivery)
	}
}

// instruction adds payment instructions, numbered after the existing ones.
func (r *accountRows) instruction(id any, last int64, instructions []landfall.Instruction, by rowAuthor) {
	for i := range instructions {
		n := &instructions[i]
		r.instructions.Add(id, last+int64(i+1), n.Vendor, n.Reference, n.Type, dayArg(n.ValidFromOn), n.ForSchedules,
			n.Details.Status, n.Details.Scheme, n.Details.LastDigits, n.Details.Expiry, by.keyID, by.requestID, by.delivery)
	}
}

// event adds an event with the account number that the event names, if any.
func (r *accountRows) event(at int64, event landfall.Event) error {
	return r.eventOf(at, event.AccountNumber, event)
}

// eventOf is like event for an account whose number may not be known yet.
func (r *accountRows) eventOf(at, number any, event landfall.Event) error {
	details, err := json.Marshal(event.Details)
	if err != nil {
		return err
	}
	r.events.Add(string(event.Type), event.Key.Supplier, event.Key.External, number, at, string(details),
		textArg(event.By.KeyID), textArg(event.By.RequestID))
	return nil
}

// dayArg returns a day as the databases store it; the zero day is NULL.
func dayArg(on calendar.Day) any {
	if on.IsZero() {
		return nil
	}
	return on.String()
}

// textArg returns a string as the databases store it; the empty string is NULL.
func textArg(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// instantArg returns an instant as the databases store it. The zero time is
// NULL and not the year 1.
func instantArg(when time.Time) any {
	if when.IsZero() {
		return nil
	}
	return when.UnixMicro()
}

// amountArg returns an amount in thousandths, because the databases have
// no decimal type that both read alike; nil is NULL.
func amountArg(of *money.Amount) any {
	if of == nil {
		return nil
	}
	return int64(*of)
}
