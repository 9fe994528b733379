package sqlstore

import (
	"context"
	"encoding/json"

	"landfall"
	"landfall/internal/lib/money"
)

// storedClaim is one claim of control totals as the database stores it. Sums of
// money are texts, because they may be larger than an integer column.
type storedClaim struct {
	Measure string  `json:"measure"`
	Count   *int64  `json:"count,omitempty"`
	Amount  *string `json:"amount,omitempty"`
}

// claimText encodes claims as a list in one column, because they are set and
// read as a whole.
func claimText(claims map[landfall.Measure]landfall.Value) (string, error) {
	kept := make([]storedClaim, 0, len(claims))
	for measure, value := range claims {
		claim := storedClaim{Measure: measure.String()}
		if value.Count != nil {
			count := value.Count.Clamp()
			claim.Count = &count
		}
		if value.Amount != nil {
			amount := value.Amount.String()
			claim.Amount = &amount
		}
		kept = append(kept, claim)
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
	claims := make(map[landfall.Measure]landfall.Value, len(kept))
	for _, claim := range kept {
		// Skip a measure of another version: the other claims can still be
		// compared.
		measure, known := landfall.ParseMeasure(claim.Measure)
		if !known {
			continue
		}
		var value landfall.Value
		if claim.Count != nil {
			count := money.TotalOf(*claim.Count)
			value.Count = &count
		}
		if claim.Amount != nil {
			amount, err := money.ParseTotal(*claim.Amount)
			if err != nil {
				return nil, err
			}
			value.Amount = &amount
		}
		claims[measure] = value
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
		`INSERT INTO control_totals (supplier_id, set_at, totals, key_id, request_id, operator)
		SELECT id, {now}, CAST($2 AS {json}), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT) FROM supplier WHERE code = $1 RETURNING set_at`,
		code, text, textArg(totals.By.KeyID), textArg(totals.By.RequestID), textArg(totals.By.Operator))
	at, err := firstOf(kept, err, landfall.ErrNotFound)
	totals.SetAt = moment(at)
	return totals, err
}

// controlTotals selects the newest first. Older ones are kept because reports
// were based on them.
const controlTotals = `SELECT c.set_at, c.totals, c.key_id, c.request_id, c.operator, k.organisation
	FROM control_totals c JOIN supplier s ON s.id = c.supplier_id LEFT JOIN api_key k ON k.id = c.key_id
	WHERE s.code = $1 ORDER BY c.id DESC`

// readTotals scans control totals and their author.
func readTotals(scan scanner, totals *landfall.ControlTotals) (err error) {
	var text []byte
	if err := scan(instantInto{&totals.SetAt}, &text, textInto{&totals.By.KeyID}, textInto{&totals.By.RequestID}, textInto{&totals.By.Operator},
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

// ControlTotalsHistory returns the newest totals of a supplier, newest first.
func (v *view) ControlTotalsHistory(ctx context.Context, code string) ([]landfall.ControlTotals, error) {
	return collect(ctx, v.txSession, readTotals, controlTotals+` LIMIT $2`, code, int64(landfall.MaxTotalsHistory))
}
