package sqlstore

import (
	"context"
	"errors"

	"landfall"
	"landfall/internal/store/engine"
	"landfall/internal/store/sqlset"
)

// indexedAccount is an account with the data by which it is found.
type indexedAccount struct {
	id      int64
	created int64
	region  string
	data    landfall.AccountData
}

// indexedAccounts reads the data by which accounts are found, for all of them
// at once.
func (v *view) indexedAccounts(ctx context.Context, ids []int64) ([]indexedAccount, error) {
	these, list := sqlset.Among(v.engine, ids)
	batch, err := collect(ctx, v.txSession, func(scan scanner, one *indexedAccount) error {
		return scan(&one.id, &one.created, &one.region, v.sealer.scan("account", &one.id).text("billing_name", &one.data.BillingName))
	}, `SELECT a.id, p.account_created_at, s.region, a.billing_name FROM account a JOIN process p ON p.id = a.id
		JOIN supplier s ON s.id = p.supplier_id WHERE a.id`+these+` ORDER BY a.id`, list)
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]*landfall.AccountData, len(batch))
	for i := range batch {
		byID[batch[i].id] = &batch[i].data
	}
	customers, err := collect(ctx, v.txSession, func(scan scanner, one *owned[landfall.Customer]) error {
		c := &one.item
		var ordinal int64
		person := v.sealer.scan("customer", &one.id, &ordinal)
		return scan(&one.id, &ordinal, person.text("given_name", &c.GivenName), person.text("family_name", &c.FamilyName),
			person.text("email", &c.Email), person.text("mobile", &c.Mobile), person.text("landline", &c.Landline))
	}, `SELECT account_id, ordinal, given_name, family_name, email, mobile, landline FROM customer WHERE account_id`+these, list)
	for _, one := range customers {
		if data := byID[one.id]; data != nil {
			data.Customers = append(data.Customers, one.item)
		}
	}
	if err != nil {
		return nil, err
	}
	// A search does not need to know what belongs together. Each postcode and
	// each supply point becomes an address of its own, which saves reading the
	// rest.
	place := func(table, column string) func(scanner, *owned[string]) error {
		return func(scan scanner, one *owned[string]) error {
			return scan(&one.id, &one.ordinal, v.sealer.scan(table, &one.id, &one.ordinal).text(column, &one.item))
		}
	}
	postcodes, err := collect(ctx, v.txSession, place("address", "postal_code"), `SELECT account_id, ordinal, postal_code FROM address WHERE account_id`+these, list)
	if err != nil {
		return nil, err
	}
	points, err := collect(ctx, v.txSession, place("supply_point", "identifier"), `SELECT account_id, ordinal, identifier FROM supply_point WHERE account_id`+these, list)
	if err != nil {
		return nil, err
	}
	for _, one := range postcodes {
		if data := byID[one.id]; data != nil {
			data.SupplyAddresses = append(data.SupplyAddresses, landfall.SupplyAddress{Address: landfall.Address{PostalCode: one.item}})
		}
	}
	for _, one := range points {
		if data := byID[one.id]; data != nil {
			data.SupplyAddresses = append(data.SupplyAddresses,
				landfall.SupplyAddress{SupplyPoints: []landfall.SupplyPoint{{Identifier: one.item}}})
		}
	}
	return batch, nil
}

// readableAccounts is indexedAccounts without the accounts that contain a value
// that cannot be read. Those are found by their numbers only, and do not stop the
// others from being indexed.
func (s *Store) readableAccounts(ctx context.Context, ids []int64) (batch []indexedAccount, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	err = s.stream(ctx, func(v *view) (err error) {
		batch, err = v.indexedAccounts(ctx, ids)
		return err
	})
	if _, broken := errors.AsType[*engine.UnreadableError](err); !broken {
		return batch, err
	}
	if len(ids) == 1 {
		return nil, nil
	}
	half := len(ids) / 2
	if batch, err = s.readableAccounts(ctx, ids[:half]); err != nil {
		return nil, err
	}
	rest, err := s.readableAccounts(ctx, ids[half:])
	return append(batch, rest...), err
}

// termRow is one term of an account. The instant of its creation tells the account
// that was read from one that was created after an undo.
type termRow struct {
	account, created int64
	term             string
}

// termRows returns the rows of a batch in the order in which they are looked
// up.
func (s *Store) termRows(batch []indexedAccount) []termRow {
	var rows []termRow
	for i := range batch {
		one := &batch[i]
		for _, term := range s.termsOf(&one.data, one.region, s.terms.ExactOnly()) {
			// A term that a database would refuse is left out. The account is
			// found by its other terms, and the indexer does not get stuck.
			if forms := s.terms.Encode(term); len(forms) > 0 && storable(forms[0]) {
				rows = append(rows, termRow{one.id, one.created, forms[0]})
			}
		}
	}
	return rows
}
