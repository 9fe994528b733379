package accountview

import "landfall"

// SupplyPoint is where a product enters a place, with what it is on and what
// measures it.
type SupplyPoint struct {
	Address    int         `json:"supply_address"` // which of the supply addresses, counted from 1
	Identifier string      `json:"identifier"`
	SupplyType string      `json:"supply_type,omitempty"`
	From       NullString  `json:"supply_start_date"`
	To         NullString  `json:"supply_end_date"`
	Agreements []Agreement `json:"agreements"`
	Meters     []Meter     `json:"meters"`
}

// Agreement is a product and the days it holds; Until is not one of them.
type Agreement struct {
	ProductCode string     `json:"product_code"`
	From        NullString `json:"effective_from"`
	Until       NullString `json:"effective_to"`
	AgreedAt    NullString `json:"agreed_at"`
}

// Meter is a meter with its counters.
type Meter struct {
	SerialNumber string     `json:"serial_number"`
	Installed    NullString `json:"installed"`
	Removed      NullString `json:"removed"`
	Registers    []Register `json:"registers"`
}

// Register is one counter with what it showed at the transfer.
type Register struct {
	ID       string    `json:"id"`
	Digits   int       `json:"digits,omitempty"`
	Readings []Reading `json:"readings"`
}

// Reading is one look at a register.
type Reading struct {
	Date  NullString `json:"date"`
	Type  string     `json:"type,omitempty"`
	Value string     `json:"value"`
}

// newSupplyPoints lists the points of all places in one go: most accounts have a
// single place, and a person looks for a point by its identifier.
func newSupplyPoints(places []landfall.SupplyAddress) []SupplyPoint {
	points := []SupplyPoint{}
	for i, place := range places {
		for _, point := range place.SupplyPoints {
			points = append(points, SupplyPoint{
				Address: i + 1, Identifier: point.Identifier, SupplyType: point.SupplyType,
				From: formatDay(point.StartOn), To: formatDay(point.EndOn),
				Agreements: convert(point.Agreements, newAgreement), Meters: convert(point.Meters, newMeter),
			})
		}
	}
	return points
}

// newAgreement shows days as days: they have no zone and must not shift.
func newAgreement(a landfall.Agreement) Agreement {
	return Agreement{a.ProductCode, formatDay(a.FromOn), formatDay(a.ToOn), formatInstant(a.AgreedAt)}
}

// newMeter keeps registers below the meter they are in.
func newMeter(m landfall.Meter) Meter {
	return Meter{m.SerialNumber, formatDay(m.InstalledOn), formatDay(m.RemovedOn), convert(m.Registers, newRegister)}
}

// newRegister writes readings exactly as they were sent; a rounded one starts disputes.
func newRegister(r landfall.Register) Register {
	return Register{r.ID, r.Digits, convert(r.Readings, func(seen landfall.Reading) Reading {
		return Reading{formatDay(seen.On), seen.Type, seen.Value.String()}
	})}
}
