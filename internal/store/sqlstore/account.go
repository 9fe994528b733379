package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"landfall"
)

// Account returns the account of a process with everything in it.
func (v *view) Account(ctx context.Context, key landfall.Key) (landfall.Account, error) {
	return v.account(ctx, `s.code = $1 AND p.external = $2`, key.Supplier, key.External)
}

// AccountFigures returns the counts and the balance of the account of a
// process. They are stored in the account row, so nothing is counted here.
func (v *view) AccountFigures(ctx context.Context, key landfall.Key) (landfall.AccountFigures, error) {
	var figures landfall.AccountFigures
	err := v.one(ctx, `SELECT p.account_created_at, a.currency, a.balance, a.ledger_length, a.note_count, a.statement_count
		FROM account a JOIN process p ON p.id = a.id JOIN supplier s ON s.id = p.supplier_id
		WHERE s.code = $1 AND p.external = $2`, []any{key.Supplier, key.External}, []any{
		instantInto{&figures.CreatedAt}, &figures.Currency, &figures.Balance, &figures.LedgerEntries, &figures.Notes, &figures.Statements,
	})
	return figures, err
}

// AccountByNumber returns the account with a number.
func (v *view) AccountByNumber(ctx context.Context, number string) (landfall.Account, error) {
	return v.account(ctx, `p.number = $1 AND p.state = 'imported'`, number)
}

// account reads all parts in the snapshot of its view, so that they are
// consistent. The condition is always one from this package; values from
// callers are passed as parameters.
func (v *view) account(ctx context.Context, which string, args ...any) (landfall.Account, error) {
	account, id, err := v.accountHead(ctx, which, args...)
	if err != nil {
		return landfall.Account{}, err
	}
	for _, load := range []func(context.Context, int64, *landfall.Account) error{v.loadCustomers, v.loadAddresses, v.loadLists} {
		if err := load(ctx, id, &account); err != nil {
			return landfall.Account{}, err
		}
	}
	return account, nil
}

// accountHead reads an account without its lists.
func (v *view) accountHead(ctx context.Context, which string, args ...any) (account landfall.Account, id int64, err error) {
	data := &account.Data
	var packs string
	err = v.one(ctx, `SELECT a.id, s.code, p.external, p.account_number, p.account_created_at, a.revision, a.team,
			a.account_type, a.currency, a.billing_name, a.last_billed_to_on, a.last_statement_closing_on,
			a.last_statement_issued_on, a.next_bill_due_on, a.last_statement_balance, a.transfer_balance, a.balance, a.packs
		FROM account a JOIN process p ON p.id = a.id JOIN supplier s ON s.id = p.supplier_id WHERE `+which, args,
		[]any{
			&id, &account.Key.Supplier, &account.Key.External, &account.Number, instantInto{&account.CreatedAt},
			&account.Revision, &account.Team, &data.AccountType, &data.Currency,
			v.sealer.scan("account", &id).text("billing_name", &data.BillingName),
			dayInto{&data.LastBilledToOn}, dayInto{&data.LastStatementClosingOn}, dayInto{&data.LastStatementIssuedOn},
			dayInto{&data.NextBillDueOn}, &data.LastStatementBalance, &data.TransferBalance, &account.Balance, &packs,
		})
	data.Key = account.Key
	if packs != "" {
		account.Packs = strings.Fields(packs)
	}
	return account, id, err
}

// loadCustomers reads the customers of an account and its payment schedules.
func (v *view) loadCustomers(ctx context.Context, id int64, account *landfall.Account) (err error) {
	data := &account.Data
	data.Customers, err = collect(ctx, v.txSession, func(scan scanner, c *landfall.Customer) error {
		var ordinal int64
		person := v.sealer.scan("customer", id, &ordinal)
		return scan(&ordinal, person.text("given_name", &c.GivenName), person.text("family_name", &c.FamilyName), person.text("title", &c.Title),
			person.text("email", &c.Email), person.text("mobile", &c.Mobile), person.text("landline", &c.Landline),
			person.day("born_on", &c.BornOn), &c.Role)
	}, `SELECT ordinal, given_name, family_name, title, email, mobile, landline, born_on, role
		FROM customer WHERE account_id = $1 ORDER BY ordinal`, id)
	if err != nil {
		return err
	}
	data.PaymentSchedules, err = collect(ctx, v.txSession, func(scan scanner, s *landfall.PaymentSchedule) error {
		return scan(dayInto{&s.StartOn}, dayInto{&s.EndOn}, &s.Trigger, &s.Amount, &s.Frequency, &s.DayOfMonth, &s.Threshold)
	}, `SELECT start_on, end_on, trigger_type, amount, frequency, day_of_month, threshold
		FROM payment_schedule WHERE account_id = $1 ORDER BY ordinal`, id)
	return err
}

