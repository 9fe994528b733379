package contract

import (
	"slices"

	"landfall"
	"landfall/internal/api/rules"
)

// The functions below convert nodes that have passed validation into nouns. They
// cannot fail; missing values are zero.

func bindSupplyAddress(n *rules.Node) landfall.SupplyAddress {
	return landfall.SupplyAddress{
		Address:      bindAddress(n, &supplyAddressNames),
		SupplyPoints: bindNodes(pointsOf(n), bindSupplyPoint),
	}
}

func bindSupplyPoint(n *rules.Node) landfall.SupplyPoint {
	return landfall.SupplyPoint{
		Identifier: either(n, "identifier", "mpxn").Text(),
		SupplyType: n.Field("supply_type").Text(),
		StartOn:    n.Field("supply_start_date").Day(),
		EndOn:      n.Field("supply_end_date").Day(),
		Agreements: bindList(n.Field("agreements"), bindAgreement),
		Meters:     bindList(n.Field("meters"), bindMeter),
	}
}

func bindAgreement(n *rules.Node) landfall.Agreement {
	return landfall.Agreement{
		ProductCode: either(n, "product_code", "tariff_code").Text(),
		FromOn:      n.Field("effective_from").Day(),
		ToOn:        n.Field("effective_to").Day(),
		AgreedAt:    n.Field("agreed_at").Instant(),
	}
}

func bindMeter(n *rules.Node) landfall.Meter {
	return landfall.Meter{
		SerialNumber: either(n, "serial_number", "meter_serial_number").Text(),
		InstalledOn:  n.Field("installed_on").Day(),
		RemovedOn:    n.Field("removed_on").Day(),
		Registers:    bindRegisters(n),
	}
}

// bindRegisters returns the registers of a meter. Packs have readings beside the
// registers; each belongs to the register that it names.
func bindRegisters(n *rules.Node) []landfall.Register {
	registers := bindList(n.Field("registers"), bindRegister)
	for _, reading := range n.Field("transfer_readings").Items() {
		id := reading.Field("register_id").Text()
		at := slices.IndexFunc(registers, func(r landfall.Register) bool { return r.ID == id })
		if at < 0 {
			at = len(registers)
			registers = append(registers, landfall.Register{ID: id, Digits: int(n.Field("gas_number_of_digits").Int())})
		}
		registers[at].Readings = append(registers[at].Readings, bindReading(reading))
	}
	return registers
}

func bindRegister(n *rules.Node) landfall.Register {
	return landfall.Register{
		ID:       n.Field("register_id").Text(),
		Digits:   int(n.Field("number_of_digits").Int()),
		Readings: bindList(n.Field("transfer_readings"), bindReading),
	}
}

func bindReading(n *rules.Node) landfall.Reading {
	return landfall.Reading{
		On:    n.Field("reading_date").Day(),
		Type:  n.Field("reading_type").Text(),
		Value: n.Field("reading_value").Decimal(),
	}
}

// bindTransactions keeps the JSON of each transaction, which is echoed later and
// compared with another import of the same identifier. All of it is in one
// allocation.
func bindTransactions(items []*rules.Node) []landfall.Transaction {
	size := 0
	for _, item := range items {
		size += len(item.Raw())
	}
	documents := make([]byte, 0, size)
	return bindNodes(items, func(n *rules.Node) landfall.Transaction {
		from := len(documents)
		documents = append(documents, n.Raw()...)
		transaction := bindTransaction(n)
		transaction.Document = documents[from:len(documents):len(documents)]
		return transaction
	})
}

func bindTransaction(n *rules.Node) landfall.Transaction {
	return landfall.Transaction{
		ID:     n.Field("transaction_id").Text(),
		On:     n.Field("transaction_date").Day(),
		Amount: n.Field("amount").Amount(),
		Type:   landfall.TransactionType(n.Field("type").Text()),
		Reason: n.Field("reason").Text(),
		Note:   n.Field("note").Text(),
	}
}

// bindStatement keeps the path as sent. Code that compares paths or opens
// documents ignores a leading slash.
func bindStatement(n *rules.Node) landfall.Statement {
	return landfall.Statement{
		ID:          n.Field("statement_id").Text(),
		FromOn:      n.Field("bill_period_from_date").Day(),
		ToOn:        n.Field("bill_period_to_date").Day(),
		IssuedOn:    n.Field("issued_date").Day(),
		Number:      n.Field("number").Text(),
		GrossAmount: amountOf(n.Field("gross_amount")),
		Path:        n.Field("statement_path").Text(),
		Extra:       extraOf(n, statementTable),
	}
}

// bindNote records whether there is a body: notes without one are identified by
// their documents.
func bindNote(n *rules.Node) landfall.Note {
	return landfall.Note{
		Body:          n.Field("body").Text(),
		HasBody:       n.Field("body").Text() != "",
		DocumentPaths: bindList(n.Field("document_paths"), func(n *rules.Node) string { return n.Field("document_path").Text() }),
		CreatedAt:     n.Field("created_at").Instant(),
		Pinned:        n.Field("is_pinned").Bool(),
		UnpinAt:       n.Field("unpin_at").Instant(),
		ExternalID:    n.Field("external_id").Text(),
		Extra:         extraOf(n, noteTable),
	}
}

// bindInstruction sets no details: those come from the vendor, never from the
// caller.
func bindInstruction(n *rules.Node) landfall.Instruction {
	return landfall.Instruction{
		Vendor:       n.Field("vendor").Text(),
		Reference:    n.Field("reference").Text(),
		Type:         n.Field("type").Text(),
		ValidFromOn:  n.Field("valid_from").Day(),
		ForSchedules: n.Field("use_for_scheduled_payments").Bool(),
	}
}

func bindPaymentSchedule(n *rules.Node) landfall.PaymentSchedule {
	return landfall.PaymentSchedule{
		StartOn:    n.Field("start_date").Day(),
		EndOn:      n.Field("end_date").Day(),
		Trigger:    scheduleTrigger(n),
		Amount:     amountOf(n.Field("amount")),
		Frequency:  n.Field("frequency").Text(),
		DayOfMonth: int(n.Field("day_of_month").Int()),
		Threshold:  amountOf(n.Field("balance_threshold")),
	}
}
