package sqlstore

import (
	"encoding/json"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// storedRegister is a meter's register as stored in the database. Registers are
// never looked up on their own, so all registers of a meter are one document.
type storedRegister struct {
	ID       string          `json:"id"`
	Digits   int             `json:"digits,omitempty"`
	Readings []storedReading `json:"readings,omitempty"`
}

// storedReading stores a value as text, exactly as it was sent.
type storedReading struct {
	On    string `json:"on"`
	Type  string `json:"type"`
	Value string `json:"value"`
}

// registerText encodes the registers of a meter for their column.
func registerText(registers []landfall.Register) (string, error) {
	kept := make([]storedRegister, len(registers))
	for i, register := range registers {
		kept[i] = storedRegister{ID: register.ID, Digits: register.Digits}
		for _, reading := range register.Readings {
			kept[i].Readings = append(kept[i].Readings, storedReading{
				On: reading.On.String(), Type: reading.Type, Value: reading.Value.String(),
			})
		}
	}
	text, err := json.Marshal(kept)
	return string(text), err
}

// readRegisters decodes what registerText wrote.
func readRegisters(text []byte) ([]landfall.Register, error) {
	var kept []storedRegister
	if err := json.Unmarshal(text, &kept); err != nil {
		return nil, err
	}
	var registers []landfall.Register
	for _, k := range kept {
		register := landfall.Register{ID: k.ID, Digits: k.Digits}
		for _, r := range k.Readings {
			on, err := calendar.ParseDay(r.On)
			if err != nil {
				return nil, err
			}
			value, err := money.ParseDecimal(r.Value)
			if err != nil {
				return nil, err
			}
			register.Readings = append(register.Readings, landfall.Reading{On: on, Type: r.Type, Value: value})
		}
		registers = append(registers, register)
	}
	return registers, nil
}