// loadAddresses reads the addresses and their supply points.
func (v *view) loadAddresses(ctx context.Context, id int64, account *landfall.Account) error {
	data := &account.Data
	addresses, err := collect(ctx, v.txSession, func(scan scanner, a *owned[landfall.Address]) error {
		var lines []byte
		place := v.sealer.scan("address", id, &a.id)
		if err := scan(&a.id, place.json("lines", &lines), place.text("locality", &a.item.Locality),
			place.text("postal_code", &a.item.PostalCode), place.text("country", &a.item.Country)); err != nil {
			return err
		}
		return json.Unmarshal(lines, &a.item.Lines)
	}, `SELECT ordinal, lines, locality, postal_code, country FROM address WHERE account_id = $1 ORDER BY ordinal`, id)
	if err != nil {
		return err
	}
	var places []int64 // the numbers of the supply addresses
	for _, address := range addresses {
		// The billing address is stored with number 0, and has no row if none
		// was sent.
		if address.id == 0 {
			data.BillingAddress = address.item
			continue
		}
		data.SupplyAddresses, places = append(data.SupplyAddresses, landfall.SupplyAddress{Address: address.item}), append(places, address.id)
	}
	points, err := collect(ctx, v.txSession, func(scan scanner, p *owned[landfall.SupplyPoint]) error {
		return scan(&p.id, &p.ordinal, v.sealer.scan("supply_point", id, &p.ordinal).text("identifier", &p.item.Identifier),
			&p.item.SupplyType, dayInto{&p.item.StartOn}, dayInto{&p.item.EndOn})
	}, `SELECT address, ordinal, identifier, supply_type, start_on, end_on FROM supply_point WHERE account_id = $1 ORDER BY ordinal`, id)
	if err != nil {
		return err
	}
	if err := v.loadSupplyPoints(ctx, id, points); err != nil {
		return err
	}
	for _, point := range points {
		at, found := slices.BinarySearch(places, point.id)
		if !found {
			return fmt.Errorf("supply point %d is at supply address %d, which does not exist", point.ordinal, point.id)
		}
		place := &data.SupplyAddresses[at]
		place.SupplyPoints = append(place.SupplyPoints, point.item)
	}
	return nil
}

// loadSupplyPoints reads the agreements and meters of the supply points, which
// must be in the order of their numbers.
func (v *view) loadSupplyPoints(ctx context.Context, id int64, points []owned[landfall.SupplyPoint]) error {
	agreements, err := collect(ctx, v.txSession, func(scan scanner, a *owned[landfall.Agreement]) error {
		return scan(&a.id, &a.item.ProductCode, dayInto{&a.item.FromOn}, dayInto{&a.item.ToOn}, instantInto{&a.item.AgreedAt})
	}, `SELECT supply_point, product_code, from_on, to_on, agreed_at
		FROM agreement WHERE account_id = $1 ORDER BY supply_point, ordinal`, id)
	if err != nil {
		return err
	}
	for _, agreement := range agreements {
		point, err := pointOf(points, agreement.id, "an agreement")
		if err != nil {
			return err
		}
		point.Agreements = append(point.Agreements, agreement.item)
	}
	meters, err := collect(ctx, v.txSession, func(scan scanner, m *owned[landfall.Meter]) error {
		var registers []byte
		device := v.sealer.scan("meter", id, &m.id, &m.ordinal)
		err := scan(&m.id, &m.ordinal, device.text("serial_number", &m.item.SerialNumber), dayInto{&m.item.InstalledOn},
			dayInto{&m.item.RemovedOn}, device.json("registers", &registers))
		if err != nil {
			return err
		}
		m.item.Registers, err = readRegisters(registers)
		return err
	}, `SELECT supply_point, ordinal, serial_number, installed_on, removed_on, registers
		FROM meter WHERE account_id = $1 ORDER BY supply_point, ordinal`, id)
	if err != nil {
		return err
	}
	for _, meter := range meters {
		point, err := pointOf(points, meter.id, "a meter")
		if err != nil {
			return err
		}
		point.Meters = append(point.Meters, meter.item)
	}
	return nil
}

// pointOf returns the supply point with a number, which a row names. Supply points
// are numbered across the whole account; the numbers do not restart at each address.
func pointOf(points []owned[landfall.SupplyPoint], number int64, of string) (*landfall.SupplyPoint, error) {
	at, found := slices.BinarySearchFunc(points, number, func(point owned[landfall.SupplyPoint], number int64) int {
		return cmp.Compare(point.ordinal, number)
	})
	if !found {
		return nil, fmt.Errorf("%s belongs to supply point %d, which does not exist", of, number)
	}
	return &points[at].item, nil
}

// loadLists reads the statement periods, the ledger, notes, statements and
// payment instructions.
func (v *view) loadLists(ctx context.Context, id int64, account *landfall.Account) (err error) {
	data := &account.Data
	if err := v.loadPeriods(ctx, id, account); err != nil {
		return err
	}
	if account.Ledger, err = readList(ctx, v, v.readEntry, entryColumns+` FROM ledger_entry`, `sequence`, id); err != nil {
		return err
	}
	if data.Notes, err = readList(ctx, v, v.readNote, noteColumns+` FROM note`, `ordinal`, id); err != nil {
		return err
	}
	if data.Statements, err = readList(ctx, v, v.readStatement, statementColumns+` FROM historical_statement`, `ordinal`, id); err != nil {
		return err
	}
	data.Instructions, err = readList(ctx, v, v.readInstruction, instructionColumns+` FROM instruction`, `ordinal`, id)
	return err
}

// loadPeriods reads the statement periods. There are at most two.
func (v *view) loadPeriods(ctx context.Context, id int64, account *landfall.Account) (err error) {
	account.Periods, err = collect(ctx, v.txSession, func(scan scanner, p *landfall.Period) error {
		return scan(dayInto{&p.FromOn}, dayInto{&p.ToOn}, &p.Balance)
	}, `SELECT from_on, to_on, balance FROM statement_period WHERE account_id = $1 ORDER BY ordinal`, id)
	return err
}

// readList reads a list of an account in its own order. It uses the same read
// functions as postings, so a posting is compared with the same values that a
// page shows.
func readList[T any](
	ctx context.Context, v *view, read func(scanner, *owned[T]) error, from, order string, id int64,
) ([]T, error) {
	return collect(ctx, v.txSession, func(scan scanner, item *T) error {
		var row owned[T]
		err := read(scan, &row)
		*item = row.item
		return err
	}, `SELECT `+from+` WHERE account_id = $1 ORDER BY `+order, id)
}
