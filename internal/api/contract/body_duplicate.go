package contract

import (
	"encoding/base64"
	"encoding/json"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/api/rules"
)

// DuplicateBody is a pair of accounts that share an identifier.
var DuplicateBody = &Body[landfall.Duplicate]{
	name: "Duplicate", doc: "Two accounts that have the same supply point, payment instruction, reference or number at the same time.",
	members: []bodyMember[landfall.Duplicate]{
		stringMember("rule", "Code of the rule that the pair breaks.", func(d landfall.Duplicate) string { return acrossRules[d.Identifier.Kind] }),
		stringMember("type", "Supply type, vendor or namespace.", func(d landfall.Duplicate) string { return d.Identifier.Space }),
		stringMember("identifier_ends_with", "The last three characters of what both have.", func(d landfall.Duplicate) string { return LastThree(d.Identifier.Value) }),
		stringMember("external_account_number", "", func(d landfall.Duplicate) string { return d.First.External }),
		nullableString("platform_account_number", "null until the account is created.", func(d landfall.Duplicate) (string, bool) {
			return d.First.AccountNumber, d.First.AccountNumber != ""
		}),
		nullableString("other_import_supplier", "null if you have no access to the supplier of the other account.", func(d landfall.Duplicate) (string, bool) {
			return d.Supplier, d.Supplier != ""
		}),
		nullableString("other_external_account_number", "", func(d landfall.Duplicate) (string, bool) { return d.Second.External, d.Supplier != "" }),
		nullableString("other_platform_account_number", "", func(d landfall.Duplicate) (string, bool) {
			return d.Second.AccountNumber, d.Second.AccountNumber != ""
		}),
	},
	example: landfall.Duplicate{
		Identifier: landfall.Identifier{Kind: landfall.IdentifierSupplyPoint, Space: "ELECTRICITY", Value: "1012345678901"},
		First:      landfall.ProcessEntry{External: "EXT-0001", AccountNumber: exampleNumber}, Supplier: "NORTH", Second: landfall.ProcessEntry{External: "EXT-0002"},
	},
}

// DuplicateListBody is the list of pairs.
var DuplicateListBody = &List[landfall.Duplicate]{name: "DuplicateList", items: DuplicateBody}

// LastThree returns the end of an identifier, which is personal as a whole.
func LastThree(text string) string {
	if letters := []rune(text); len(letters) > 3 {
		return string(letters[len(letters)-3:])
	}
	return ""
}

// ReadDuplicates reads the query of the list of pairs. Without a rule it lists the
// pairs of all rules that are not off for the supplier.
func ReadDuplicates(raw string, supplier *landfall.Supplier) (landfall.DuplicateQuery, error) {
	query := ReadQuery(raw)
	wanted := landfall.DuplicateQuery{Supplier: supplier.Code, Limit: query.Int("limit", 1, maxPage)}
	if text, given := query.take("rule"); given {
		kind, known := AcrossKind(text)
		if !known {
			query.refuse("rule", rules.CodeInvalidChoice, "Must be one of: "+strings.Join(AcrossCodes(), ", ")+".")
		}
		wanted.Kinds = []landfall.IdentifierKind{kind}
	} else {
		wanted.Kinds = ActiveKinds(supplier)
	}
	if text, given := query.take("after"); given {
		var sound bool
		if wanted.After, sound = decodeDuplicateCursor(text, wanted.Kinds); !sound {
			query.refuse("after", CodeInvalidCursor, "Use the cursor from the Link header of an earlier response, with the same rule.")
		}
	}
	return wanted, query.Err()
}

// AcrossCodes returns the codes of the rules across accounts.
func AcrossCodes() (codes []string) {
	for _, kind := range landfall.IdentifierKinds {
		codes = append(codes, acrossRules[kind])
	}
	return codes
}

// ActiveKinds returns the kinds of identifiers whose rules are not off for a
// supplier.
func ActiveKinds(supplier *landfall.Supplier) (kinds []landfall.IdentifierKind) {
	for _, kind := range landfall.IdentifierKinds {
		if _, severity := AcrossRule(kind, supplier); severity != asOff {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// duplicateCursor is the wire form of a position, with the filter it belongs to.
type duplicateCursor struct {
	landfall.DuplicateCursor
	Kinds []landfall.IdentifierKind
}

// EncodeDuplicateCursor encodes a position for a URL.
func EncodeDuplicateCursor(at landfall.DuplicateCursor, kinds []landfall.IdentifierKind) string {
	text, err := json.Marshal(duplicateCursor{at, kinds}) //nolint:musttag // only decodeDuplicateCursor reads it
	if err != nil {
		panic(err) // it can always be written
	}
	return base64.RawURLEncoding.EncodeToString(text) + "." + strconv.FormatUint(uint64(crc32.ChecksumIEEE(text)), 36)
}

func decodeDuplicateCursor(text string, kinds []landfall.IdentifierKind) (*landfall.DuplicateCursor, bool) {
	encoded, _, _ := strings.Cut(text, ".")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	var cursor duplicateCursor
	if err != nil || json.Unmarshal(raw, &cursor) != nil || !slices.Equal(cursor.Kinds, kinds) { //nolint:musttag // see EncodeDuplicateCursor
		return nil, false
	}
	return &cursor.DuplicateCursor, EncodeDuplicateCursor(cursor.DuplicateCursor, cursor.Kinds) == text
}
