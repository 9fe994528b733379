package sqlstore

import (
	"context"
	"encoding/json"

	"landfall"
	"landfall/internal/lib/money"
)

// storedClaim is one claim of control totals as the database stores it. Money is
// in minor units.
type storedClaim struct {
	Measure string `json:"measure"`
	Count   *int64 `json:"count,omitempty"`
	Amount  *int64 `json:"amount,omitempty"`
}

// claimText encodes claims as a list in one column, because they are set and
// read as a whole.
func claimText(claims map[landfall.Measure]landfall.Value) (string, error) {
	kept := make([]storedClaim, 0, len(claims))
	number := func(total *money.Total) *int64 {
		if total == nil {
			return nil
		}
		// A total can be larger than a column can store.
		clamped := total.Clamp()
		return &clamped
	}
	for measure, value := range claims {
		kept = append(kept, storedClaim{measure.String(), number(value.Count), number(value.Amount)})
	}
	text, err := json.Marshal(kept)
	return string(text), err
}

// readClaims decodes claims. It distinguishes a missing claim from a claim of
// zero.
func readClaims(text []byte) (map[landfall.Measure]landfall.Value, error) {
	var kept []storedClaim
	if err := json.Unmarshal(text, &kept); err != nil {
		return nil, err
	}
	total := func(number *int64) *money.Total {
		if number == nil {
			return nil
		}
		wide := money.TotalOf(*number)
		return &wide
	}
	claims := make(map[landfall.Measure]landfall.Value, len(kept))
	for _, claim := range kept {
		// Skip a measure of another version: the other claims can still be
		// compared.
		if measure, known := landfall.ParseMeasure(claim.Measure); known {
			claims[measure] = landfall.Value{Count: total(claim.Count), Amount: total(claim.Amount)}
		}
	}
	return claims, nil
}

// SetControlTotals stores new totals.
func (t *tx) SetControlTotals(ctx context.Context, code string, totals landfall.ControlTotals) (landfall.ControlTotals, error) {
	text, err := claimText(totals.Claims)
	if err != nil {
		return totals, err
	}
	kept, err := collect(ctx, t.txSession, func(scan scanner, at *int64) error { return scan(at) },
		`INSERT INTO control_totals (supplier_id, set_at, totals, key_id, request_id)
		SELECT id, {now}, CAST($2 AS {json}), CAST($3 AS TEXT), CAST($4 AS TEXT) FROM supplier WHERE code = $1 RETURNING set_at`,
		code, text, textArg(totals.By.KeyID), textArg(totals.By.RequestID))
	at, err := firstOf(kept, err, landfall.ErrNotFound)
	totals.SetAt = moment(at)
	return totals, err
}

// controlTotals selects the newest first. Older ones are kept because reports
// were based on them.
const controlTotals = `SELECT c.set_at, c.totals, c.key_id, c.request_id, k.organisation
	FROM control_totals c JOIN supplier s ON s.id = c.supplier_id LEFT JOIN api_key k ON k.id = c.key_id
	WHERE s.code = $1 ORDER BY c.id DESC`

// readTotals scans control totals and their author.
func readTotals(scan scanner, totals *landfall.ControlTotals) (err error) {
	var text []byte
	if err := scan(instantInto{&totals.SetAt}, &text, textInto{&totals.By.KeyID}, textInto{&totals.By.RequestID},
		textInto{&totals.By.Organisation}); err != nil {
		return err
	}
	totals.Claims, err = readClaims(text)
	return err
}

// ControlTotals returns the newest totals of a supplier.
func (v *view) ControlTotals(ctx context.Context, code string) (landfall.ControlTotals, error) {
	found, err := collect(ctx, v.txSession, readTotals, controlTotals+` LIMIT 1`, code)
	return firstOf(found, err, landfall.ErrNotFound)
}

// ControlTotalsHistory returns all totals of a supplier, newest first.
func (v *view) ControlTotalsHistory(ctx context.Context, code string) ([]landfall.ControlTotals, error) {
	return collect(ctx, v.txSession, readTotals, controlTotals, code)
}
