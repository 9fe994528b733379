package accountview

import "landfall"

// SupplyPoint is a supply point with its agreements and meters.
type SupplyPoint struct {
	Address    int         `json:"supply_address"` // number of the supply address, from 1
	Identifier string      `json:"identifier"`
	SupplyType string      `json:"supply_type,omitempty"`
	From       NullString  `json:"supply_start_date"`
	To         NullString  `json:"supply_end_date"`
	Agreements []Agreement `json:"agreements"`
	Meters     []Meter     `json:"meters"`
}

// Agreement is a product with its dates. Until is exclusive.
type Agreement struct {
	ProductCode string     `json:"product_code"`
	From        NullString `json:"effective_from"`
	Until       NullString `json:"effective_to"`
	AgreedAt    NullString `json:"agreed_at"`
}

// Meter is a meter with its registers.
type Meter struct {
	SerialNumber string     `json:"serial_number"`
	Installed    NullString `json:"installed"`
	Removed      NullString `json:"removed"`
	Registers    []Register `json:"registers"`
}

// Register is a register with its readings at the transfer.
type Register struct {
	ID       string    `json:"id"`
	Digits   int       `json:"digits,omitempty"`
	Readings []Reading `json:"readings"`
}

// Reading is a meter reading.
type Reading struct {
	Date  NullString `json:"date"`
	Type  string     `json:"type,omitempty"`
	Value string     `json:"value"`
}

func newSupplyPoints(addresses []landfall.SupplyAddress, options Options) []SupplyPoint {
	points := []SupplyPoint{}
	for i, address := range addresses {
		for _, point := range address.SupplyPoints {
			points = append(points, SupplyPoint{
				Address: i + 1, Identifier: options.number(point.Identifier), SupplyType: point.SupplyType,
				From: formatDay(point.StartOn), To: formatDay(point.EndOn),
				Agreements: convert(point.Agreements, newAgreement),
				Meters:     convert(point.Meters, func(m landfall.Meter) Meter { return newMeter(m, options) }),
			})
		}
	}
	return points
}

func newAgreement(a landfall.Agreement) Agreement {
	return Agreement{a.ProductCode, formatDay(a.FromOn), formatDay(a.ToOn), formatInstant(a.AgreedAt)}
}

func newMeter(m landfall.Meter, options Options) Meter {
	return Meter{options.number(m.SerialNumber), formatDay(m.InstalledOn), formatDay(m.RemovedOn), convert(m.Registers, func(r landfall.Register) Register {
		return newRegister(r, options)
	})}
}

// newRegister writes readings exactly as they were sent.
func newRegister(r landfall.Register, options Options) Register {
	return Register{options.mask(MaskAll)(r.ID), r.Digits, convert(r.Readings, func(reading landfall.Reading) Reading {
		return Reading{formatDay(reading.On), reading.Type, reading.Value.String()}
	})}
}
