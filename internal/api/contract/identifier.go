package contract

import (
	"landfall"
	"landfall/internal/api/rules"
)

// Codes of the rules across accounts.
const (
	CodeSupplyPointElsewhere = "supply_point_on_another_account"
	CodeInstructionElsewhere = "payment_instruction_on_another_account"
	CodeReferenceElsewhere   = "reference_on_another_account"
	CodeNumberElsewhere      = "external_account_number_under_another_supplier"
)

// acrossRules maps the kinds of identifiers to the rules that they belong to one
// account only.
var acrossRules = map[landfall.IdentifierKind]string{
	landfall.IdentifierSupplyPoint:    CodeSupplyPointElsewhere,
	landfall.IdentifierInstruction:    CodeInstructionElsewhere,
	landfall.IdentifierReference:      CodeReferenceElsewhere,
	landfall.IdentifierExternalNumber: CodeNumberElsewhere,
}

// AcrossRule returns the rule about a kind of identifiers, and its severity for a
// supplier.
func AcrossRule(kind landfall.IdentifierKind, supplier *landfall.Supplier) (code string, severity landfall.Severity) {
	code = acrossRules[kind]
	if override, set := supplier.Severities[code]; set {
		return code, override
	}
	return code, ruleIndex[code].Severity
}

// AcrossKind returns the kind of identifiers that a rule is about.
func AcrossKind(code string) (landfall.IdentifierKind, bool) {
	for kind, rule := range acrossRules {
		if rule == code {
			return kind, true
		}
	}
	return "", false
}

// Identifiers returns what should belong to this account only, one kind after the
// other. They are unique where the supplier's rule is an error. The same one is
// not returned twice.
func (a *Account) Identifiers(supplier *landfall.Supplier) []landfall.Identifier {
	root := a.document.Root()
	c := identifierCollector{supplier: supplier}
	c.begin(landfall.IdentifierSupplyPoint)
	for _, address := range root.Field("supply_addresses").Items() {
		for _, point := range pointsOf(address) {
			c.add(point.Field("supply_type").Text(), either(point, "identifier", "mpxn"), landfall.Identifier{
				FromOn: point.Field("supply_start_date").Day(), ToOn: point.Field("supply_end_date").Day(),
			})
		}
	}
	c.begin(landfall.IdentifierInstruction)
	for _, instruction := range root.Field("payment_instructions").Items() {
		c.add(instruction.Field("vendor").Text(), instruction.Field("reference"), landfall.Identifier{})
	}
	c.begin(landfall.IdentifierReference)
	for _, reference := range root.Field("references").Items() {
		c.add(reference.Field("namespace").Text(), reference.Field("value"), landfall.Identifier{})
	}
	// Nothing is stored for the number, so it is only needed where the rule is on.
	if _, severity := AcrossRule(landfall.IdentifierExternalNumber, supplier); severity != asOff {
		c.begin(landfall.IdentifierExternalNumber)
		c.add("", root.Field("external_account_number"), landfall.Identifier{})
	}
	return c.found
}

// identifierCollector collects identifiers of one kind after the other.
type identifierCollector struct {
	supplier *landfall.Supplier
	found    []landfall.Identifier
	kind     landfall.IdentifierKind
	unique   bool
	first    int // of the kind
}

func (c *identifierCollector) begin(kind landfall.IdentifierKind) {
	_, severity := AcrossRule(kind, c.supplier)
	c.kind, c.unique, c.first = kind, severity == asError, len(c.found)
}

// maxCompared limits how many identifiers of a kind are compared with each other.
// An account with more has them twice at worst.
const maxCompared = 64

func (c *identifierCollector) add(space string, value *rules.Node, one landfall.Identifier) {
	one.Kind, one.Unique, one.Space, one.Value = c.kind, c.unique, space, value.Text()
	if one.Value == "" {
		return
	}
	for i := c.first; i < min(len(c.found), c.first+maxCompared); i++ {
		if other := &c.found[i]; other.Space == one.Space && other.Value == one.Value && other.FromOn == one.FromOn && other.ToOn == one.ToOn {
			return
		}
	}
	one.Attr = value.Attr()
	c.found = append(c.found, one)
}

// UniqueInstruction returns what a payment instruction is found by, if the
// supplier's rule about it is an error.
func UniqueInstruction(supplier *landfall.Supplier, instruction landfall.Instruction) []landfall.Identifier {
	if _, severity := AcrossRule(landfall.IdentifierInstruction, supplier); severity != asError {
		return nil
	}
	one := InstructionIdentifier(instruction)
	one.Unique = true
	return []landfall.Identifier{one}
}

// InstructionIdentifier returns what a payment instruction that is posted is found
// by.
func InstructionIdentifier(instruction landfall.Instruction) landfall.Identifier {
	return landfall.Identifier{Kind: landfall.IdentifierInstruction, Space: instruction.Vendor, Value: instruction.Reference, Attr: "reference"}
}
