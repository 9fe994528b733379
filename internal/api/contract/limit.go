package contract

import (
	"landfall"
	"landfall/internal/api/rules"
)

// The most items a list may have. The first four are the service's published
// limits; the others keep one account's document within reason and are shown
// in the field tables of the documentation.
const (
	maxCustomers    = 100
	maxNotes        = 1_000
	maxTransactions = 10_000
	maxStatements   = 10_000

	maxSupplyAddresses  = 500
	maxSupplyPoints     = 100
	maxAgreements       = 200
	maxMeters           = 100
	maxRegisters        = 50
	maxReadings         = 1_000
	maxInstructions     = 100
	maxPaymentSchedules = 100
	maxReferences       = 100
	maxConsents         = 100
	maxMetadata         = 1_000
	maxContacts         = 100
	maxDocumentPaths    = 100
	maxLineItems        = 1_000
	maxTaxItems         = 100
	maxUnits            = 100
)

// maxViolations is how many violations one answer lists, and tooMany stands
// behind them when there are more.
const maxViolations = 100

var tooManyErrors = landfall.Violation{Code: rules.CodeTooManyErrors, Detail: rules.DetailTooMany}

// The longest texts that are not plain names.
const (
	maxProse       = 20_000
	maxPathBytes   = 1_024
	maxCode        = 64
	maxExternal    = 128
	maxSupplier    = 32
	maxEmail       = 254
	maxPhone       = 32
	maxLanguageTag = 35
	maxTeamName    = 255
)
