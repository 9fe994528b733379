package accountview

import "landfall"

// SupplyPoint is where a product enters a place, with what it is on and what
// measures it.
type SupplyPoint struct {
	Address    int         `json:"supply_address"` // which of the supply addresses, counted from 1
	Identifier string      `json:"identifier"`
	SupplyType string      `json:"supply_type,omitempty"`
	From       Maybe       `json:"supply_start_date"`
	To         Maybe       `json:"supply_end_date"`
	Agreements []Agreement `json:"agreements"`
	Meters     []Meter     `json:"meters"`
}

// Agreement is a product and the days it holds; Until is not one of them.
type Agreement struct {
	ProductCode string `json:"product_code"`
	From        Maybe  `json:"effective_from"`
	Until       Maybe  `json:"effective_to"`
	AgreedAt    Maybe  `json:"agreed_at"`
}

// Meter is a meter with its counters.
type Meter struct {
	SerialNumber string     `json:"serial_number"`
	Installed    Maybe      `json:"installed"`
	Removed      Maybe      `json:"removed"`
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
	Date  Maybe  `json:"date"`
	Type  string `json:"type,omitempty"`
	Value string `json:"value"`
}

// supplyPoints lists the points of all places in one go: most accounts have a
// single place, and a person looks for a point by its identifier.
func supplyPoints(places []landfall.SupplyAddress) []SupplyPoint {
	points := []SupplyPoint{}
	for i, place := range places {
		for _, point := range place.SupplyPoints {
			points = append(points, SupplyPoint{
				Address: i + 1, Identifier: point.Identifier, SupplyType: point.SupplyType,
				From: day(point.StartOn), To: day(point.EndOn),
				Agreements: each(point.Agreements, agreement), Meters: each(point.Meters, meter),
			})
		}
	}
	return points
}

// agreement shows days as days: they have no zone and must not shift.
func agreement(a landfall.Agreement) Agreement {
	return Agreement{a.ProductCode, day(a.FromOn), day(a.ToOn), instant(a.AgreedAt)}
}

// meter keeps registers below the meter they are in.
func meter(m landfall.Meter) Meter {
	return Meter{m.SerialNumber, day(m.InstalledOn), day(m.RemovedOn), each(m.Registers, register)}
}

// register writes readings exactly as they were sent; a rounded one starts disputes.
func register(r landfall.Register) Register {
	return Register{r.ID, r.Digits, each(r.Readings, func(seen landfall.Reading) Reading {
		return Reading{day(seen.On), seen.Type, seen.Value.String()}
	})}
}
